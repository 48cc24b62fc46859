package io.quiesce.trace.ring;

/**
 * Tries the stack before something is begun that must be ended.
 *
 * <p>A thread whose stack overflows between taking something and giving it back cannot always give
 * it back either: that takes a call. So the stack is tried before, some kilobytes deeper than it
 * will be needed, and the overflow comes while nothing has changed. What is called later may be
 * interpreted, which takes more stack than these frames do compiled. Few frames of many words,
 * since a CPU remembers the returns of some dozen calls only.
 */
final class StackCheck {
  /** Of a sixth of a kilobyte or more. */
  private static final int FRAMES = 24;

  private StackCheck() {}

  /** Throws {@link StackOverflowError} if there are not some kilobytes of stack. */
  static void require() {
    long _ = descend(FRAMES, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  }

  @SuppressWarnings("TooManyParameters") // That is what it is for.
  private static long descend(
      int frames,
      long a,
      long b,
      long c,
      long d,
      long e,
      long f,
      long g,
      long h,
      long i,
      long j,
      long k,
      long l,
      long m,
      long n,
      long o,
      long p) {
    if (frames == 0) {
      return a;
    }
    long below = descend(frames - 1, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, a);
    return below
        + (a ^ below)
        + (b ^ below)
        + (c ^ below)
        + (d ^ below)
        + (e ^ below)
        + (f ^ below)
        + (g ^ below)
        + (h ^ below)
        + (i ^ below)
        + (j ^ below)
        + (k ^ below)
        + (l ^ below)
        + (m ^ below)
        + (n ^ below)
        + (o ^ below)
        + (p ^ below);
  }
}
