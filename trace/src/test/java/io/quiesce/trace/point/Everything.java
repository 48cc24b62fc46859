package io.quiesce.trace.point;

import io.quiesce.trace.Tracepoint;
import io.quiesce.trace.TracepointEnabled;
import io.quiesce.trace.TracepointField;
import io.quiesce.trace.TracepointProvider;
import io.quiesce.trace.Tracepoints;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.NullUnmarked;

/** Tracepoints with all kinds of fields. */
@NullUnmarked
@TracepointProvider("enc")
interface Everything {
  @Tracepoint
  void numbers(boolean z, byte b, char c, short s, int i, long l, float f, double d, Side side);

  @Tracepoint
  void texts(String a, int between, String b, long behind);

  @Tracepoint
  void arrays(
      boolean[] z, byte[] b, char[] c, short[] s, int[] i, long[] l, float[] f, double[] d, int n);

  @Tracepoint
  void fixed(
      @TracepointField(length = 3) boolean[] z,
      @TracepointField(length = 3) byte[] b,
      @TracepointField(length = 1) char[] c,
      @TracepointField(length = 2) short[] s,
      @TracepointField(length = 2, hex = true) int[] i,
      @TracepointField(length = 2) long[] l,
      @TracepointField(length = 2) float[] f,
      @TracepointField(length = 2) double[] d,
      int n);

  @Tracepoint
  void hex(
      @TracepointField(hex = true) byte b,
      @TracepointField(hex = true, name = "address") long l,
      @TracepointField(hex = true) int[] all);

  @Tracepoint
  void nothing();

  @Tracepoint
  void small(int a, int b);

  @Tracepoint
  void order(long id, String symbol);

  @TracepointEnabled("small")
  boolean isSmall();

  Everything ALL = Tracepoints.of(MethodHandles.lookup(), Everything.class);

  /** An enum with a constant that is a class of its own. */
  enum Side {
    BUY,
    SELL {
      @Override
      public String toString() {
        return "not the name";
      }
    }
  }
}
