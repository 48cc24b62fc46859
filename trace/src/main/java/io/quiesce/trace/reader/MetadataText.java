package io.quiesce.trace.reader;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The text of a metadata file: as it is, or, as LTTng writes it, in packets.
 *
 * <pre>
 *   u32 magic 75d11d57 | u8[16] uuid | u32 checksum | u32 content_size, u32 packet_size in bits
 *   u8 compression | u8 encryption | u8 checksum scheme | u8 major | u8 minor | text | padding
 * </pre>
 *
 * <p>The packets' byte order is told by the magic.
 */
final class MetadataText {
  /** More would not be a description but the trace; also what a program can hold in memory. */
  static final long MAX_BYTES = 256L << 20;

  private static final int MAGIC = 0x75d11d57;
  private static final int HEADER_BYTES = 37;
  private static final int CONTENT_AT = 24;
  private static final int SIZE_AT = 28;
  private static final int SCHEMES_AT = 32;
  static final byte RECORD_SEPARATOR = 0x1e;

  private final Path file;
  private final byte[] bytes;

  /** Where in the file a part of the text begins, by its place in the text. */
  private final TreeMap<Integer, Long> parts = new TreeMap<>();

  private MetadataText(Path file, byte[] text) {
    this.file = file;
    this.bytes = text;
  }

  /**
   * Reads the file.
   *
   * @param damage gets what is wrong with a packet; what came before it is then the text, unless it
   *     throws
   */
  static MetadataText read(Path file, Damage damage) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new TraceFormatException(file, TraceFormatException.NOWHERE, "this is not a file");
    }
    if (Files.size(file) > MAX_BYTES) {
      throw new TraceFormatException(
          file, MAX_BYTES, "metadata of more than " + (MAX_BYTES >> 20) + " MiB is not read");
    }
    return of(file, Files.readAllBytes(file), damage);
  }

  static MetadataText of(Path file, byte[] content, Damage damage) throws TraceFormatException {
    ByteBuffer buffer = ByteBuffer.wrap(content);
    if (content.length >= Integer.BYTES) {
      for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
        if (buffer.order(order).getInt(0) == MAGIC) {
          return unpacked(file, content, buffer, damage);
        }
      }
    }
    MetadataText text = new MetadataText(file, content);
    text.parts.put(0, 0L);
    return text;
  }

  private static MetadataText unpacked(Path file, byte[] content, ByteBuffer packets, Damage damage)
      throws TraceFormatException {
    ByteArrayOutputStream text = new ByteArrayOutputStream(content.length);
    List<Map.Entry<Integer, Long>> parts = new ArrayList<>();
    int at = 0;
    while (at < packets.capacity()) {
      String wrong = wrong(packets, at);
      if (!wrong.isEmpty()) {
        damage.found(new TraceFormatException(file, at, wrong));
        break;
      }
      parts.add(Map.entry(text.size(), (long) at + HEADER_BYTES));
      int used = Integer.divideUnsigned(packets.getInt(at + CONTENT_AT), Byte.SIZE);
      text.write(content, at + HEADER_BYTES, used - HEADER_BYTES);
      at += Integer.divideUnsigned(packets.getInt(at + SIZE_AT), Byte.SIZE);
    }
    MetadataText whole = new MetadataText(file, text.toByteArray());
    parts.forEach(part -> whole.parts.put(part.getKey(), part.getValue()));
    return whole;
  }

  private static String wrong(ByteBuffer packets, int at) {
    int left = packets.capacity() - at;
    if (left < HEADER_BYTES) {
      return "the file ends within a header of metadata";
    }
    if (packets.getInt(at) != MAGIC) {
      return "no packet of metadata begins here";
    }
    long content = Integer.toUnsignedLong(packets.getInt(at + CONTENT_AT));
    long size = Integer.toUnsignedLong(packets.getInt(at + SIZE_AT));
    if (packets.get(at + SCHEMES_AT) != 0
        || packets.get(at + SCHEMES_AT + 1) != 0
        || packets.get(at + SCHEMES_AT + 2) != 0) {
      return "compressed, encrypted or checked metadata is not read";
    }
    if (content % Byte.SIZE != 0
        || size % Byte.SIZE != 0
        || content < (long) HEADER_BYTES * Byte.SIZE
        || size < content) {
      return "a packet of metadata claims " + content + " of " + size + " bits";
    }
    return size > (long) left * Byte.SIZE
        ? "a packet of metadata claims " + size / Byte.SIZE + " bytes, of which " + left + " exist"
        : "";
  }

  /** Whether this is CTF 2, which begins with a record separator, rather than 1.8. */
  boolean isFragments() {
    return bytes.length > 0 && bytes[0] == RECORD_SEPARATOR;
  }

  byte[] bytes() {
    return bytes;
  }

  /** An exception that names the file's byte at a place in the text. */
  TraceFormatException damaged(int place, String what) {
    Map.Entry<Integer, Long> part = parts.floorEntry(place);
    long offset = part == null ? place : part.getValue() + (place - part.getKey());
    return new TraceFormatException(file, offset, what);
  }
}
