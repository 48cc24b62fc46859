package io.quiesce.rcu;

/**
 * Superclass of what is written or read so often that it must not share a cache line with anything:
 * 128 bytes, since the hardware prefetches lines in pairs. HotSpot lays out a superclass's fields
 * first.
 */
abstract class Padding {
  long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
}
