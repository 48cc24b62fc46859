package io.quiesce.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The C heap, watched: what is freed twice, freed with another size, or never freed shows. */
final class CountingSource implements BlockSource {
  final Map<Long, Long> live = new ConcurrentHashMap<>();
  final AtomicInteger allocated = new AtomicInteger();
  final AtomicInteger wrong = new AtomicInteger();

  /** How many more allocations succeed. */
  final AtomicInteger budget = new AtomicInteger(Integer.MAX_VALUE);

  @Override
  public long allocate(long bytes, long alignment) {
    if (budget.getAndDecrement() <= 0) {
      throw new OutOfMemoryError("expected by a test");
    }
    long address = C_HEAP.allocate(bytes, alignment);
    allocated.getAndIncrement();
    if (live.put(address, bytes) != null || address % alignment != 0) {
      wrong.getAndIncrement();
    }
    return address;
  }

  @Override
  public void free(long address, long bytes) {
    if (!Long.valueOf(bytes).equals(live.remove(address))) {
      wrong.getAndIncrement();
      return;
    }
    C_HEAP.free(address, bytes);
  }
}
