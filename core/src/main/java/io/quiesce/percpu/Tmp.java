package io.quiesce.percpu;
final class Tmp { private Tmp() {} }
