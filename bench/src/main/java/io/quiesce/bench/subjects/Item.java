package io.quiesce.bench.subjects;

/** What readers look at: one word behind one reference. */
final class Item {
  final long value;

  Item(long value) {
    this.value = value;
  }
}
