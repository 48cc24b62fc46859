package io.quiesce.memory;

import io.quiesce.internal.Beans;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * The bean of an allocator, which it holds weakly. Loaded only where {@code java.management} is
 * there and {@code -Dquiesce.jmx=off} is not.
 */
record AllocatorBean(WeakReference<PerCpuAllocator> owner) implements AllocatorMXBean {
  private static final String TYPE = "PerCpuAllocator";

  static void register(PerCpuAllocator allocator) {
    Beans.register(
        TYPE, allocator.name(), allocator, PerCpuAllocator::isClosed, AllocatorBean::new);
  }

  /** With null the bean of an allocator that was collected goes. */
  static void unregister(String name, @Nullable PerCpuAllocator allocator) {
    Beans.unregister(TYPE, name, allocator);
  }

  private AllocatorStatistics statistics() {
    PerCpuAllocator allocator = owner.get();
    return allocator == null ? AllocatorStatistics.none("") : allocator.statistics();
  }

  @Override
  public long getLimit() {
    return statistics().limit();
  }

  @Override
  public long getInUseBytes() {
    return statistics().inUseBytes();
  }

  @Override
  public long getBackedBytes() {
    return statistics().backedBytes();
  }

  @Override
  public long getCachedBytes() {
    return statistics().cachedBytes();
  }

  @Override
  public long getTransferBytes() {
    return statistics().transferBytes();
  }

  @Override
  public long getFreeInSpansBytes() {
    return statistics().freeInSpansBytes();
  }

  @Override
  public long getIdleBytes() {
    return statistics().idleBytes();
  }

  @Override
  public long getReturnedBytes() {
    return statistics().returnedBytes();
  }

  @Override
  public long getLargeBlocks() {
    return statistics().largeBlocks();
  }

  @Override
  public long getLargeBytes() {
    return statistics().largeBytes();
  }

  @Override
  public long getHugeBlocks() {
    return statistics().hugeBlocks();
  }

  @Override
  public long getHugeBytes() {
    return statistics().hugeBytes();
  }

  @Override
  public long getRefills() {
    return statistics().refills();
  }

  @Override
  public long getOverflows() {
    return statistics().overflows();
  }

  @Override
  public long getDrains() {
    return statistics().drains();
  }

  @Override
  public long getTrims() {
    return statistics().trims();
  }

  @Override
  public long getOutOfMemory() {
    return statistics().outOfMemory();
  }

  @Override
  public long getCorruptFrees() {
    return statistics().corruptFrees();
  }

  @Override
  public long getFaults() {
    return statistics().faults();
  }

  @Override
  public long getQuarantinedBytes() {
    return statistics().quarantinedBytes();
  }

  @Override
  public long trim() {
    PerCpuAllocator allocator = owner.get();
    return allocator == null || allocator.isClosed() ? 0 : allocator.trim();
  }

  @Override
  public String report() {
    PerCpuAllocator allocator = owner.get();
    return allocator == null ? "" : allocator.report();
  }
}
