package io.quiesce.verify;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.Membarrier;
import io.quiesce.trace.TraceCounts;
import io.quiesce.trace.TraceSession;
import io.quiesce.trace.TraceSessionBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tracer under torture in one JVM: four threads emit numbered events as fast as they can, while
 * their sequences are aborted by fences, they change their CPU, and are moved to another by force
 * in the middle of an event. Sessions follow one another, each with buffers of another shape. Each
 * trace is read back: every event that was not counted as lost is in it once, whole, and in order
 * on its CPU. The broken form ends sub-buffers as a flush does, but neither closes the row nor
 * compares.
 */
final class TraceTorture {
  /** What is tortured, one after another. */
  enum Part {
    /** Everything is written, and what the disk is too slow for is counted. */
    DISCARD,
    /** A flight recorder, of which snapshots are taken. */
    OVERWRITE
  }

  private static final int PRODUCERS = 4;
  private static final int STRIDE = 16; // longs, so that producers share no cache line
  private static final int SLICE_MILLIS = 1_000;
  private static final long MOST_EVENTS = 500_000; // of a producer in a slice that is written
  private static final String NAME = "qt-producer-"; // 15 characters at most
  private static final Duration END_LIMIT = Duration.ofSeconds(60);
  private static final int[] COUNTS = {4, 8, 16, 4};
  private static final int LARGE_COUNT = 16;
  private static final int LARGE_BYTES = 65_536;
  private static final int[] SIZES = {4_096, 4_096, 16_384, 65_536};

  private final Part part;
  private final long seed;
  private final boolean broken;
  private final int[] cpus = CpuAffinity.isAvailable() ? CpuAffinity.get().toArray() : new int[0];
  private final AtomicLongArray emitted = new AtomicLongArray(PRODUCERS * STRIDE);
  private final LongAdder tooLarge = new LongAdder();
  private final LongAdder moves = new LongAdder();
  private final LongAdder forced = new LongAdder();
  private final LongAdder fences = new LongAdder();
  private Sum sum = new Sum();
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;

  TraceTorture(Part part, long seed, boolean broken) {
    this.part = part;
    this.seed = seed;
    this.broken = broken;
  }

  /**
   * What one run counted; read are those of traces and snapshots, which were checked, and moves
   * those that producers made themselves.
   */
  record Result(
      long emitted,
      long read,
      long full,
      long wrap,
      long big,
      long other,
      long moves,
      long forced,
      long fences,
      long traces) {}

  private static final class Sum {
    private long emitted;
    private long read;
    private long full;
    private long wrap;
    private long big;
    private long other;
    private long traces;
    private long gapless;
  }

