package io.quiesce.trace.ctf;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Little-endian values at any address: what a trace is made of, whatever the machine is. */
final class Bytes {
  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Bytes() {}
}
