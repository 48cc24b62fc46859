package io.quiesce.memory;

import io.quiesce.linux.LinuxException;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;

/**
 * The address space of one allocator, and a byte for each of its pages that says what lies there.
 *
 * <p>All small and large blocks are in one reserved range, so "is it ours, and of which class?" is
 * a subtraction, a comparison and one load, and no address, however wrong, makes us touch memory
 * that is not there. Reserved address space costs nothing; it is taken into use by chunks. The byte
 * table is memory that is touched only where chunks are in use.
 */
final class Region {
  /** In the table: a large block begins here. Small blocks have their class, nothing has 0. */
  static final byte LARGE = 127;

  private static final long LEAST = 64L << 20;
  private static final long MOST = 1L << 40;
  private static final long DEFAULT = 1L << 36;

  final long base;
  final long bytes;
  final long table;
  private final long tableBytes;

  private Region(long base, long bytes) {
    this.base = base;
    this.bytes = bytes;
    this.tableBytes =
        Math.ceilDiv(bytes >> SizeClasses.PAGE_SHIFT, VirtualMemory.PAGE_BYTES)
            * (long) VirtualMemory.PAGE_BYTES;
    long made;
    try {
      made = VirtualMemory.allocate(tableBytes, VirtualMemory.PAGE_BYTES);
    } catch (LinuxException e) {
      VirtualMemory.unmap(base, bytes);
      throw e;
    }
    this.table = made;
  }

  /**
   * Reserves twice what may be used, so that holes do not matter; less where the address space is
   * limited (ulimit -v).
   */
  static Region reserve(long limit) {
    long physical = VirtualMemory.physicalBytes();
    long wanted = Math.min(limit, physical > 0 ? physical : DEFAULT / 2);
    long bytes = Long.highestOneBit(Math.clamp(wanted, LEAST, MOST / 2) * 2 - 1) * 2;
    while (true) {
      try {
        return new Region(VirtualMemory.reserve(bytes, Chunk.BYTES), bytes);
      } catch (LinuxException e) {
        if (bytes <= LEAST) {
          throw outOfMemory(e, bytes);
        }
        bytes >>= 1;
      }
    }
  }

  static OutOfMemoryError outOfMemory(LinuxException e, long bytes) {
    OutOfMemoryError error =
        new OutOfMemoryError(
            "the kernel has no "
                + bytes
                + " bytes of address space for an allocator ("
                + e.getMessage()
                + "); raise ulimit -v, or close allocators that are not needed");
    error.initCause(e);
    return error;
  }

  int chunks() {
    return (int) (bytes >>> Chunk.SHIFT);
  }

  boolean contains(long address) {
    return Long.compareUnsigned(address - base, bytes) < 0;
  }

  /** What lies at an address of the region. */
  byte kind(long address) {
    return OffHeap.getByte(table + ((address - base) >>> SizeClasses.PAGE_SHIFT));
  }

  void mark(long address, int pages, byte kind) {
    OffHeap.fill(table + ((address - base) >>> SizeClasses.PAGE_SHIFT), pages, kind);
  }

  /**
   * Gives all memory back. The addresses stay ours, and those that were in use stay accessible: a
   * thread that is in the middle of zeroing or copying a block while another closes the allocator
   * must not bring the JVM down. They read as zeros.
   */
  void withdraw() {
    OffHeap.unregister(base);
    VirtualMemory.discard(table, tableBytes);
    if (!VirtualMemory.discard(base, bytes)) { // locked memory
      VirtualMemory.withdraw(base, bytes);
    }
  }

  void unmap() {
    VirtualMemory.unmap(table, tableBytes);
    VirtualMemory.unmap(base, bytes);
  }
}
