package io.quiesce.trace.ring;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The mapped file that holds the buffers of all CPUs, as {@link RingLayout} describes it.
 *
 * <p>Space is reserved by writing zeros before anything is stored through the mapping: the words of
 * control at the start, a CPU's ring when {@link #prepare} is called for it. So a file system that
 * is full gives an {@link IOException} here, and no SIGBUS at a store.
 *
 * <p>The mapping goes when the last reference to it is gone, not at {@link #close}: a producer that
 * was in the middle of an event when the session ended stores into memory that still is there. This
 * is why the hot path needs no read-side critical section of its own.
 *
 * <p>The file is locked as long as it is open, which is how recovery tells a dead program's file
 * from a living one's. A lock of Linux goes when its process closes any descriptor of the file, so
 * there is one descriptor only, and who asks for a file that this process has open is refused
 * before it is opened again; and since an interrupt closes the channel of whoever is writing, space
 * is reserved through the {@link RandomAccessFile}, which an interrupt leaves alone.
 */
final class RingMemory implements AutoCloseable {
  private static final int CHUNK = 1 << 16;
  private static final int FAULT_AROUND = 1 << 16;
  private static final int PAGE = 1 << 12;

  /** Device and inode of each file that this process has open, whatever its name. */
  private static final Set<Object> LIVE = ConcurrentHashMap.newKeySet();

  private final Path file;
  private final Object key;
  private final RandomAccessFile open;
  private final MemorySegment memory;
  private final RingGeometry geometry;
  private final boolean writable;
  private boolean closed;

  private RingMemory(
      Path file,
      Object key,
      RandomAccessFile open,
      MemorySegment memory,
      RingGeometry geometry,
      boolean writable) {
    this.file = file;
    this.key = key;
    this.open = open;
    this.memory = memory;
    this.geometry = geometry;
    this.writable = writable;
    Store.register(memory);
  }

  /**
   * A new file, its control words stored and every row closed.
   *
   * @throws IOException in one sentence if it cannot be made or there is no space
   */
  static RingMemory create(Path file, RingGeometry geometry, int stamps) throws IOException {
    boolean interrupted = Thread.interrupted(); // locking and mapping would close the file
    try {
      Files.createFile(file);
      try {
        return fill(file, geometry, stamps);
      } catch (IOException e) {
        Files.deleteIfExists(file);
        throw e;
      }
    } catch (IOException e) {
      throw new IOException(
          "The trace buffers "
              + file
              + " cannot be made ("
              + (e.getClass() == IOException.class ? e.getMessage() : e)
              + "); choose another folder or a smaller budget",
          e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static RingMemory fill(Path file, RingGeometry geometry, int stamps) throws IOException {
    return claimed(
        file,
        (key, open) -> {
          FileChannel channel = open.getChannel();
          if (channel.tryLock() == null) {
            throw new IOException("another program has locked it");
          }
          zero(open, 0, geometry.buffersAt());
          MemorySegment memory =
              channel.map(FileChannel.MapMode.READ_WRITE, 0, geometry.fileBytes(), Arena.ofAuto());
          RingMemory ring = new RingMemory(file, key, open, memory, geometry, true);
          ring.initialise(stamps);
          return ring;
        });
  }

  /** Makes the rings of an open file. */
  private interface Maker {
    RingMemory make(Object key, RandomAccessFile open) throws IOException;
  }

  /** Opens a file that this process does not have open yet, and gives it back if that fails. */
  private static RingMemory claimed(Path file, Maker maker) throws IOException {
    Object key = claim(file);
    RandomAccessFile open = null;
    RingMemory made = null;
    try {
      open = new RandomAccessFile(file.toFile(), "rw");
      made = maker.make(key, open);
      return made;
    } finally {
      if (made == null) {
        release(key, open);
      }
    }
  }

  private static Object claim(Path file) throws IOException {
    Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    key = key == null ? file.toRealPath() : key;
    if (!LIVE.add(key)) {
      throw stillRuns(file);
    }
    return key;
  }

  private static void release(Object key, @Nullable RandomAccessFile open) throws IOException {
    try (open) {
      // Closed first: who comes then opens what nobody has locked.
    } finally {
      LIVE.remove(key);
    }
  }

  private static IOException stillRuns(Path file) {
    return new IOException(
        "The program that traces into " + file + " still runs; end it, or take a snapshot");
  }

  /**
   * Opens what a program left.
   *
   * @throws IOException in one sentence if it still runs, or if this is no such file
   */
  static RingMemory open(Path file) throws IOException {
    return claimed(
        file,
        (key, open) -> {
          FileChannel channel = open.getChannel();
          if (!lock(channel)) {
            throw stillRuns(file);
          }
          if (channel.size() < RingLayout.HEADER_BYTES) {
            throw new IOException(file + " is no file of trace buffers: it is too short");
          }
          MemorySegment header =
              channel.map(
                  FileChannel.MapMode.READ_ONLY, 0, RingLayout.HEADER_BYTES, Arena.ofAuto());
          RingGeometry geometry = RingGeometry.read(file, header, channel.size());
          MemorySegment memory =
              channel.map(FileChannel.MapMode.READ_WRITE, 0, geometry.fileBytes(), Arena.ofAuto());
          return new RingMemory(file, key, open, memory, geometry, false);
        });
  }

  private static boolean lock(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException _) {
      return false; // this very process
    }
  }

  private void initialise(int stamps) {
    geometry.write(memory);
    memory.set(ValueLayout.JAVA_INT, RingLayout.STAMP_AT, stamps);
    memory.set(ValueLayout.JAVA_LONG, RingLayout.PID_AT, ProcessHandle.current().pid());
    long table = RingLayout.TABLE_AT;
    memory.set(ValueLayout.JAVA_INT, table + RingLayout.TABLE_ROWS, geometry.rows());
    memory.set(ValueLayout.JAVA_LONG, table + RingLayout.TABLE_SUB_MASK, geometry.subMask());
    memory.set(ValueLayout.JAVA_LONG, table + RingLayout.TABLE_RING_MASK, geometry.ringMask());
    for (int row = 0; row < geometry.rows(); row++) {
      long at = RingLayout.rowAt(row);
      memory.set(ValueLayout.JAVA_INT, at + RingLayout.CLOSED, RingLayout.NOT_READY);
      memory.set(ValueLayout.JAVA_LONG, at + RingLayout.ADDRESS, base() + geometry.ringAt(row));
      memory.set(ValueLayout.JAVA_LONG, at + RingLayout.BEGUN, -1);
      // Before the first record, the last one is a word that says committed.
      memory.set(ValueLayout.JAVA_LONG, at + RingLayout.LAST, base() + at + RingLayout.SETTLED);
      memory.set(ValueLayout.JAVA_INT, at + RingLayout.SETTLED, RingLayout.COMMITTED);
    }
  }

  /**
   * Reserves the space of a CPU's ring; its row is opened by the caller. One thread at a time. An
   * interrupt neither stops it nor is lost.
   *
   * @throws IOException if there is no space
   */
  void prepare(int row) throws IOException {
    zero(open, geometry.ringAt(row), geometry.ringBytes());
    touch(geometry.ringAt(row), geometry.ringBytes());
  }

  /** Lets the kernel map the pages now, sixteen with each fault, instead of one by one later. */
  private void touch(long offset, long bytes) {
    for (long at = 0; at < bytes; at += FAULT_AROUND) {
      int _ = Store.getIntAcquire(memory, base() + offset + at);
    }
  }

  /**
   * Stores into each page of a CPU's ring that nobody has used yet. In a virtual machine the first
   * store through a mapping may cost microseconds even where the page is mapped: 37 ns for each
   * event of the first lap, measured.
   */
  void store(int row) {
    for (long at = 0; at < geometry.ringBytes(); at += PAGE) {
      Store.putInt(memory, base() + geometry.ringAt(row) + at, 0);
    }
  }

  private static void zero(RandomAccessFile open, long at, long bytes) throws IOException {
    byte[] zeros = new byte[(int) Math.min(bytes, CHUNK)];
    open.seek(at);
    for (long done = 0; done < bytes; done += zeros.length) {
      open.write(zeros, 0, (int) Math.min(zeros.length, bytes - done));
    }
  }

  /** What {@link Store} wants. */
  MemorySegment memory() {
    return memory;
  }

  /** Where the file begins: an address, or 0. */
  long base() {
    return Store.RAW ? memory.address() : 0;
  }

  RingGeometry geometry() {
    return geometry;
  }

  /** The code of {@link Stamps#TSC} or {@link Stamps#NANOS}. */
  int stamps() {
    return memory.get(ValueLayout.JAVA_INT, RingLayout.STAMP_AT);
  }

  Path file() {
    return file;
  }

  /** Deletes the file; the mapping stays while somebody holds it. */
  void delete() throws IOException {
    Files.deleteIfExists(file);
  }

  boolean isWritable() {
    return writable;
  }

  /** Closes the file and gives the lock back; the mapping stays while somebody holds it. */
  @Override
  public synchronized void close() throws IOException {
    if (!closed) {
      closed = true;
      release(key, open);
    }
  }
}
