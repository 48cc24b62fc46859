package io.quiesce.memory;

/** The same contract in the hardening mode, and no false alarm. */
class HardenedAllocatorTest extends PerCpuAllocatorTest {
  /** Red zones take a larger class. */
  @Override
  int leastAtTheLimit() {
    return 700;
  }

  @Override
  AllocatorBuilder builder(String name) {
    return super.builder(name).hardening(true);
  }

  @Override
  long usable(long bytes) {
    return bytes;
  }
}
