package io.quiesce.memory;

import io.quiesce.linux.OffHeap;

/** A main class that needs java.base only: all that reports, where nobody is there to hear it. */
final class AllocatorSmoke {
  private AllocatorSmoke() {}

  public static void main(String[] arguments) {
    for (boolean hardening : new boolean[] {false, true}) {
      try (PerCpuAllocator allocator =
          PerCpuAllocator.builder().name("smoke").hardening(hardening).limit(1 << 20).build()) {
        long p = allocator.allocateRaw(100);
        allocator.freeRaw(p);
        allocator.trim();
        try {
          allocator.allocateRaw(5_000_000);
          throw new AssertionError("no limit");
        } catch (OutOfMemoryError e) {
          System.out.println("out of memory");
        }
        if (hardening) {
          long q = allocator.allocateRaw(100);
          allocator.freeRaw(q);
          OffHeap.putByte(q, (byte) 1);
          allocator.trim();
        }
        System.out.println(allocator.report());
      }
    }
    long shared = PerCpuAllocator.shared().allocateRaw(100);
    System.out.println("shared checks " + PerCpuAllocator.shared().check());
    PerCpuAllocator.shared().freeRaw(shared);
    System.out.println("smoke passed");
  }
}
