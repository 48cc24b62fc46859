package io.quiesce.rcu;

final class Tmp {
  private Tmp() {}
}
