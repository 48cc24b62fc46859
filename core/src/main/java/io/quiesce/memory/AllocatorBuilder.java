package io.quiesce.memory;

import java.util.Objects;

/** Options of a {@link PerCpuAllocator}. Not thread-safe. */
public final class AllocatorBuilder {
  private static final long DEFAULT_CACHE_BYTES = 2L << 20;

  String name = "allocator";
  long limit = Long.MAX_VALUE;
  long cacheBytes = DEFAULT_CACHE_BYTES;

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
