package io.quiesce.trace.reader;

import java.nio.charset.StandardCharsets;

/** Text with a NUL behind it. */
final class TextValue extends Value {
  private static final Type.Text TYPE = new Type.Text();

  private Bits source;
  private long start;
  private int length;

  TextValue(Bits source) {
    this.source = source;
  }

  @Override
  void decode(Decoder decoder) throws TraceFormatException {
    start = decoder.take(Byte.SIZE, 0) >>> 3;
    long end = decoder.bits.findNul(start, decoder.end() >>> 3);
    if (end < 0) {
      throw decoder.damaged(decoder.at, "a text has no end in its packet");
    }
    source = decoder.bits;
    length = (int) (end - start);
    decoder.at = (end + 1) << 3;
  }

  @Override
  Value copy(Bits copied) {
    TextValue copy = new TextValue(copied);
    copy.start = start;
    copy.length = length;
    return copy;
  }

  @Override
  public Type type() {
    return TYPE;
  }

  @Override
  public String asText() {
    return length == 0 ? "" : new String(source.bytes(start, length), StandardCharsets.UTF_8);
  }

  @Override
  public boolean isText() {
    return true;
  }
}
