package io.quiesce.trace.ctf;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * The packets of one CPU in their file, and the index beside it.
 *
 * <p>The file holds whole packets at any time, since each is one write; the index entry follows, so
 * that a reader never finds an entry without its packet. When the disk is full the packet is not
 * there, the files are as before, and the next packet is tried in its turn: its sequence number
 * tells readers that one is missing.
 *
 * <p>Not thread-safe.
 */
public final class StreamFile implements Closeable {
  private static final String INDEX_FOLDER = "index";
  private static final int INDEX_MAGIC = 0xc1f1dcc1;
  private static final int INDEX_MAJOR = 1;
  private static final int INDEX_MINOR = 1;
  private static final int INDEX_HEADER_BYTES = 16;
  static final int INDEX_ENTRY_BYTES = 72;

  private final AppendFile packets;
  private final AppendFile index;
  private long sequence = -1;
  private long end;

  private StreamFile(AppendFile packets, AppendFile index) {
    this.packets = packets;
    this.index = index;
  }

  /**
   * Makes the empty files of a CPU, and the index folder if there is none.
   *
   * @param folder of the trace, which exists
   * @throws IOException with the reason in one sentence if that fails
   */
  public static StreamFile create(Path folder, int cpu) throws IOException {
    return create(folder, cpu, FileChannel::open);
  }

  /**
   * As {@link #create(Path, int)}, if the folder still has this trace's metadata: without it, or
   * beside another trace's, nobody could read what is written.
   *
   * @param trace the trace's uuid
   * @throws IOException with the reason in one sentence if it has not, or if that fails
   */
  public static StreamFile create(Path folder, int cpu, UUID trace) throws IOException {
    if (!Metadata.isOf(folder, trace)) {
      throw new IOException(
          "The stream file "
              + folder.resolve(nameOf(cpu))
              + " cannot be made: the trace is not there any more; its folder was deleted or moved");
    }
    return create(folder, cpu);
  }

  static StreamFile create(Path folder, int cpu, AppendFile.Opener opener) throws IOException {
    Path file = folder.resolve(nameOf(cpu));
    try {
      Path indexFile = indexOf(file);
      makeFolder(folder.resolve(INDEX_FOLDER));
      AppendFile packets = AppendFile.create(file, opener);
      try {
        return withIndex(packets, indexFile, opener);
      } catch (IOException e) {
        Files.deleteIfExists(file);
        throw e;
      }
    } catch (IOException e) {
      throw new IOException("The stream file " + file + " cannot be made: " + reason(e), e);
    }
  }

  /** Makes the index folder, and not the one that it is in: that one was deleted if it is gone. */
  private static void makeFolder(Path index) throws IOException {
    if (!Files.isDirectory(index)) {
      Files.createDirectory(index);
    }
  }

  private static StreamFile withIndex(AppendFile packets, Path indexFile, AppendFile.Opener opener)
      throws IOException {
    try {
      AppendFile index = AppendFile.create(indexFile, opener);
      try {
        index.append(indexHeader());
        return new StreamFile(packets, index);
      } catch (IOException e) {
        index.close();
        Files.deleteIfExists(indexFile); // so that the next try finds nothing in its way
        throw e;
      }
    } catch (IOException e) {
      packets.close();
      throw e;
    }
  }

  /**
   * Opens the files of a CPU that a killed program left: cuts off what is no whole packet of this
   * trace, and writes the index anew, whatever was in it.
   *
   * <p>Zeros, half a packet, a packet that was not closed, one of another trace, and one that
   * begins before the packet in front of it ends are where the file ends. Events are not looked at.
   *
   * @param trace from {@link Metadata#recover}
   * @throws IOException with the reason in one sentence if that fails
   */
  public static StreamFile recover(Path folder, int cpu, UUID trace) throws IOException {
    Path file = folder.resolve(nameOf(cpu));
    try {
      Path indexFile = indexOf(file);
      makeFolder(folder.resolve(INDEX_FOLDER));
      Files.deleteIfExists(indexFile);
      StreamFile stream = withIndex(AppendFile.open(file), indexFile, FileChannel::open);
      try {
        stream.packets.truncate(stream.wholePackets(trace));
      } catch (IOException e) {
        stream.close();
        throw e;
      }
      return stream;
    } catch (IOException e) {
      throw new IOException("The stream file " + file + " cannot be recovered: " + reason(e), e);
    }
  }

