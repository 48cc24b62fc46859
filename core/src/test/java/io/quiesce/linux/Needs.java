package io.quiesce.linux;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Skips a test, saying why, where this JVM lacks what it needs. */
public final class Needs {
  private Needs() {}

  public static void facility(String name) {
    String text = Platform.report().getOrDefault(name, "unknown");
    if (!text.startsWith("on")) {
      System.out.println("skipped for want of " + name + ": " + text);
    }
    assumeTrue(text.startsWith("on"), name + " is " + text);
  }
}
