package io.quiesce.trace.reader;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The packets of one file, one at a time: finds where each ends, and brings it into memory.
 *
 * <p>Packets up to 8 MiB are copied, so a file that becomes shorter meanwhile is no danger; larger
 * ones are mapped. Not thread-safe.
 */
final class PacketFile implements Closeable {
  private static final int MAGIC = 0xc1fc1fc1;
  private static final long COPIED = 8 << 20;
  private static final int FIRST_LOOK = 4096;

  /** What stands before the events has to be within that. */
  private static final int LAST_LOOK = 1 << 20;

  private static final long MAX_BYTES = 1L << 31;
  private static final int UUID_BYTES = 16;

  private final Path path;
  private final TraceSchema schema;
  private final FileChannel channel;
  private final long size;
  private final Bits bits = new Bits(MemorySegment.NULL, 0);
  private final Decoder decoder;
  private final EnumMap<Layout.Part, StructValue> parts = new EnumMap<>(Layout.Part.class);
  private final StructValue header;
  private MemorySegment buffer = MemorySegment.NULL;
  private @Nullable Arena mapped;
  private @Nullable StreamClass streamClass;
  private @Nullable StructValue context;
  private long next;

  /**
   * Where the packet begins, in bytes of the file; how many bytes it claims, and how many exist.
   */
  long offset;

  long claimed;
  long existing;

  /** Where its first event begins and its last one ends, in bits of the packet. */
  long firstBit;

  long endBit;

  PacketFile(Path path, TraceSchema schema) throws IOException {
    this.path = path;
    this.schema = schema;
    decoder = new Decoder(path, bits);
    header = Layout.part(Layout.Part.PACKET_HEADER, schema.packetHeader(), parts, decoder);
    channel = FileChannel.open(path, StandardOpenOption.READ);
    size = channel.size();
  }

  Path path() {
    return path;
  }

  Decoder decoder() {
    return decoder;
  }

  /** Where the packet is, or where one was sought. */
  TraceFormatException damaged(String what) {
    return new TraceFormatException(path, offset, what);
  }

  /** The class of the packets, after the first one. */
  StreamClass streamClass() {
    if (streamClass == null) {
      throw new IllegalStateException("No packet was read");
    }
    return streamClass;
  }

  StructValue context() {
    if (context == null) {
      throw new IllegalStateException("No packet was read");
    }
    return context;
  }

  /** The stream's number among those of its class, or null if it has none. */
  @Nullable NumberValue instance() {
    return header.number("stream_instance_id");
  }

  /** The packet's parts that paths in events can refer to. */
  EnumMap<Layout.Part, StructValue> parts() {
    return new EnumMap<>(parts);
  }

  /**
   * Goes to the next packet: its head is decoded, its events are in memory as far as they exist.
   *
   * @return false at the end of the file
   * @throws TraceFormatException if where it ends cannot be told; the file is at its end then
   */
  boolean next() throws IOException {
    offset = next;
    if (offset >= size) {
      return false;
    }
    // Whatever goes wrong here, there is no way to the packets behind.
    next = size;
    long rest = size - offset;
    long look = Math.min(rest, FIRST_LOOK);
    while (true) {
      load(look);
      try {
        head(look);
        break;
      } catch (TraceFormatException e) {
        if (look == rest || look >= LAST_LOOK) {
          throw e;
        }
        look = Math.min(rest, look * 16);
      }
    }
    firstBit = decoder.at;
    long packet = length("packet_size", length("content_size", rest * Byte.SIZE));
    endBit = length("content_size", packet);
    if (packet <= 0 || packet % Byte.SIZE != 0 || packet < firstBit) {
      throw damaged("a packet claims a size of " + packet + " bits");
    }
    claimed = packet / Byte.SIZE;
    if (claimed > MAX_BYTES) {
      throw damaged("a packet claims " + claimed + " bytes, and 2 GiB is what is read");
    }
    existing = Math.min(claimed, rest);
    next = offset + existing;
    if (existing > look) {
      load(existing);
    }
    return true;
  }

  /** What is wrong with the size of the content, or null. */
  @Nullable String wrongContent() {
    return endBit < firstBit || endBit > claimed * Byte.SIZE
        ? "a packet of " + claimed + " bytes claims a content of " + endBit + " bits"
        : null;
  }

  private long length(String name, long otherwise) {
    NumberValue value = context().number(name);
    return value == null ? otherwise : value.asLong();
  }

  private void head(long look) throws TraceFormatException {
    decoder.begin(offset, 0, look * Byte.SIZE);
    header.decode(decoder);
    NumberValue magic = header.number("magic");
    if (magic != null && (int) magic.asLong() != MAGIC) {
      throw damaged("no packet begins here");
    }
    uuid();
    StreamClass found = streamClassOf(header.number("stream_id"));
    if (streamClass == null) {
      context = Layout.part(Layout.Part.PACKET_CONTEXT, found.packetContext(), parts, decoder);
      streamClass = found;
    } else if (streamClass != found) {
      throw damaged("a packet belongs to another stream than the one before");
    }
    context().decode(decoder);
  }

  private void uuid() throws TraceFormatException {
    UUID expected = schema.uuid();
    if (expected != null
        && header.field("uuid") instanceof NumberListValue uuid
        && uuid.size() == UUID_BYTES) {
      for (int i = 0; i < UUID_BYTES; i++) {
        long half =
            i < Long.BYTES ? expected.getMostSignificantBits() : expected.getLeastSignificantBits();
        if ((byte) uuid.longAt(i) != (byte) (half >>> (Long.SIZE - Byte.SIZE * (1 + i % 8)))) {
          throw damaged("a packet is of another trace");
        }
      }
    }
  }

  private StreamClass streamClassOf(@Nullable NumberValue id) throws TraceFormatException {
    StreamClass found =
        id == null
            ? schema.streams().values().iterator().next()
            : schema.streams().get(id.asLong());
    if (found == null) {
      throw damaged("a packet has the unknown stream id " + (id == null ? 0 : id.asLong()));
    }
    return found;
  }

  private void load(long length) throws IOException {
    unmap();
    if (length > COPIED) {
      map(length);
      return;
    }
    if (buffer.byteSize() < length + Long.BYTES) {
      long room = Math.max(FIRST_LOOK, Long.highestOneBit(length - 1) << 1);
      buffer = Arena.ofAuto().allocate(room + Long.BYTES);
    }
    // The bytes behind let a whole word be read at the last byte.
    bits.set(buffer.asSlice(0, length + Long.BYTES));
    ByteBuffer target = buffer.asSlice(0, length).asByteBuffer();
    while (target.hasRemaining()) {
      if (channel.read(target, offset + target.position()) < 0) {
        throw damaged("the file has become shorter");
      }
    }
  }

  @SuppressWarnings("MustBeClosedChecker") // unmap() does
  private void map(long length) throws IOException {
    Arena arena = Arena.ofShared();
    mapped = arena;
    bits.set(channel.map(FileChannel.MapMode.READ_ONLY, offset, length, arena));
  }

  private void unmap() {
    if (mapped != null) {
      bits.set(MemorySegment.NULL);
      mapped.close();
      mapped = null;
    }
  }

  @Override
  public void close() throws IOException {
    unmap();
    channel.close();
  }
}
