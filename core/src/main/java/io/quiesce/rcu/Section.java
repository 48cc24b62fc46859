package io.quiesce.rcu;

import org.jspecify.annotations.Nullable;

/**
 * An open read-side critical section: while it is open, nothing that was reachable through an
 * {@link RcuRef} or a {@link Guarded} when it was read will be closed or freed.
 *
 * <p>Close sections in the reverse order of their opening, on the thread that opened them;
 * try-with-resources does both. Closing the outermost section ends all: that heals a platform
 * thread whose inner sections were lost to a {@link StackOverflowError}. A section is closed once;
 * further calls do nothing.
 *
 * <p>What cannot be healed: the stack ends at the very call of an outermost section's {@link
 * #close()}, or that of any section counted without a record (virtual threads, sleepable domains).
 * It then stays open, and its thread, or its domain, sees no grace period end any more. Do not open
 * sections in recursion without bound.
 *
 * <p>It is a token, not a lock: opening one costs a few nanoseconds and writes no shared memory.
 * Its 32 bytes are normally never allocated, since the compiler keeps them in registers.
 */
public final class Section implements AutoCloseable {
  private final Rcu rcu;
  private final Reader reader;

  /**
   * What the reader's word held before: zero means outermost, positive nested, negative a section
   * counted under a generation (see {@link SleepableCounts}).
   */
  private final long saved;

  private boolean closed;

  /** In the list of {@link Rcu#lost}. */
  @Nullable Section nextLost;

  Section(Rcu rcu, Reader reader, long saved) {
    this.rcu = rcu;
    this.reader = reader;
    this.saved = saved;
  }

  /** Ends the section. Everything it read is done before (A.2). */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      if (saved == 0) {
        reader.exit();
      } else if (saved < 0) {
        rcu.exitCounted(this, saved);
      }
    } catch (StackOverflowError overflow) {
      // Nobody will close this again, and no further call fits: field stores only.
      if (saved == 0) {
        reader.overflowed = true; // volatile, as is its load: what was read is done before the
        if (reader.overflowed) { // zero shows
          reader.ctr = 0;
        }
      } else {
        nextLost = rcu.lost;
        rcu.lost = this; // the grace period makes up for it
      }
      throw overflow;
    }
  }

  /** By the grace period, for a section whose closing overflowed the stack; returns the next. */
  @Nullable Section closeLost() {
    rcu.exitCounted(this, saved);
    return nextLost;
  }

  /**
   * Whether the section still protects what it read: it was not closed, and neither was the section
   * around it.
   *
   * @return true while protected
   */
  public boolean isOpen() {
    // The outermost section ends by its own close only. An inner one ends with the outer as well,
    // and the word then shows zero or, once a grace period has begun, a later section's value.
    return !closed && (saved <= 0 || reader.ctr == saved);
  }

  /**
   * Throws unless the section still protects; the check that makes use after close an exception.
   */
  void check(Rcu expected) {
    if (!isOpen()) {
      throw new IllegalStateException(
          "the read section is closed; open one with read() and use it inside its try block");
    }
    if (rcu != expected) {
      throw new IllegalArgumentException(
          "the section belongs to domain " + rcu.name() + ", not to " + expected.name());
    }
  }
}
