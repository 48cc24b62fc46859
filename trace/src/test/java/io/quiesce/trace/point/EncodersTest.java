package io.quiesce.trace.point;

import static io.quiesce.trace.point.Everything.ALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.point.Everything.Side;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From calls of generated tracepoints to what babeltrace2 reads. */
@NullUnmarked
class EncodersTest {
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

  private static Map<String, Object> map(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      Object value = pairs[i + 1];
      map.put(
          (String) pairs[i],
          value instanceof Integer || value instanceof Long
              ? big(((Number) value).longValue())
              : value);
    }
    return map;
  }

  private static Recording.Constant side(Side side) {
    return side == null
        ? new Recording.Constant(255, List.of("null"))
        : new Recording.Constant(side == Side.BUY ? 0 : 1, List.of(side.name()));
  }

  private static long interesting(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> Long.MIN_VALUE >> random.nextInt(64);
      case 1 -> Long.MAX_VALUE >> random.nextInt(64);
      case 2 -> random.nextInt(3) - 1;
      default -> random.nextLong();
    };
  }

  private static double real(Random random) {
    double[] some = {
      0, -0.0, Double.NaN, Double.MIN_VALUE, Double.MAX_VALUE, Double.NEGATIVE_INFINITY, 0.1
    };
    int which = random.nextInt(some.length * 2);
    return which < some.length ? some[which] : Double.longBitsToDouble(random.nextLong());
  }

  /** One by one, for the sake of the message. */
  private static void check(List<Recording.Event> events, List<Map<String, Object>> expected) {
    assertThat(events.size()).isEqualTo(expected.size());
    for (int i = 0; i < expected.size(); i++) {
      assertThat(events.get(i).fields()).as("event " + i).isEqualTo(expected.get(i));
    }
  }

  @Test
  void numbersOfEveryType() throws Exception {
    Random random = new Random(1);
    List<Map<String, Object>> expected = new ArrayList<>();
    List<Recording.Event> events;
    try (Recording recording = new Recording(folder.resolve("t")).on("enc")) {
      for (int n = 0; n < 2000; n++) {
        long v = interesting(random);
        double d = real(random);
        Side side = new Side[] {Side.BUY, Side.SELL, null}[random.nextInt(3)];
        ALL.numbers(v % 2 != 0, (byte) v, (char) v, (short) v, (int) v, v, (float) d, d, side);
        expected.add(
            map(
                "z",
                v % 2 != 0 ? 1 : 0,
                "b",
                (long) (byte) v,
                "c",
                (long) (char) v,
                "s",
                (long) (short) v,
                "i",
                (int) v,
                "l",
                v,
                "f",
                (double) (float) d,
                "d",
                d,
                "side",
                side(side)));
      }
      events = recording.read();
    }
    assertThat(events).extracting(Recording.Event::name).containsOnly("enc:numbers");
    check(events, expected);
  }

  private static String text(Random random) {
    int length = random.nextInt(10) == 0 ? random.nextInt(300) : random.nextInt(26);
    int kind = random.nextInt(5);
    StringBuilder text = new StringBuilder();
    while (text.length() < length) {
      switch (random.nextInt(kind + 1)) {
        case 0 -> text.append((char) (1 + random.nextInt(127)));
        case 1 -> text.append((char) (128 + random.nextInt(128)));
        case 2 -> text.append((char) (256 + random.nextInt(3000)));
        case 3 -> text.appendCodePoint(0x10000 + random.nextInt(0x10000));
        default -> text.append(new char[] {0, '\ud800', '\udc00', '\uffff'}[random.nextInt(4)]);
      }
    }
    return text.toString();
  }

  /** What a trace can hold of a text, found another way. */
  private static String held(String text) {
    StringBuilder held = new StringBuilder();
    text.codePoints()
        .forEach(
            c ->
                held.appendCodePoint(
                    c == 0 || Character.getType(c) == Character.SURROGATE ? 0xfffd : c));
    return held.toString();
  }

  @Test
  void textsOfEveryKind() throws Exception {
    Random random = new Random(2);
    List<Map<String, Object>> expected = new ArrayList<>();
    List<Recording.Event> events;
    try (Recording recording = new Recording(folder.resolve("t")).on("enc")) {
      for (int n = 0; n < 3000; n++) {
        String a = n == 0 ? "" : n == 1 ? "x".repeat(20_000) : text(random);
        String b = n == 2 ? "\u20ac".repeat(5_000) : n % 100 == 3 ? null : text(random);
        ALL.texts(a, n, b, -n);
        expected.add(
            map("a", held(a), "between", n, "b", b == null ? "null" : held(b), "behind", -n));
      }
      events = recording.read();
    }
    check(events, expected);
  }

  @Test
  void arraysOfEveryTypeAndNone() throws Exception {
    boolean[] z = {true, false, true};
    byte[] b = {-128, 127};
    char[] c = {0, '\uffff'};
    short[] s = {-32768, 32767, 1};
    int[] i = {Integer.MIN_VALUE, 5};
    long[] l = {Long.MIN_VALUE, 6};
    float[] f = {Float.MIN_VALUE, Float.NaN};
    double[] d = {-0.0, Double.MAX_VALUE};
    int[] large = new Random(3).ints(10_000).toArray();
    List<Recording.Event> events;
    try (Recording recording = new Recording(folder.resolve("t")).on("enc")) {
      ALL.arrays(z, b, c, s, i, l, f, d, 1);
      ALL.arrays(null, null, null, null, null, null, null, null, 2);
      ALL.arrays(z, new byte[0], c, new short[0], large, l, new float[0], d, 3);
      events = recording.read();
    }
    List<Object> none = List.of();
    List<Object> zs = List.of(big(1), big(0), big(1));
    List<Object> cs = List.of(big(0), big(0xffff));
    List<Object> ls = List.of(big(Long.MIN_VALUE), big(6));
    List<Object> ds = List.of(-0.0, Double.MAX_VALUE);
    assertThat(events)
        .extracting(Recording.Event::fields)
        .containsExactly(
            map(
                "z",
                zs,
                "b",
                List.of(big(-128), big(127)),
                "c",
                cs,
                "s",
                List.of(big(-32768), big(32767), big(1)),
                "i",
                List.of(big(Integer.MIN_VALUE), big(5)),
                "l",
                ls,
                "f",
                List.of((double) Float.MIN_VALUE, Double.NaN),
                "d",
                ds,
                "n",
                1),
            map(
                "z", none, "b", none, "c", none, "s", none, "i", none, "l", none, "f", none, "d",
                none, "n", 2),
            map(
                "z",
                zs,
                "b",
                none,
                "c",
                cs,
                "s",
                none,
                "i",
                java.util.Arrays.stream(large).<Object>mapToObj(EncodersTest::big).toList(),
                "l",
                ls,
                "f",
                none,
                "d",
                ds,
                "n",
                3));
  }

  @Test
  void arraysOfAFixedLength() throws Exception {
    boolean[] z = {true, false, true};
    byte[] b = {-128, 127, 1};
    char[] c = {'\uffff'};
    short[] s = {-32768, 1};
    int[] i = {-1, 5};
    long[] l = {Long.MIN_VALUE, 6};
    float[] f = {Float.MIN_VALUE, Float.NaN};
    double[] d = {-0.0, Double.MAX_VALUE};
    List<Recording.Event> events;
    try (Recording recording = new Recording(folder.resolve("t")).on("enc")) {
      ALL.fixed(z, b, c, s, i, l, f, d, 1);
      ALL.fixed(
          new boolean[] {true},
          new byte[] {7},
          new char[] {1, 2},
          new short[] {1, 2, 3},
          new int[] {8},
          new long[9],
          new float[] {2},
          new double[] {1, 2, 3},
          2);
      ALL.fixed(null, null, null, null, null, null, null, null, 3);
      events = recording.read();
    }
    assertThat(events)
        .extracting(Recording.Event::fields)
        .containsExactly(
            fixed(
                1,
                List.of(1, 0, 1),
                List.of(-128, 127, 1),
                List.of(0xffff),
                List.of(-32768, 1),
                List.of(0xffff_ffffL, 5),
                List.of(Long.MIN_VALUE, 6),
                List.of((double) Float.MIN_VALUE, Double.NaN),
                List.of(-0.0, Double.MAX_VALUE)),
            fixed(
                2,
                List.of(1, 0, 0),
                List.of(7, 0, 0),
                List.of(1),
                List.of(1, 2),
                List.of(8, 0),
                List.of(0, 0),
                List.of(2.0, 0.0),
                List.of(1.0, 2.0)),
            fixed(
                3,
                List.of(0, 0, 0),
                List.of(0, 0, 0),
                List.of(0),
                List.of(0, 0),
                List.of(0, 0),
                List.of(0, 0),
                List.of(0.0, 0.0),
                List.of(0.0, 0.0)));
  }

  private static Map<String, Object> fixed(int n, List<?>... arrays) {
    Map<String, Object> map = new LinkedHashMap<>();
    String[] names = {"z", "b", "c", "s", "i", "l", "f", "d"};
    for (int i = 0; i < names.length; i++) {
      map.put(
          names[i],
          arrays[i].stream()
              .<Object>map(x -> x instanceof Double ? x : big(((Number) x).longValue()))
              .toList());
    }
    map.put("n", big(n));
    return map;
  }

  @Test
  void hexFieldsHaveNoSign() throws Exception {
    assertThat(point("hex").fields())
        .containsExactly(
            Field.hex("b", 8),
            Field.hex("address", 64),
            Field.sequence("all", new io.quiesce.trace.ctf.FieldType.Int(32, false, 16)));
    List<Recording.Event> events;
    try (Recording recording = new Recording(folder.resolve("t")).on("enc")) {
      ALL.hex((byte) -1, -1, new int[] {-1});
      ALL.nothing();
      events = recording.read();
    }
    assertThat(events)
        .containsExactly(
            new Recording.Event(
                "enc:hex",
                Map.of(),
                map(
                    "b",
                    255,
                    "address",
                    new BigInteger("18446744073709551615"),
                    "all",
                    List.of(big(0xffff_ffffL)))),
            new Recording.Event("enc:nothing", Map.of(), Map.of()));
  }
}