  private long wholePackets(UUID trace) throws IOException {
    MemorySegment start = MemorySegment.ofArray(new byte[PacketLayout.EVENTS_AT]);
    long offset = 0;
    while (packets.read(start.asByteBuffer(), offset)) {
      long size = PacketLayout.sizeOf(start);
      if (size < 0
          || size > packets.size() - offset
          || !PacketLayout.traceOf(start).equals(trace)
          || start.get(Bytes.LONG, PacketLayout.BEGIN_AT) < end) {
        break;
      }
      index.append(indexEntry(start, offset));
      remember(start);
      offset += size;
    }
    return offset;
  }

  /** Whether a CPU has a stream file. */
  public static boolean exists(Path folder, int cpu) {
    return Files.exists(folder.resolve(nameOf(cpu)));
  }

  /** The name of a CPU's stream file. */
  public static String nameOf(int cpu) {
    return "channel0_" + cpu;
  }

  private static Path indexOf(Path file) {
    return file.resolveSibling(INDEX_FOLDER).resolve(file.getFileName() + ".idx");
  }

  /**
   * Adds a packet.
   *
   * @param packet whole, as {@link PacketWriter#close} returned it; its memory is free again
   *     afterwards
   * @throws IOException with the reason in one sentence if the packet is not in the file; later
   *     packets may be
   * @throws IllegalArgumentException if this is not a whole packet
   */
  public void append(MemorySegment packet) throws IOException {
    if (PacketLayout.sizeOf(packet) != packet.byteSize()) {
      throw new IllegalArgumentException("Not a whole packet of " + packet.byteSize() + " bytes");
    }
    long offset = packets.size();
    try {
      packets.append(packet.asByteBuffer());
      appendEntry(packet, offset);
      remember(packet);
    } catch (IOException e) {
      throw new IOException(
          "A packet of "
              + packet.byteSize()
              + " bytes could not be written to "
              + packets.path()
              + ": "
              + reason(e),
          e);
    }
  }

  private void appendEntry(MemorySegment packet, long offset) throws IOException {
    try {
      index.append(indexEntry(packet, offset));
    } catch (IOException e) {
      try {
        packets.truncate(offset);
      } catch (IOException again) {
        e.addSuppressed(again);
      }
      throw e;
    }
  }

  private void remember(MemorySegment packet) {
    sequence = packet.get(Bytes.LONG, PacketLayout.SEQUENCE_AT);
    end = packet.get(Bytes.LONG, PacketLayout.END_AT);
  }

  /** The number of the last packet, or -1 if there is none. */
  public long lastSequence() {
    return sequence;
  }

  /** When the last packet ends, in ticks; 0 if there is none. */
  public long lastEnd() {
    return end;
  }

  /** Bytes in the file. */
  public long size() {
    return packets.size();
  }

  @Override
  public void close() throws IOException {
    try (packets;
        index) {
      // Both are closed, whatever the first one says.
    }
  }

  private static String reason(IOException e) {
    String message = e.getMessage();
    return message == null
        ? e.getClass().getSimpleName()
        : e.getClass() == IOException.class ? message : e.toString();
  }

  private static ByteBuffer indexHeader() {
    return ByteBuffer.allocate(INDEX_HEADER_BYTES)
        .putInt(INDEX_MAGIC)
        .putInt(INDEX_MAJOR)
        .putInt(INDEX_MINOR)
        .putInt(INDEX_ENTRY_BYTES)
        .flip();
  }

  private static ByteBuffer indexEntry(MemorySegment packet, long offset) {
    return ByteBuffer.allocate(INDEX_ENTRY_BYTES)
        .putLong(offset)
        .putLong(packet.get(Bytes.LONG, PacketLayout.SIZE_AT))
        .putLong(packet.get(Bytes.LONG, PacketLayout.CONTENT_AT))
        .putLong(packet.get(Bytes.LONG, PacketLayout.BEGIN_AT))
        .putLong(packet.get(Bytes.LONG, PacketLayout.END_AT))
        .putLong(packet.get(Bytes.LONG, PacketLayout.DISCARDED_AT))
        .putLong(Integer.toUnsignedLong(packet.get(Bytes.INT, PacketLayout.STREAM_AT)))
        .putLong(packet.get(Bytes.LONG, PacketLayout.INSTANCE_AT))
        .putLong(packet.get(Bytes.LONG, PacketLayout.SEQUENCE_AT))
        .flip();
  }
}
