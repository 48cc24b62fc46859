package io.quiesce.examples;

import io.quiesce.memory.RcuArena;
import io.quiesce.rcu.Rcu;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * A search index of sorted keys in a mapped file, replaced two thousand times while platform and
 * virtual threads search it. Opening a generation maps its file; closing it is one call that
 * returns at once, disturbs no searching thread, and unmaps when no search is in it any more.
 *
 * <p>Where {@link GuardedMappedFile} puts a shared arena behind a guard (and pays for the arena's
 * close on a worker, handshake and all), here the arena is the guard.
 *
 * <pre>
 * 1306425 searches over 2000 generations, 0 wrong, 0 files left mapped
 * </pre>
 */
public final class RcuMappedIndex {
  private static final int KEYS = 4096;
  private static final int GENERATIONS = 2_000;

  private RcuMappedIndex() {}

  /** The file of one generation: every third number from its own start, sorted. */
  private static Path write(Path folder, long generation) throws IOException {
    byte[] content = new byte[KEYS * Long.BYTES];
    MemorySegment keys = MemorySegment.ofArray(content);
    for (int i = 0; i < KEYS; i++) {
      keys.set(ValueLayout.JAVA_LONG_UNALIGNED, (long) i * Long.BYTES, generation + 3L * i);
    }
    return Files.write(folder.resolve("index-" + generation % 8), content);
  }

  private static RcuArena open(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return RcuArena.map(channel, FileChannel.MapMode.READ_ONLY, 0, channel.size());
    }
  }

  /** Binary search, straight in the file. */
  private static boolean contains(MemorySegment keys, long wanted) {
    long low = 0;
    long high = keys.byteSize() / Long.BYTES - 1;
    while (low <= high) {
      long middle = (low + high) >>> 1;
      long key = keys.getAtIndex(ValueLayout.JAVA_LONG, middle);
      if (key == wanted) {
        return true;
      }
      if (key < wanted) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return false;
  }

  /** One search: the section makes sure that the file stays mapped until its end. */
  private static boolean searchFindsWhatIsThere(RcuArena index, long i) {
    try (RcuArena.Access access = index.read()) {
      MemorySegment keys = access.segment();
      long first = keys.get(ValueLayout.JAVA_LONG, 0);
      return contains(keys, first + 3 * (i % KEYS)) && !contains(keys, first + 3 * (i % KEYS) + 1);
    }
  }

  /**
   * Runs it.
   *
   * @param args none
   * @throws Exception if a file cannot be written or the searchers do not end
   */
  public static void main(String[] args) throws Exception {
    Path folder = Files.createTempDirectory("quiesce-index");
    List<Path> files = new ArrayList<>();
    for (int generation = 0; generation < 8; generation++) {
      files.add(write(folder, generation));
    }
    AtomicReference<RcuArena> current = new AtomicReference<>(open(files.getFirst()));
    AtomicBoolean stop = new AtomicBoolean();
    LongAdder searches = new LongAdder();
    LongAdder wrong = new LongAdder();

    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      threads.add(
          (t < 2 ? Thread.ofPlatform() : Thread.ofVirtual())
              .start(
                  () -> {
                    for (long i = 0; !stop.get(); i++) {
                      RcuArena index = current.get();
                      try {
                        if (!searchFindsWhatIsThere(index, i)) {
                          wrong.increment();
                        }
                        searches.increment();
                      } catch (IllegalStateException closed) {
                        // Replaced between the look and the section: look again.
                      }
                      if (i % 64 == 0) {
                        Thread.yield();
                      }
                    }
                  }));
    }
    for (int generation = 1; generation < GENERATIONS; generation++) {
      RcuArena old = current.getAndSet(open(files.get(generation % 8)));
      old.close(); // returns at once; searches that are in it go on
    }
    stop.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
    current.get().closeAndWait(Duration.ofSeconds(10));
    Rcu.shared().barrier(); // all the others as well
    for (Path file : files) {
      Files.delete(file);
    }
    Files.delete(folder);

    long left = RcuArena.mappings().open();
    System.out.printf(
        "%d searches over %d generations, %d wrong, %d files left mapped%n",
        searches.sum(), GENERATIONS, wrong.sum(), left);
    if (wrong.sum() != 0 || left != 0) {
      throw new IllegalStateException("a search went wrong, or a file stayed mapped");
    }
  }
}
