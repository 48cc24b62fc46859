package io.quiesce.cli;

/** The work failed; the message is one sentence with the cure. */
final class Failure extends Exception {
  private static final long serialVersionUID = 1;

  Failure(String sentence) {
    super(sentence);
  }

  Failure(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
