package io.quiesce.bench.experiments;

import io.quiesce.bench.Contestant;
import io.quiesce.bench.Params;
import java.util.ArrayList;
import java.util.List;

/** Who takes part in the experiments with locks. */
final class LockPeers {
  static final String NMCS = "quiesce nmcs";
  static final String NMCS_2002 = "quiesce nmcs of 2002";
  static final String MCS = "quiesce mcs";
  static final String MCS_SPIN = "quiesce mcs, spinning";
  static final String CLH = "quiesce clh";
  static final String TICKET = "quiesce ticket";
  static final String SPIN = "quiesce spin";
  static final String UNFAIR = "ReentrantLock unfair";
  static final String FAIR = "ReentrantLock fair";
  static final String MONITOR = "synchronized";
  static final String STAMPED = "StampedLock";
  static final String SEMAPHORE = "Semaphore";
  static final String MUTEX = "pthread mutex";
  static final String PTHREAD_SPIN = "pthread spin";
  static final String CK_MCS = "Concurrency Kit MCS";
  static final String CK_CLH = "Concurrency Kit CLH";
  static final String CK_TICKET = "Concurrency Kit ticket";

  static final List<String> EVERYBODY =
      List.of(
          NMCS,
          UNFAIR,
          MCS,
          FAIR,
          CK_MCS,
          MONITOR,
          CLH,
          MUTEX,
          TICKET,
          STAMPED,
          SPIN,
          SEMAPHORE,
          CK_CLH,
          PTHREAD_SPIN,
          CK_TICKET);

  private LockPeers() {}

  /** The contestants of a table; the Java ones are hosted as {@code program}. */
  static List<Contestant> of(String program, Params params, List<String> subjects) {
    List<Contestant> contestants = new ArrayList<>();
    for (String subject : subjects) {
      contestants.add(of(subject, program, params));
    }
    return contestants;
  }

  private static Contestant of(String subject, String program, Params params) {
    return switch (subject) {
      case NMCS -> ours(subject, program, params, "nmcs");
      case NMCS_2002 -> ours(subject, program, params, "nmcs-2002");
      case MCS -> ours(subject, program, params, "mcs");
      case MCS_SPIN -> ours(subject, program, params, "mcs-spin");
      case CLH -> ours(subject, program, params, "clh");
      case TICKET -> ours(subject, program, params, "ticket");
      case SPIN -> ours(subject, program, params, "spin");
      case UNFAIR -> Contestant.java(subject, program, params.with("lock", "unfair"));
      case FAIR -> Contestant.java(subject, program, params.with("lock", "fair"));
      case MONITOR -> Contestant.java(subject, program, params.with("lock", "synchronized"));
      case STAMPED -> Contestant.java(subject, program, params.with("lock", "stamped"));
      case SEMAPHORE -> Contestant.java(subject, program, params.with("lock", "semaphore"));
      case MUTEX -> Contestant.nativePeer(subject, "pthread-locks", params.with("lock", "mutex"));
      case PTHREAD_SPIN ->
          Contestant.nativePeer(subject, "pthread-locks", params.with("lock", "spin"));
      case CK_MCS -> Contestant.nativePeer(subject, "ck-locks", params.with("lock", "mcs"));
      case CK_CLH -> Contestant.nativePeer(subject, "ck-locks", params.with("lock", "clh"));
      case CK_TICKET -> Contestant.nativePeer(subject, "ck-locks", params.with("lock", "ticket"));
      default -> throw new IllegalArgumentException("no lock is called '" + subject + "'");
    };
  }

  private static Contestant ours(String subject, String program, Params params, String lock) {
    return Contestant.quiesce(subject, program, params.with("lock", lock));
  }
}
