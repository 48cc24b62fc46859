package io.quiesce.trace.point;

import static io.quiesce.trace.point.Everything.ALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.point.Everything.Side;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.math.BigInteger;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who gets events, and what else happens around them. */
@NullUnmarked
class EmissionTest {
  @TempDir Path folder;

  @BeforeEach
  void reader() throws Exception {
    Recording.assumeReader();
    ALL.nothing(); // Makes the provider.
  }

  private static Point point(String name) {
    return Recording.points("enc").get(name);
  }

  private static BigInteger big(long value) {
    return BigInteger.valueOf(value);
  }

  @Test
  void filtersSeeValuesAsTheyAreStored() throws Exception {
    List<Object[]> seen = new ArrayList<>();
    int[] array = {1};
    List<Recording.Event> events;
    try (Recording recording = new Recording(folder.resolve("t"))) {
      recording.on(
          point("numbers"),
          values -> {
            seen.add(values.clone());
            return (int) values[4] > 0;
          });
      recording.on(
          point("texts"), Filters.parse("a == 'k*' && behind < 0", point("texts").fields()));
      recording.on(
          point("arrays"),
          values -> {
            seen.add(values.clone());
            return false;
          });
      ALL.numbers(true, (byte) 1, 'c', (short) 2, 3, 4, 5.5f, 6.5, Side.SELL);
      ALL.numbers(false, (byte) 1, 'c', (short) 2, -3, 4, 5, 6, null);
      ALL.texts("kept", 1, null, -1);
      ALL.texts("kept", 2, null, 1);
      ALL.texts("lost", 3, null, -1);
      ALL.arrays(null, null, null, null, array, null, null, null, 9);
      events = recording.read();
    }
    assertThat(seen.get(0))
        .containsExactly(true, (byte) 1, 'c', (short) 2, 3, 4L, 5.5f, 6.5, "SELL");
    assertThat(seen.get(1)[8]).isEqualTo("null");
    assertThat(seen.get(2)[4]).isSameAs(array);
    assertThat((byte[]) seen.get(2)[1]).isEmpty();
    assertThat(events)
        .extracting(Recording.Event::name)
        .containsExactly("enc:numbers", "enc:texts");
    assertThat(events.get(1).fields()).containsEntry("between", big(1)).containsEntry("b", "null");
  }

  @Test
  void twoSessionsWithAFilterInOneGetEachTheirOwn() throws Exception {
    try (Recording all = new Recording(folder.resolve("all")).on("enc");
        Recording some = new Recording(folder.resolve("some"))) {
      some.on(point("small"), Filters.parse("a >= 5", point("small").fields()));
      for (int i = 0; i < 10; i++) {
        ALL.small(i, -i);
      }
      assertThat(all.read()).hasSize(10);
      assertThat(some.read())
          .extracting(event -> event.fields().get("a"))
          .containsExactly(big(5), big(6), big(7), big(8), big(9));
    }
  }

  @Test
  void nothingHappensWhileNobodyWantsIt() throws Exception {
    try (Recording recording = new Recording(folder.resolve("t"))) {
      assertThat(ALL.isSmall()).isFalse();
      ALL.small(1, 2);
      recording.on(point("small"), EventFilter.ALL);
      assertThat(ALL.isSmall()).isTrue();
      ALL.small(3, 4);
      ALL.order(5, "x");
      Points.detach(point("small"), recording);
      assertThat(ALL.isSmall()).isFalse();
      ALL.small(6, 7);
      assertThat(recording.read())
          .extracting(Recording.Event::fields)
          .containsExactly(Map.of("a", big(3), "b", big(4)));
    }
  }

  @Test
  void anEventThatFitsNowhereIsLostAndCounted() throws Exception {
    try (Recording recording = new Recording(folder.resolve("t")).on("enc")) {
      ALL.order(1, "x".repeat(2 << 20));
      ALL.order(2, "y");
      assertThat(recording.statistics().big()).isEqualTo(1);
      assertThat(recording.read()).hasSize(1);
    }
  }

