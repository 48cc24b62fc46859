package io.quiesce.trace.point;

import static io.quiesce.trace.point.Everything.ALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.linux.KernelThread;
import io.quiesce.linux.OffHeap;
import io.quiesce.trace.ContextField;
import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ring.Store;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContextsTest {
  @TempDir Path folder;

  @Test
  void noneIsNone() {
    assertThat(Contexts.of(List.of())).isSameAs(EventContext.NONE);
  }

  @Test
  void fieldsAreInTheOrderOfTheEnumAndOnce() {
    EventContext context =
        Contexts.of(
            List.of(
                ContextField.JAVA_THREAD_ID, ContextField.PROCESS_ID, ContextField.JAVA_THREAD_ID));
    assertThat(context.fields())
        .containsExactly(Field.signed("vpid", 32), Field.signed("jtid", 64));
    assertThat(context.bytes()).isEqualTo(12);
  }

  private record Seen(long pid, int kernel, String name, long id, boolean virtual) {
    static Seen here() {
      Thread thread = Thread.currentThread();
      return new Seen(
          ProcessHandle.current().pid(),
          KernelThread.id(),
          thread.getName(),
          thread.threadId(),
          thread.isVirtual());
    }

    Map<String, Object> asRead() {
      return Map.of(
          "vpid", BigInteger.valueOf(pid),
          "vtid", BigInteger.valueOf(kernel),
          "threadname", name,
          "jtid", BigInteger.valueOf(id),
          "virtual_tid", BigInteger.valueOf(virtual ? id : 0));
    }
  }

  @Test
  void eachThreadIsNamed() throws Exception {
    Recording.assumeReader();
    ALL.nothing(); // Makes the provider.
    EventContext context = Contexts.of(List.of(ContextField.values()));
    List<Seen> expected = new ArrayList<>();
    Runnable event =
        () -> {
          expected.add(Seen.here());
          ALL.small(1, 2);
          ALL.order(3, "text");
          expected.add(Seen.here());
        };
    try (Recording recording = new Recording(folder.resolve("t"), context, false).on("enc")) {
      event.run();
      Thread.ofPlatform().name("gr\u00f6\u00dfer").start(event).join();
      Thread.ofPlatform().name("").start(event).join();
      Thread.ofVirtual().name("a virtual thread").start(event).join();
      List<Recording.Event> events = recording.read();
      assertThat(events)
          .extracting(Recording.Event::context)
          .containsExactlyElementsOf(expected.stream().map(Seen::asRead).toList());
      assertThat(events)
          .filteredOn(e -> e.name().equals("enc:order"))
          .hasSize(4)
          .allSatisfy(e -> assertThat(e.fields()).containsEntry("symbol", "text"));
    }
  }

  /** What a rename between measuring and storing leads to. */
  @Test
  void aNameFillsThePlaceThatItsPredecessorWasGiven() {
    assertThat(fit(7, "abc")).isEqualTo("abc   \0");
    assertThat(fit(4, "abc")).isEqualTo("abc\0");
    assertThat(fit(3, "abc")).isEqualTo("ab\0");
    assertThat(fit(1, "abc")).isEqualTo("\0");
    assertThat(fit(4, "a\u20ac")).isEqualTo("a  \0");
    assertThat(fit(5, "a\u20acb")).isEqualTo("a\u20ac\0");
    assertThat(fit(5, "\ud83d\ude00")).isEqualTo("\ud83d\ude00\0");
  }

  private static String fit(int bytes, String text) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(64).fill((byte) '#');
      long place = -Store.offset(memory, 0); // Its address or 0.
      if (OffHeap.isAvailable()) {
        OffHeap.register(memory.address(), memory.byteSize());
      }
      Utf8Store.fit(memory, place, place + bytes, text);
      byte[] stored = memory.asSlice(0, bytes + 1).toArray(ValueLayout.JAVA_BYTE);
      assertThat(stored[bytes]).isEqualTo((byte) '#');
      return new String(stored, 0, bytes, StandardCharsets.UTF_8);
    }
  }
}