  Result run(long millis) throws InterruptedException, IOException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    Path folder = Files.createTempDirectory("quiesce-torture-");
    sum = new Sum();
    try {
      SplittableRandom random = new SplittableRandom(seed);
      int slices = 0;
      do {
        long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
        slice(folder, slices++, Math.clamp(left, 100, SLICE_MILLIS), random);
      } while (System.nanoTime() < until);
    } finally {
      delete(folder);
    }
    if (part == Part.OVERWRITE && !broken && sum.gapless == 0) {
      throw new TortureFailure("no snapshot had all CPUs' streams");
    }
    return new Result(
        sum.emitted,
        sum.read,
        sum.full,
        sum.wrap,
        sum.big,
        sum.other,
        moves.sum(),
        forced.sum(),
        fences.sum(),
        sum.traces);
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(path);
        }
      }
    }
  }

  // ---- one session ----

  @SuppressWarnings("try") // The session is closed early, for its counts.
  private void slice(Path folder, int number, long millis, SplittableRandom random)
      throws InterruptedException, IOException {
    boolean overwrite = part == Part.OVERWRITE;
    // A small flight recorder comes upon unfinished events, but is overtaken while it is copied.
    int shape = random.nextInt(COUNTS.length);
    boolean large = overwrite && number % 3 != 2;
    int subBytes = large ? LARGE_BYTES : SIZES[shape];
    int subCount = large ? LARGE_COUNT : COUNTS[shape];
    TraceEvents events = new TraceEvents(random.nextLong(), subBytes);
    Path trace = folder.resolve("trace-" + number);
    Path buffers = Files.createDirectories(folder.resolve("buffers-" + number));
    stop = false;
    tooLarge.reset();
    TraceSessionBuilder builder =
        (overwrite ? TraceSession.flightRecorder(trace) : TraceSession.record(trace))
            .enable(TraceEvents.PATTERN)
            .subBuffers(subCount, subBytes)
            .flushEvery(Duration.ofMillis(1 + random.nextInt(50)));
    if (broken) {
      builder.buffersIn(buffers); // there its file is found
    }
    TraceCounts counts;
    long closing = 0;
    try (TraceSession session = builder.start()) {
      List<Thread> threads = start(events, random.nextLong(), buffers);
      long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
      for (int i = 0; failure == null && System.nanoTime() < until; i++) {
        Thread.sleep(overwrite ? 20 + random.nextInt(100) : 20);
        if (overwrite) {
          snapshot(session, events, folder.resolve("snapshot-" + number + "-" + i));
        }
      }
      stop = true;
      for (Thread thread : threads) {
        if (!thread.join(END_LIMIT)) {
          throw new TortureFailure("thread " + thread.getName() + " hangs");
        }
      }
      TortureFailure.throwIfAny(failure);
      if (overwrite) {
        keepsAll(session, events);
      } else if (cpus.length > 0 && !broken) {
        closing = close(session, events);
      }
      session.close();
      counts = session.counts();
    }
    if (!overwrite) {
      checkWhole(trace, events, counts, closing);
    }
    same("events too large", counts.big(), tooLarge.sum());
    sum.full += counts.full();
    sum.wrap += counts.wrap();
    sum.big += counts.big();
    sum.other += counts.other();
    for (long each : progress()) {
      sum.emitted += each;
    }
    delete(trace);
    delete(buffers);
  }

  private long[] progress() {
    long[] all = new long[PRODUCERS];
    for (int i = 0; i < all.length; i++) {
      all[i] = emitted.getAcquire(i * STRIDE);
    }
    return all;
  }

  private static void same(String what, long found, long expected) {
    if (found != expected) {
      throw new TortureFailure(what + ": " + found + " instead of " + expected);
    }
  }

  /** One last event on each CPU, so that its last packet has all losses; how many were emitted. */
  private static long close(TraceSession session, TraceEvents events) throws InterruptedException {
    long emitted = 0;
    long number = 0;
    var before = CpuAffinity.get();
    try {
      for (int cpu : before.toArray()) {
        CpuAffinity.pinTo(cpu);
        long lost;
        do {
          lost = session.counts().lost();
          while (events.isTooLarge(-1, number)) {
            number++;
          }
          events.emit(-1, number++);
          emitted++;
          Thread.sleep(1);
        } while (session.counts().lost() != lost);
      }
    } finally {
      CpuAffinity.set(before);
    }
    return emitted;
  }

  /** Nobody is in the middle of an event any more, so nothing is in the way of another one. */
  private void keepsAll(TraceSession session, TraceEvents events) {
    if (cpus.length == 0) {
      return;
    }
    var before = CpuAffinity.get();
    try {
      for (int cpu : before.toArray()) {
        CpuAffinity.pinTo(cpu);
        long lost = session.counts().lost();
        long number = 0;
        while (events.isTooLarge(-1, number)) {
          number++;
        }
        events.emit(-1, number);
        same(
            "events lost though no thread is in one, on CPU " + cpu, session.counts().lost(), lost);
      }
    } finally {
      CpuAffinity.set(before);
    }
  }

  private void checkWhole(Path trace, TraceEvents events, TraceCounts counts, long closing)
      throws IOException {
    long[] all = progress();
    TraceCheck check = new TraceCheck(events, all);
    check.whole(trace);
    long made = closing;
    for (long each : all) {
      made += each;
    }
    same("events in the trace", check.count() + check.closing(), counts.written());
    same("events in the trace and lost", counts.written() + counts.lost(), made);
    if (closing > 0) {
      same("losses in the last packets", check.discarded(), counts.lost());
    }
    sum.read += check.count();
    sum.traces++;
  }

  private void snapshot(TraceSession session, TraceEvents events, Path target) throws IOException {
    TraceCheck check = new TraceCheck(events, progress());
    session.snapshot(target);
    TraceCounts counts = session.counts();
    long missing = check.snapshot(target);
    if (missing > counts.wrap() + counts.other()) {
      throw new TortureFailure(
          "a snapshot misses "
              + missing
              + " events, and "
              + (counts.wrap() + counts.other())
              + " were lost");
    }
    sum.gapless += missing >= 0 ? 1 : 0;
    sum.read += check.count();
    sum.traces++;
    delete(target);
  }

  // ---- threads ----

  private interface Body {
    void run(SplittableRandom random) throws Exception;
  }

  private Thread thread(String name, long random, Body body) {
    return Thread.ofPlatform()
        .daemon()
        .name(name)
        .start(
            () -> {
              try {
                body.run(new SplittableRandom(random ^ name.hashCode()));
              } catch (Throwable thrown) {
                synchronized (this) {
                  failure = failure == null ? thrown : failure;
                }
                stop = true;
              }
            });
  }

  private List<Thread> start(TraceEvents events, long random, Path buffers) {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < PRODUCERS; i++) {
      int producer = i;
      emitted.setRelease(i * STRIDE, 0);
      threads.add(thread(NAME + i, random, mine -> produce(events, producer, mine)));
    }
    threads.add(thread("qt-fences", random, this::hammer));
    if (cpus.length > 0) {
      threads.add(thread("qt-churner", random, this::churn));
    }
    if (broken) {
      threads.add(thread("qt-breaker", random, mine -> new TraceBreaker(buffers).run(() -> stop)));
    }
    return threads;
  }

  private void produce(TraceEvents events, int producer, SplittableRandom random)
      throws InterruptedException {
    long most = part == Part.DISCARD ? MOST_EVENTS : Long.MAX_VALUE;
    for (long number = 0; number < most && !stop; number++) {
      if (events.isTooLarge(producer, number)) {
        tooLarge.increment();
      }
      events.emit(producer, number);
      emitted.setRelease(producer * STRIDE, number + 1);
      int dice = random.nextInt(20_000);
      if (dice == 0) {
        Thread.sleep(random.nextInt(3)); // the consumer comes up
      } else if (dice < 20) {
        Thread.yield();
      } else if (dice < 30 && cpus.length > 0) {
        CpuAffinity.pinTo(cpus[random.nextInt(cpus.length)]);
        moves.increment();
      }
    }
  }

  /** Aborts every sequence that is under way, on all CPUs or on one. */
  private void hammer(SplittableRandom random) throws InterruptedException {
    while (!stop) {
      if (!Membarrier.isRseqAvailable()) {
        Thread.sleep(1);
        continue;
      }
      if (random.nextBoolean() && cpus.length > 0) {
        Membarrier.fenceCpu(cpus[random.nextInt(cpus.length)]);
      } else {
        Membarrier.fenceRseq();
      }
      fences.increment();
      if (random.nextInt(32) == 0) {
        Thread.sleep(0, random.nextInt(200_000));
      }
    }
  }

  /**
   * Moves producers to other CPUs wherever they are, even within a sequence. Only the thread itself
   * can do so through the library, so this asks the command of util-linux; without it producers
   * move themselves only.
   */
  private void churn(SplittableRandom random) throws InterruptedException, IOException {
    List<String> tasks = producers();
    while (!stop && tasks.size() < PRODUCERS) {
      Thread.sleep(1); // they set their names when they begin
      tasks = producers();
    }
    while (!stop) {
      String cpu = Integer.toString(cpus[random.nextInt(cpus.length)]);
      String task = tasks.get(random.nextInt(tasks.size()));
      try {
        Process taskset =
            new ProcessBuilder("taskset", "-cp", cpu, task)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (taskset.waitFor() == 0) {
          forced.increment();
        }
      } catch (IOException none) {
        return;
      }
      Thread.sleep(random.nextInt(20));
    }
  }

  /** The kernel's numbers of the producers. */
  private static List<String> producers() throws IOException {
    List<String> tasks = new ArrayList<>();
    try (Stream<Path> all = Files.list(Path.of("/proc/self/task"))) {
      for (Path task : all.toList()) {
        try {
          if (Files.readString(task.resolve("comm")).startsWith(NAME)) {
            tasks.add(task.getFileName().toString());
          }
        } catch (IOException _) {
          // Another thread, which has just ended.
        }
      }
    }
    return tasks;
  }
}
