package io.quiesce.linux;

import java.util.BitSet;
import java.util.function.IntConsumer;

/**
 * An immutable set of CPU numbers, in the kernel's list syntax: {@code "0-3,7"}.
 *
 * <p>Safe to share between threads. Numbers run from 0 to {@value #MAX_CPU}, more than any kernel
 * supports.
 */
public final class CpuSet {
  /** The highest number accepted, so that a damaged file cannot ask for gigabytes. */
  public static final int MAX_CPU = (1 << 16) - 1;

  private static final CpuSet EMPTY = new CpuSet(new BitSet());

  private final BitSet bits;

  private CpuSet(BitSet bits) {
    this.bits = bits;
  }

  /**
   * The set with no CPU.
   *
   * @return always the same object
   */
  public static CpuSet empty() {
    return EMPTY;
  }

  /**
   * A set of the given CPUs.
   *
   * @param cpus CPU numbers in any order
   * @return the set
   * @throws IllegalArgumentException for a number outside 0 to {@value #MAX_CPU}
   */
  public static CpuSet of(int... cpus) {
    BitSet bits = new BitSet();
    for (int cpu : cpus) {
      bits.set(checked(cpu));
    }
    return new CpuSet(bits);
  }

  /**
   * A set of consecutive CPUs.
   *
   * @param first lowest number
   * @param last highest number, included
   * @return the set
   * @throws IllegalArgumentException if {@code first > last} or a number is out of range
   */
  public static CpuSet range(int first, int last) {
    if (first > last) {
      throw new IllegalArgumentException(
          "the range " + first + "-" + last + " runs backwards; put the lower number first");
    }
    BitSet bits = new BitSet();
    bits.set(checked(first), checked(last) + 1);
    return new CpuSet(bits);
  }

  /**
   * Reads the kernel's list syntax.
   *
   * @param list for example {@code "0-3,7"}; blank means empty; white space around parts is allowed
   * @return the set
   * @throws IllegalArgumentException naming the part that is not understood
   */
  public static CpuSet parse(String list) {
    BitSet bits = new BitSet();
    if (list.isBlank()) {
      return EMPTY;
    }
    for (String part : list.split(",", -1)) {
      String text = part.strip();
      int dash = text.indexOf('-');
      try {
        int first = Integer.parseInt(dash < 0 ? text : text.substring(0, dash));
        int last = dash < 0 ? first : Integer.parseInt(text.substring(dash + 1));
        bits.or(range(first, last).bits);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "'" + text + "' in the CPU list '" + list.strip() + "' is not a number or a-b range",
            e);
      }
    }
    return new CpuSet(bits);
  }

  /** A set from the kernel's little-endian mask. */
  static CpuSet ofMask(byte[] mask) {
    return new CpuSet(BitSet.valueOf(mask));
  }

  /** The kernel's little-endian mask, as short as it can be. */
  byte[] toMask() {
    return bits.toByteArray();
  }

  private static int checked(int cpu) {
    if (cpu < 0 || cpu > MAX_CPU) {
      throw new IllegalArgumentException("CPU " + cpu + " is outside 0 to " + MAX_CPU);
    }
    return cpu;
  }

  /**
   * Whether a CPU is in the set.
   *
   * @param cpu any number
   * @return false for a negative one
   */
  public boolean contains(int cpu) {
    return cpu >= 0 && bits.get(cpu);
  }

  /**
   * How many CPUs the set has.
   *
   * @return 0 or more
   */
  public int size() {
    return bits.cardinality();
  }

  /**
   * Whether the set has no CPU.
   *
   * @return true when empty
   */
  public boolean isEmpty() {
    return bits.isEmpty();
  }

  /**
   * The highest CPU number.
   *
   * @return -1 for the empty set
   */
  public int highest() {
    return bits.length() - 1;
  }

  /**
   * Calls an action for each CPU, in ascending order.
   *
   * @param action receives the CPU number
   */
  public void forEach(IntConsumer action) {
    for (int cpu = bits.nextSetBit(0); cpu >= 0; cpu = bits.nextSetBit(cpu + 1)) {
      action.accept(cpu);
    }
  }

  /**
   * The CPU numbers in ascending order.
   *
   * @return a new array
   */
  public int[] toArray() {
    return bits.stream().toArray();
  }

  /**
   * The CPUs that are in both sets.
   *
   * @param other the other set
   * @return a set; this one is unchanged
   */
  public CpuSet and(CpuSet other) {
    BitSet result = (BitSet) bits.clone();
    result.and(other.bits);
    return new CpuSet(result);
  }

  /**
   * The CPUs that are in either set.
   *
   * @param other the other set
   * @return a set; this one is unchanged
   */
  public CpuSet or(CpuSet other) {
    BitSet result = (BitSet) bits.clone();
    result.or(other.bits);
    return new CpuSet(result);
  }

  /** Equal to another set of the same numbers. */
  @Override
  public boolean equals(Object other) {
    return other instanceof CpuSet set && bits.equals(set.bits);
  }

  /** Agrees with {@link #equals}. */
  @Override
  public int hashCode() {
    return bits.hashCode();
  }

  /** The kernel's list syntax, which {@link #parse} reads back. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int first = bits.nextSetBit(0); first >= 0; ) {
      int last = bits.nextClearBit(first) - 1;
      text.append(text.isEmpty() ? "" : ",").append(first);
      if (last > first) {
        text.append('-').append(last);
      }
      first = bits.nextSetBit(last + 1);
    }
    return text.toString();
  }
}
