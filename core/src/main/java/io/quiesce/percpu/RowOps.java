package io.quiesce.percpu;

/**
 * The operations behind {@link PerCpuOps}, which has their contracts, in two implementations that
 * give the same results: restartable sequences, and locked rows where there are none.
 */
sealed interface RowOps permits SequenceOps, LockedOps {
  int rows();

  int row();

  void fenceRow(int row);

  void fenceRows();

  boolean add(long base, long stride, long delta);

  int arrayPush(long array, long stride, long value);

  long arrayPop(long array, long stride);

  int arrayPushMany(long array, long stride, long from, int count);

  int arrayPopMany(long array, long stride, long to, int count);

  boolean listPush(long list, long stride, long node, long link);

  long listPop(long list, long stride, long link);

  long listTake(long list, long stride);

  int compareStore(int row, long v, long expected, long value);

  int compareUnequalStoreLoad(int row, long v, long unexpected, long offset, long out);

  int addAt(int row, long v, long delta);

  int dereferenceAdd(int row, long p, long offset, long delta);

  int compareStoreStore(
      int row, long v, long expected, long scratch, long scratchValue, long value);

  int compareCompareStore(int row, long v, long expected, long v2, long expected2, long value);

  int compareCopyStore(int row, long v, long expected, long to, long from, long bytes, long value);
}
