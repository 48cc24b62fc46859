package io.quiesce.trace.ring;

/** The three forms of the producers' hot path. */
public enum HotPathKind {
  /** One restartable sequence: the default where the machine has what it takes. */
  SEQUENCE,
  /** Compare-and-swap on the CPU's offset: the portable one. */
  COMPARE_AND_SWAP,
  /** A lock word for each CPU. */
  LOCK;

  /** The cheapest that works here. */
  public static HotPathKind best() {
    return SequencePath.isAvailable() ? SEQUENCE : COMPARE_AND_SWAP;
  }

  /** Whether it works here. */
  public boolean isAvailable() {
    return this != SEQUENCE || SequencePath.isAvailable();
  }

  Stamps stamps() {
    return this == SEQUENCE ? Stamps.TSC : Stamps.best();
  }

  HotPath make(RingMemory ring, Stamps stamps) {
    return switch (this) {
      case SEQUENCE -> new SequencePath(ring);
      case COMPARE_AND_SWAP -> new CompareAndSwapPath(ring, stamps);
      case LOCK -> new LockPath(ring, stamps);
    };
  }
}
