package io.quiesce.rcu;

/** Opens the package-private wake-up word to the tests of other packages. */
public final class WakeWords {
  private final WakeWord word;

  private WakeWords(WakeUp how) {
    word = WakeWord.create(how, 1_000_000);
  }

  /**
   * The word that parks.
   *
   * @return a new one, awake
   */
  public static WakeWords park() {
    return new WakeWords(WakeUp.PARK);
  }

  /**
   * The word that sleeps in the kernel where it can; it is never freed.
   *
   * @return a new one, awake
   */
  public static WakeWords futex() {
    return new WakeWords(WakeUp.FUTEX);
  }

  /** By the worker. */
  public void lower() {
    word.lower();
  }

  /** By the worker. */
  public void raise() {
    word.raise();
  }

  /** By the worker. */
  public void sleep() {
    word.sleep();
  }

  /** By whoever queued. */
  public void wake() {
    word.wake();
  }

  /**
   * Whether nobody waits.
   *
   * @return true while the word is 0
   */
  public boolean isAwake() {
    return word.word() == WakeWord.AWAKE;
  }
}
