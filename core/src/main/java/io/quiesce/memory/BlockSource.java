package io.quiesce.memory;

import io.quiesce.linux.OffHeap;

/** Where an arena gets its blocks from, and gives them back to. Safe from any thread. */
interface BlockSource {
  /** The C heap. */
  BlockSource C_HEAP =
      new BlockSource() {
        @Override
        public long allocate(long bytes, long alignment) {
          return OffHeap.allocate(bytes, alignment);
        }

        @Override
        public void free(long address, long bytes) {
          OffHeap.free(address);
        }
      };

  /**
   * A block of zeros, aligned, of at least so many bytes.
   *
   * @throws OutOfMemoryError if there is none
   */
  long allocate(long bytes, long alignment);

  /** Takes back what {@link #allocate} returned for so many bytes; nobody uses it any more. */
  void free(long address, long bytes);
}
