package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import io.quiesce.linux.Platform;
import java.time.Duration;
import java.util.Map;

/**
 * {@code barrier.bystander} within one process: a thread that computes on 16 KiB while another
 * thread of the same process loops on a barrier, or does nothing. The walk is that of {@code
 * bench/native/bystander.c}, the bystander in a process of its own.
 */
public final class BystanderSubject implements Subject {
  private static final int WORDS = 2048;
  private static final String NOBODY = "none";

  private final long[] table = new long[WORDS];
  private final BarrierSubject barriers = new BarrierSubject();
  private boolean alone;
  private Team disturber = Team.ofPlatformThreads(0, index -> {});

  /** For the host. */
  public BystanderSubject() {}

  @Override
  public void setUp(Params params) {
    alone = params.get("strategy", NOBODY).equals(NOBODY);
    if (!alone) {
      Platform.verify();
      barriers.setUp(params);
      disturber =
          Team.ofPlatformThreads(
              1,
              index -> {
                disturber.running();
                do {
                  barriers.round(Duration.ofMillis(5));
                } while (!disturber.stopped());
              });
    }
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    disturber.begin();
    disturber.awaitRunning();
    long state = 88172645463325252L;
    long batches = 0;
    long from = System.nanoTime();
    long until = from + time.toNanos();
    long to;
    do {
      for (int i = 0; i < 16; i++) {
        state = compute(state);
      }
      batches += 16;
      to = System.nanoTime();
    } while (to < until);
    disturber.end();
    Sink.take(state);
    return Map.of("rate", (double) batches * Team.BATCH * 1e9 / (to - from));
  }

  private long compute(long from) {
    long state = from;
    for (int i = 0; i < Team.BATCH; i++) {
      state ^= state << 13;
      state ^= state >>> 7;
      state ^= state << 17;
      table[(int) state & (WORDS - 1)] += state;
      state += table[(int) (state >>> 32) & (WORDS - 1)] | 1;
    }
    return state;
  }
}
