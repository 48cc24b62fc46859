package io.quiesce.trace.agent;

/** Tracing cannot begin; the message is one sentence with the cure. */
final class AgentException extends Exception {
  private static final long serialVersionUID = 1;

  AgentException(String sentence) {
    super(sentence);
  }

  AgentException(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
