package io.quiesce.memory;

import java.util.Objects;

/** Options of a {@link PerCpuAllocator}. Not thread-safe. */
public final class AllocatorBuilder {
  private static final long DEFAULT_CACHE_BYTES = 2L << 20;
  private static final long DEFAULT_QUARANTINE_BYTES = 16L << 20;

  String name = "allocator";
  long limit = Long.MAX_VALUE;
  long cacheBytes = DEFAULT_CACHE_BYTES;
  boolean hardening = Boolean.getBoolean("quiesce.memory.hardening");
  long quarantineBytes = DEFAULT_QUARANTINE_BYTES;

  AllocatorBuilder() {}

  /**
   * Sets the name that appears in reports.
   *
   * @param name any
   * @return this
   */
  public AllocatorBuilder name(String name) {
    this.name = Objects.requireNonNull(name);
    return this;
  }

  /**
   * Sets how many bytes the allocator may take from the kernel, caches included. At the limit it
   * empties its caches; then an allocation throws {@link OutOfMemoryError}. Default: no limit.
   *
   * @param bytes above 0; below some 100 KiB not even a block of each class fits
   * @return this
   * @throws IllegalArgumentException if it is not above 0
   */
  public AllocatorBuilder limit(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("a limit of " + bytes + " bytes; pass one above 0");
    }
    this.limit = bytes;
    return this;
  }

  /**
   * Sets how many bytes of free blocks each CPU's cache may hold. Default: 2 MiB.
   *
   * @param bytes 0 or more; 0 caches nothing
   * @return this
   * @throws IllegalArgumentException if it is negative
   */
  public AllocatorBuilder cacheBytesPerCpu(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("caches of " + bytes + " bytes; pass 0 or more");
    }
    this.cacheBytes = bytes;
    return this;
  }

  /**
   * Sets whether wrong use is looked for: blocks freed twice, written after they were freed, or
   * written beyond their ends, and wrong addresses. Each is reported with the stacks of those who
   * allocated and freed the block, as {@link MemoryFaultException} from the call that finds it, or
   * in the log if the culprit is long gone. An allocation or a free then takes microseconds instead
   * of nanoseconds, and a block some 200 bytes more; for tests, and to hunt a fault. What is found
   * and what is not: {@code docs/memory-hardening.md}.
   *
   * <p>Default: {@code -Dquiesce.memory.hardening=true} switches it on for all allocators, the
   * {@linkplain PerCpuAllocator#shared shared} one as well; else it is off.
   *
   * @param on whether to look
   * @return this
   */
  public AllocatorBuilder hardening(boolean on) {
    this.hardening = on;
    return this;
  }

  /**
   * Sets how many bytes of freed blocks the hardening mode keeps from being used again, the oldest
   * leaving first: as long as a block is there, a write to it and a second free are found. Counts
   * against the limit; at the limit, and by {@link PerCpuAllocator#trim}, it is emptied. A block
   * that is larger is not kept. Default: 16 MiB.
   *
   * @param bytes 0 or more, red zones included; 0 keeps nothing
   * @return this
   * @throws IllegalArgumentException if it is negative
   */
  public AllocatorBuilder quarantineBytes(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a quarantine of " + bytes + " bytes; pass 0 or more");
    }
    this.quarantineBytes = bytes;
    return this;
  }

  /**
   * Makes the allocator.
   *
   * @return a new allocator
   * @throws UnsupportedOperationException without native access or off Linux, naming the cure
   * @throws OutOfMemoryError if there is no address space
   */
  public PerCpuAllocator build() {
    return new PerCpuAllocator(this);
  }
}
