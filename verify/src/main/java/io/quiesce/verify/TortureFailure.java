package io.quiesce.verify;

/** What a torture found wrong, in one sentence. */
final class TortureFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  TortureFailure(String sentence) {
    super(sentence);
  }
}
