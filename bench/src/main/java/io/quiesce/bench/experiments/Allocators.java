package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Contestant.Kind;
import io.quiesce.bench.Contestant.Launch;
import io.quiesce.bench.Params;
import java.util.ArrayList;
import java.util.List;

/** Who takes part in the experiments with allocators. */
final class Allocators {
  static final String OURS = "quiesce allocator";
  static final String GLIBC = "glibc malloc";
  static final String JEMALLOC = "jemalloc";
  static final String MIMALLOC = "mimalloc";
  static final String TCMALLOC = "tcmalloc";
  static final String POOLED = "Netty pooled";
  static final String ADAPTIVE = "Netty adaptive";
  static final String UNPOOLED = "Netty unpooled";
  static final String ARENA = "Arena.ofConfined";
  static final String NOTHING = "harness alone";

  private Allocators() {}

  /** The contestants of a table; native allocators are called from Java, as all are. */
  static List<Contestant> of(String program, Params params, List<String> subjects) {
    List<Contestant> contestants = new ArrayList<>();
    for (String subject : subjects) {
      contestants.add(of(subject, program, params, allocator(subject)));
    }
    return contestants;
  }

  static Contestant of(String subject, String program, Params params, String allocator) {
    Kind kind =
        switch (allocator) {
          case "quiesce" -> Kind.QUIESCE;
          case "glibc", "jemalloc", "mimalloc", "tcmalloc" -> Kind.NATIVE;
          default -> Kind.JAVA;
        };
    Launch launch = new Launch(program, false, params.with("allocator", allocator));
    return new Contestant(subject, kind, launch, null, Params.NONE);
  }

  private static String allocator(String subject) {
    return switch (subject) {
      case OURS -> "quiesce";
      case GLIBC -> "glibc";
      case JEMALLOC -> "jemalloc";
      case MIMALLOC -> "mimalloc";
      case TCMALLOC -> "tcmalloc";
      case POOLED -> "netty-pooled";
      case ADAPTIVE -> "netty-adaptive";
      case UNPOOLED -> "netty-unpooled";
      case ARENA -> "arena";
      case NOTHING -> "none";
      default -> throw new IllegalArgumentException("no allocator is called '" + subject + "'");
    };
  }

  /** One against all others, except the harness. */
  static List<Pair> pairs(String ours, List<String> subjects) {
    return subjects.stream()
        .filter(subject -> !subject.equals(ours) && !subject.equals(NOTHING))
        .map(subject -> new Pair(ours, subject))
        .toList();
  }
}
