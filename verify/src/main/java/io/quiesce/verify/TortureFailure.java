package io.quiesce.verify;

import org.jspecify.annotations.Nullable;

/** What a torture found wrong, in one sentence. */
final class TortureFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  TortureFailure(String sentence) {
    super(sentence);
  }

  /** Throws what a torture's thread threw, if any did. */
  static void throwIfAny(@Nullable Throwable found) {
    if (found instanceof TortureFailure known) {
      throw known;
    }
    if (found != null) {
      throw new IllegalStateException("a torture thread threw " + found, found);
    }
  }
}
