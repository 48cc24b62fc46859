package io.quiesce.percpu;

import io.quiesce.linux.OffHeap;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.Serial;
import java.io.Serializable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.LongAdder;

/**
 * A counter for thousands of hot ones: a word per CPU, an add without an atomic instruction, and a
 * seventh of the memory of a contended {@link LongAdder}, whose methods it has.
 *
 * <pre>
 *   private final PerCpuCounter hits = PerCpuCounter.create();
 *   hits.increment();
 *   hits.sum();
 *
 *   counter {page, address, rest} ----> row 0: [ 17 ]   row 1: [ 4 ]   ...   8 bytes per row
 *                |
 *                +--> page: the words of 32 counters, given back when all 32 are unreachable
 * </pre>
 *
 * <h2>Algorithm</h2>
 *
 * An add is one restartable sequence on the row's word. A thread without a row adds to {@code rest}
 * atomically. The value is the sum of the words and of {@code rest}.
 *
 * <p>Nobody but its row may store to a word, so a reset does not clear words: it lowers {@code
 * rest} by what it hands out. {@link #sumThenReset()} loads {@code rest}, then the words, and
 * replaces {@code rest} by minus the sum of the words if it has not changed meanwhile. Whatever is
 * handed out is thereby taken off in the same atomic step: concurrent calls give out each addition
 * once, and an addition that a call does not see is given out by a later one.
 *
 * <p>It needs no close. A page has one registration with a {@link java.lang.ref.Cleaner} and is
 * kept alive by its counters; an add keeps its counter alive until it has returned. A page of which
 * one counter lives keeps its other 31 words too: 8 bytes each per row.
 *
 * <p>Where there are no restartable sequences it is a {@link LongAdder} inside.
 *
 * <p>Safe from any thread, virtual ones included. Order: relaxed, like {@code LongAdder}: a sum
 * that runs beside additions may miss some, and orders nothing else (P.1). Some 4 ns to add, some 1
 * ns per row to sum; see docs/percpu.md for when {@code LongAdder} is the better choice. Serialized
 * as its plain sum.
 */
public final class PerCpuCounter extends Number {
  @Serial private static final long serialVersionUID = 1;

  private static final boolean SEQUENCES = PerCpuOps.isAvailable();
  private static final int ROWS = PerCpuOps.rows();
  private static final long STRIDE = PerCpuMemory.shared().stride();
  private static final VarHandle REST;

  static {
    try {
      REST = MethodHandles.lookup().findVarHandle(PerCpuCounter.class, "rest", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** The words of several counters, because a registration for each would cost more than a word. */
  private static final class Page {
    static final int COUNTERS = 32;
    static final int BYTES = COUNTERS * Long.BYTES;

    private final long address;
    private int given;

    private Page(long address) {
      this.address = address;
    }

    static Page create() {
      RowBlock block = RowBlock.allocate(BYTES, Long.BYTES);
      Page page = new Page(block.address());
      block.ownedBy(page);
      return page;
    }
  }

  private static final Object PAGES = new Object();

  /** The page that new counters come from. Under PAGES. */
  private static Page current = new Page(0);

  static {
    current.given = Page.COUNTERS; // the first counter makes the first real one
  }

  // Exactly these three: 32 bytes with the header.
  private final transient Object home; // a Page, or a LongAdder where there are no sequences
  private final transient long address;

  @SuppressWarnings("unused") // through REST
  private transient volatile long rest;

  private PerCpuCounter(Object home, long address) {
    this.home = home;
    this.address = address;
  }

  /**
   * A counter at zero. Takes a lock and some 50 ns.
   *
   * @return a new one
   * @throws OutOfMemoryError if there is no memory for its words
   */
  public static PerCpuCounter create() {
    if (!SEQUENCES) {
      return new PerCpuCounter(new LongAdder(), 0);
    }
    synchronized (PAGES) {
      Page page = current;
      if (page.given == Page.COUNTERS) {
        page = Page.create();
        current = page;
      }
      PerCpuCounter counter =
          new PerCpuCounter(page, page.address + (long) page.given * Long.BYTES);
      page.given++; // last: what could run out of memory is behind us
      return counter;
    }
  }

  /**
   * Adds; wraps around. Some 4 ns, never waits.
   *
   * @param delta what to add
   */
  public void add(long delta) {
    if (SEQUENCES) {
      try {
        if (!PerCpuOps.add(address, STRIDE, delta)) {
          REST.getAndAdd(this, delta);
        }
      } finally {
        Reference.reachabilityFence(this); // the page, until the sequence is over; no instruction
      }
    } else {
      ((LongAdder) home).add(delta);
    }
  }

  /** Adds 1. */
  public void increment() {
    add(1);
  }

  /** Subtracts 1. */
  public void decrement() {
    add(-1);
  }

  /**
   * The value: everything added, less what resets have taken. Not a snapshot in one instant: what
   * is added meanwhile may or may not be in it.
   *
   * @return the sum
   */
  public long sum() {
    return SEQUENCES ? (long) REST.getAcquire(this) + words() : ((LongAdder) home).sum();
  }

  private long words() {
    try {
      long sum = 0;
      for (int row = 0; row < ROWS; row++) {
        sum += OffHeap.getLongOpaque(address + row * STRIDE);
      }
      return sum;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * The value, which starts from zero then. Beside additions and other calls of itself every
   * addition is in exactly one result, where sequences work; in the fallback it is as {@link
   * LongAdder#sumThenReset()}, which promises that only while nobody adds.
   *
   * @return the sum since the last reset
   */
  public long sumThenReset() {
    if (!SEQUENCES) {
      return ((LongAdder) home).sumThenReset();
    }
    while (true) {
      long before = (long) REST.getAcquire(this); // before the words: they are no older (P.6)
      long words = words();
      if (REST.compareAndSet(this, before, -words)) {
        return before + words;
      }
    }
  }

  /** Starts from zero; as {@link #sumThenReset()}. */
  public void reset() {
    long _ = sumThenReset();
  }

  /** The {@link #sum()}, in decimal. */
  @Override
  public String toString() {
    return Long.toString(sum());
  }

  /** The {@link #sum()}. */
  @Override
  public long longValue() {
    return sum();
  }

  /** The {@link #sum()}, its low 32 bits. */
  @Override
  public int intValue() {
    return (int) sum();
  }

  /** The {@link #sum()}, rounded. */
  @Override
  public float floatValue() {
    return (float) sum();
  }

  /** The {@link #sum()}, rounded. */
  @Override
  public double doubleValue() {
    return (double) sum();
  }

  /**
   * What is written in its place: addresses mean nothing elsewhere.
   *
   * @param sum at that moment
   */
  private record Value(long sum) implements Serializable {
    @Serial
    private Object readResolve() {
      PerCpuCounter counter = create();
      counter.add(sum);
      return counter;
    }
  }

  /**
   * Writes the plain sum instead.
   *
   * @return what is read as a counter again
   */
  @Serial
  private Object writeReplace() {
    return new Value(sum());
  }

  /**
   * Nothing but a forged stream has a counter itself.
   *
   * @param in the stream
   * @throws InvalidObjectException always
   */
  @Serial
  private void readObject(ObjectInputStream in) throws InvalidObjectException {
    throw new InvalidObjectException("a counter is read from its value only");
  }
}