  @Test
  void virtualThreads() throws Exception {
    try (Recording recording = new Recording(folder.resolve("t")).on("enc")) {
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 50; t++) {
        int id = t;
        threads.add(
            Thread.startVirtualThread(
                () -> {
                  for (int i = 0; i < 20; i++) {
                    ALL.order(id, "number " + i);
                    Thread.yield();
                  }
                }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      Map<Object, Integer> next = new LinkedHashMap<>();
      for (Recording.Event event : recording.read()) {
        int i = next.merge(event.fields().get("id"), 1, Integer::sum) - 1;
        assertThat(event.fields()).containsEntry("symbol", "number " + i);
      }
      assertThat(next).hasSize(50).allSatisfy((id, count) -> assertThat(count).isEqualTo(20));
    }
  }

  @Test
  void oneProviderInTwoClassLoadersIsOneEventType() throws Exception {
    String name = "io.quiesce.trace.fixture.Loaded";
    URL place = EmissionTest.class.getResource("/io/quiesce/trace/fixture/Loaded.class");
    URL root = place.toURI().resolve("../../../../").toURL();
    try (URLClassLoader one = new Own(root);
        URLClassLoader two = new Own(root)) {
      IntConsumer first = (IntConsumer) one.loadClass(name).getConstructor().newInstance();
      IntConsumer second = (IntConsumer) two.loadClass(name).getConstructor().newInstance();
      assertThat(first.getClass()).isNotSameAs(second.getClass());
      assertThat(first.getClass().getModule().isNamed()).isFalse();
      try (Recording recording = new Recording(folder.resolve("t")).on("loaded")) {
        first.accept(1);
        second.accept(2);
        assertThat(Recording.points("loaded")).hasSize(1);
        assertThat(recording.read())
            .extracting(event -> event.fields().get("colour"))
            .containsExactly(
                new Recording.Constant(1, List.of("GREEN")),
                new Recording.Constant(0, List.of("RED")));
      }
    }
  }

  /** Loads the fixtures itself, whatever its parent has. */
  private static final class Own extends URLClassLoader {
    Own(URL root) {
      super(new URL[] {root}, EmissionTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("io.quiesce.trace.fixture.")) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : findClass(name);
      }
      return super.loadClass(name, resolve);
    }
  }

  @Test
  void anOverflowOfTheStackTearsNoEvent() throws Exception {
    String text = "0123456789".repeat(4);
    int[] done = new int[1];
    try (Recording recording = new Recording(folder.resolve("t")).on("enc")) {
      Runnable overflow =
          () -> {
            for (int round = 0; round < 40; round++) {
              try {
                recurse(round % 7, done, text);
              } catch (StackOverflowError _) {
                done[0]++;
              }
              recording.pass();
            }
          };
      Thread thread = new Thread(null, overflow, "overflow", 256 << 10);
      thread.start();
      thread.join();
      assertThat(done[0]).isEqualTo(40);
      heal(recording);
      ALL.order(-1, text);
      List<Recording.Event> events;
      try {
        events = recording.read();
      } catch (java.io.IOException e) {
        throw new AssertionError(recording.statistics().toString(), e);
      }
      assertThat(events).hasSizeGreaterThan(1000);
      assertThat(events)
          .allSatisfy(
              event -> {
                assertThat(event.fields()).containsEntry("symbol", text);
              });
      // Unless it is counted: a record that was left pending may keep a ring full for a while.
      assertThat(recording.statistics().lost() > 0 || hasLast(events)).isTrue();
    }
  }

  private static boolean hasLast(List<Recording.Event> events) {
    return events.stream().anyMatch(event -> big(-1).equals(event.fields().get("id")));
  }

  /** A record that nobody could even abandon holds its CPU up until the consumer gives it up. */
  private static void heal(Recording recording) throws InterruptedException {
    for (int i = 0; i < 40; i++) {
      recording.pass();
      Thread.sleep(50);
    }
  }

  @SuppressWarnings("InfiniteRecursion") // That is the point.
  private static long recurse(long a, int[] done, String text) {
    ALL.order(a, text);
    return recurse(a + 1, done, text) + 1;
  }

  /** By reflection: the module of this test does not read the JDK's. */
  private static MethodHandle allocated() throws ReflectiveOperationException {
    Class<?> factory = Class.forName("java.lang.management.ManagementFactory");
    return MethodHandles.publicLookup()
        .findVirtual(
            Class.forName("com.sun.management.ThreadMXBean"),
            "getCurrentThreadAllocatedBytes",
            MethodType.methodType(long.class))
        .bindTo(factory.getMethod("getThreadMXBean").invoke(null));
  }

  @Test
  void noGarbage() throws Throwable {
    MethodHandle allocated = allocated();
    String ascii = "QSC.DE.99";
    String longer = "a text of more than thirty-two characters";
    String other = "gr\u00f6\u00dfe \u20ac \ud83d\ude00 \ud800";
    int[] array = {1, 2, 3};
    List<io.quiesce.trace.ContextField> contexts = List.of(io.quiesce.trace.ContextField.values());
    try (Recording _ = new Recording(folder.resolve("t"), Contexts.of(contexts), true).on("enc")) {
      long least = Long.MAX_VALUE;
      // Until it is compiled, however long that takes on a busy machine.
      long end = System.nanoTime() + 30_000_000_000L;
      while (least > 0 && System.nanoTime() < end) {
        long before = (long) allocated.invokeExact();
        for (int i = 0; i < 2_000; i++) {
          ALL.order(i, ascii);
          ALL.texts(longer, i, other, i);
          ALL.arrays(null, null, null, null, array, null, null, null, i);
          ALL.numbers(true, (byte) i, 'c', (short) i, i, i, i, i, Side.BUY);
        }
        least = Math.min(least, (long) allocated.invokeExact() - before);
      }
      assertThat(least).isZero();
    }
  }
}
