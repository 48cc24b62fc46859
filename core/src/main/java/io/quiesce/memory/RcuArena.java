package io.quiesce.memory;

import io.quiesce.linux.MappedMemory;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import io.quiesce.rcu.Guarded;
import io.quiesce.rcu.Rcu;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An arena that any thread reads and any thread closes, and whose {@link #close()} costs its caller
 * a few stores and other threads nothing. Its memory is freed, or its file unmapped, when every
 * section that was open at the closing has ended.
 *
 * <pre>{@code
 * RcuArena index = RcuArena.map(channel, READ_ONLY, 0, channel.size());
 *
 * try (var r = index.read()) {                 // a few nanoseconds, any thread
 *   r.segment().get(JAVA_LONG, position);      // cannot be unmapped under our feet
 * }
 * index.close();                               // returns at once; read() throws from here on
 * }</pre>
 *
 * <h2>What is safe and what is not</h2>
 *
 * <p>{@link Arena#ofShared()} guards every single access: an access that comes too late throws. For
 * that its close stops every thread of the JVM for a handshake. This arena guards <em>sections</em>
 * instead: inside a section that {@link #read()} returned, everything that the arena allocated or
 * mapped is valid, even when the arena is closed meanwhile. To the JVM its segments are those of
 * {@link Arena#global()}, always alive, so that a loop over one is compiled without a look at its
 * lifetime and is never thrown out of its compiled code by a close.
 *
 * <p><b>An access outside a section is therefore checked by nobody.</b> While the arena is open it
 * works. After the grace period it reads memory that is somebody else's, or <b>crashes the JVM</b>:
 * so never keep a segment, a slice, a {@code ByteBuffer} view or an address for use after the
 * section, unless you know that the arena is open. {@link #scope()} is that of the global arena and
 * always says that it is alive; ask {@link #isClosed()}. Under {@code -Dquiesce.debug=true} an
 * access by address (see {@link OffHeap}) to freed or unmapped memory throws, and freed memory is
 * filled with 0x5b.
 *
 * <p>An arena that is dropped without {@link #close()} keeps its memory, as a shared one does.
 *
 * <h2>How it works</h2>
 *
 * <p>The arena is a {@link Guarded} list of blocks. {@code read()} opens a section and
 * <em>then</em> looks whether the guard is closed; {@code close()} marks the guard and
 * <em>then</em> asks for a grace period. So either the section's look sees the mark and throws, or
 * the section was open before the grace period looked for readers, and it waits for it (M.20):
 *
 * <pre>
 *   reader                               closer
 *   store: I am in a section     A.1     store: closed                M.20
 *   load: closed? then throw     B.1     grace period: barrier, then look for sections
 *   use the memory                       wait for each that was found
 *   store: section over          A.2     free                         G.2
 * </pre>
 *
 * <p>{@link #allocate(long, long)} is itself a reader: it opens a section, and throws if it sees
 * the arena closed. A block that it adds was therefore added before the grace period ended, and is
 * in the list that is freed then; after it nobody adds one (M.21). That is the whole proof that an
 * allocation which races with the close neither leaks nor lives too short: it throws, or its memory
 * lives until the sections that were open at the closing have ended. Its own section ends with the
 * call; to use what it returned beside a concurrent close, allocate inside {@code read()}.
 *
 * <p>All methods are safe from any thread, virtual ones included. Where reads are long use a domain
 * of one's own, so that they hold up nobody else's memory.
 */
public final class RcuArena implements Arena {
  private static final VarHandle CLOSING;

  static {
    try {
      CLOSING = MethodHandles.lookup().findVarHandle(RcuArena.class, "closing", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final Guarded<ArenaBlocks> guarded;

  /** The mapped file, if {@link #map} made this arena. */
  private final @Nullable MemorySegment mapping;

  /** Only decides which of two calls of {@link #close()} is the second. */
  @SuppressWarnings("UnusedVariable") // through CLOSING
  private boolean closing;

  private RcuArena(Rcu rcu, ArenaBlocks blocks, @Nullable MemorySegment mapping) {
    this.guarded = Guarded.of(rcu, blocks, ArenaBlocks::free);
    this.mapping = mapping;
    VarHandle.releaseFence(); // an arena may be handed over by a data race
  }

  /**
   * Makes an arena in the shared domain; its memory is as for {@link #create(Rcu)}.
   *
   * @return an open arena that owns nothing yet
   * @throws UnsupportedOperationException without native access, naming the flag
   */
  public static RcuArena create() {
    return create(Rcu.shared());
  }

  /**
   * Makes an arena in a domain of one's own: right where reads are long. Its memory comes from
   * {@link PerCpuAllocator#shared()} where there is one, else from the C heap; in the debug mode
   * from the C heap always, whose blocks it watches one by one.
   *
   * @param rcu the domain whose grace periods free the arena
   * @return an open arena that owns nothing yet
   * @throws UnsupportedOperationException without native access, naming the flag
   */
  public static RcuArena create(Rcu rcu) {
    return create(rcu, AllocatorSource.DEFAULT);
  }

  /**
   * Makes an arena with memory from an allocator of one's own, whose limit and figures then count
   * the arena's blocks.
   *
   * <p>Close the arena first, and the allocator when {@link #closed()} is complete. An allocator
   * that is closed earlier takes the arena's memory with it, under its readers; allocating from the
   * arena then throws, and closing it still works and frees nothing twice. The arena keeps the
   * allocator reachable, and an open {@link Access} keeps the arena's memory; a segment keeps
   * neither, so hold the arena in a field.
   *
   * @param rcu the domain whose grace periods free the arena
   * @param allocator where its blocks come from
   * @return an open arena that owns nothing yet
   * @throws IllegalStateException if the allocator is closed
   */
  public static RcuArena create(Rcu rcu, PerCpuAllocator allocator) {
    if (allocator.isClosed()) {
      throw new IllegalStateException("the allocator '" + allocator.name() + "' is closed");
    }
    return create(rcu, new AllocatorSource(allocator));
  }

  static RcuArena create(Rcu rcu, BlockSource source) {
    if (!OffHeap.isAvailable()) {
      throw new UnsupportedOperationException(
          "RcuArena is not available: " + Platform.reason("native"));
    }
    return new RcuArena(Objects.requireNonNull(rcu, "rcu"), new ArenaBlocks(source), null);
  }

  /**
   * Maps a range of a file, in the shared domain; see {@link #map(Rcu, FileChannel,
   * FileChannel.MapMode, long, long)}.
   *
   * @param channel an open file channel
   * @param mode {@code READ_ONLY}, {@code READ_WRITE} or {@code PRIVATE}
   * @param offset where the range begins in the file, in bytes; any, not only whole pages
   * @param size its length in bytes, 0 included
   * @return an arena that owns the mapping
   * @throws IOException if the channel is closed or the file cannot be mapped
   */
  public static RcuArena map(FileChannel channel, FileChannel.MapMode mode, long offset, long size)
      throws IOException {
    return map(Rcu.shared(), channel, mode, offset, size);
  }

  /**
   * Maps a range of a file. It is unmapped a grace period after {@link #close()}; the channel may
   * be closed at once. The segment is what {@link FileChannel#map(FileChannel.MapMode, long, long,
   * Arena)} gives: {@code force()}, {@code load()} and {@code isLoaded()} work on it, inside a
   * section; {@code READ_WRITE} beyond the end makes the file longer; {@code READ_ONLY} and {@code
   * PRIVATE} beyond the end are an {@link IOException} and leave the file alone, even when the
   * channel may write. When the file is made shorter under the mapping, an access beyond its new
   * end throws {@link InternalError}, at the access or a little later.
   *
   * <p>Costs a system call, and disk reads as pages are touched. The JVM's buffer pool {@code
   * mapped} counts what was mapped here for good, since it does not see the unmapping; {@link
   * #mappings()} says by how much.
   *
   * @param rcu the domain whose grace periods unmap the file
   * @param channel an open file channel of the default file system
   * @param mode {@code READ_ONLY}, {@code READ_WRITE} or {@code PRIVATE}
   * @param offset where the range begins in the file, in bytes; any, not only whole pages
   * @param size its length in bytes, 0 included
   * @return an arena that owns the mapping; it may be allocated from as well
   * @throws IOException if the channel is closed, or the file is too short or cannot be mapped
   * @throws java.nio.channels.NonReadableChannelException if the channel is not open for reading
   * @throws java.nio.channels.NonWritableChannelException if the mode needs a channel that is open
   *     for writing
   * @throws IllegalArgumentException for a negative offset or size, or a range that overflows
   * @throws UnsupportedOperationException without native access, naming the flag; if the system
   *     cannot unmap; if the channel is one that cannot be mapped into an arena
   */
  public static RcuArena map(
      Rcu rcu, FileChannel channel, FileChannel.MapMode mode, long offset, long size)
      throws IOException {
    Objects.requireNonNull(rcu, "rcu");
    Objects.requireNonNull(channel, "channel");
    Objects.requireNonNull(mode, "mode");
    MappedMemory.verify();
    ArenaBlocks blocks = new ArenaBlocks(AllocatorSource.DEFAULT);
    checkLength(channel, mode, offset, size);
    MemorySegment mapping = channel.map(mode, offset, size, Arena.global());
    if (!mapping.isMapped() || mapping.byteSize() != size) {
      throw new UnsupportedOperationException(
          channel.getClass().getName()
              + " does not map files; open the file with FileChannel.open");
    }
    try {
      blocks.own(mapping.address(), size);
      return new RcuArena(rcu, blocks, mapping);
    } catch (RuntimeException | Error nobodyToClose) {
      blocks.freeAfter(nobodyToClose);
      throw nobodyToClose;
    }
  }

  /**
   * The JDK makes the file longer whenever the channel may write, also for a mapping that may not.
   */
  private static void checkLength(
      FileChannel channel, FileChannel.MapMode mode, long offset, long size) throws IOException {
    if (mode != FileChannel.MapMode.READ_ONLY && mode != FileChannel.MapMode.PRIVATE) {
      return;
    }
    if (offset < 0 || size < 0 || offset > Long.MAX_VALUE - size) {
      return; // the JDK has its own words for these
    }
    long length = channel.size();
    if (offset + size > length) {
      throw new IOException(
          "cannot map " + size + " bytes at " + offset + " of a file of " + length + " bytes");
    }
  }

  /**
   * How many files {@link #map} has mapped and unmapped in this JVM. The JVM's own buffer pool
   * {@code mapped} is too high by {@link MappingStatistics#closed()} and {@link
   * MappingStatistics#closedBytes()}.
   *
   * @return a glimpse of now
   */
  public static MappingStatistics mappings() {
    long closed = ArenaBlocks.UNMAPPED.get(); // first, so that open is never negative
    long closedBytes = ArenaBlocks.UNMAPPED_BYTES.get();
    return new MappingStatistics(
        ArenaBlocks.MAPPED.get() - closed,
        ArenaBlocks.MAPPED_BYTES.get() - closedBytes,
        closed,
        closedBytes);
  }

  /**
   * Counts of mapped files.
   *
   * @param open mapped now, those included whose grace period is not over
   * @param openBytes their sizes, in bytes, summed
   * @param closed unmapped since the JVM began
   * @param closedBytes their sizes, in bytes, summed
   */
  public record MappingStatistics(long open, long openBytes, long closed, long closedBytes) {}

  /**
   * The right to use the arena's memory until it is closed; see {@link RcuArena#read()}. For the
   * thread that opened it.
   */
  public static final class Access implements AutoCloseable {
    private final Guarded.Access<ArenaBlocks> access;
    private final @Nullable MemorySegment mapping;

    Access(Guarded.Access<ArenaBlocks> access, @Nullable MemorySegment mapping) {
      this.access = access;
      this.mapping = mapping;
    }

    /**
     * The mapped range. Neither it nor a slice of it may be used after this access is closed.
     *
     * @return always the same segment
     * @throws IllegalStateException if this access was closed
     * @throws UnsupportedOperationException if the arena was not made by {@link RcuArena#map}
     */
    public MemorySegment segment() {
      access.get(); // throws if closed
      if (mapping == null) {
        throw new UnsupportedOperationException(
            "this arena maps no file; use the segments that its allocate() returned");
      }
      return mapping;
    }

    /** Ends the use. */
    @Override
    public void close() {
      try {
        access.close();
      } finally {
        // M.23, no code. Until here the blocks, and so their allocator, are reachable: segments
        // hold
        // neither, and the arena itself may be garbage inside its last section.
        Reference.reachabilityFence(access);
      }
    }
  }

  /**
   * Begins to use the arena's memory: what it has allocated or mapped stays valid until the access
   * is closed, whatever happens to the arena. Close it on the same thread, innermost first. A few
   * nanoseconds; never waits. The section is opened before the arena is looked at (M.20).
   *
   * @return the access, which is also a read section of the domain
   * @throws IllegalStateException if this arena is closed
   */
  public Access read() {
    Guarded.Access<ArenaBlocks> access = open();
    try {
      return new Access(access, mapping);
    } catch (VirtualMachineError nobodyToClose) {
      access.close();
      throw nobodyToClose;
    }
  }

  private Guarded.Access<ArenaBlocks> open() {
    try {
      return guarded.read();
    } catch (IllegalStateException closed) {
      throw guarded.isClosed() ? closedException() : closed; // our own words for it
    }
  }

  private static IllegalStateException closedException() {
    return new IllegalStateException("this arena is closed; its memory may not be used any more");
  }

  /**
   * Allocates zeroed memory that lives as long as the arena. Small segments are carved from larger
   * blocks. Lock-free; some ten nanoseconds, more when a block is needed.
   *
   * @param byteSize how many bytes, 0 or more
   * @param byteAlignment a power of two, in bytes
   * @return a segment; use it inside {@link #read()}, or while it is certain that nobody closes
   * @throws IllegalArgumentException for a negative size or an alignment that is no power of two
   * @throws IllegalStateException if this arena or its allocator is closed
   * @throws OutOfMemoryError if there is no memory; the arena is as it was
   */
  @Override
  public MemorySegment allocate(long byteSize, long byteAlignment) {
    if (byteSize < 0 || byteAlignment <= 0 || Long.bitCount(byteAlignment) != 1) {
      throw new IllegalArgumentException(
          "cannot allocate "
              + byteSize
              + " bytes aligned to "
              + byteAlignment
              + "; pass a size of 0 or more and a power of two");
    }
    try (Guarded.Access<ArenaBlocks> access = open()) { // M.21
      return OffHeap.segment(access.get().allocate(byteSize, byteAlignment), byteSize);
    }
  }

  /**
   * The scope of {@link Arena#global()}: alive even when this arena is closed. Ask {@link
   * #isClosed()}.
   *
   * @return the global scope
   */
  @Override
  public MemorySegment.Scope scope() {
    return Arena.global().scope();
  }

  /**
   * Closes the arena: from here on {@link #read()} and {@link #allocate(long, long)} throw; the
   * memory is freed when no section that began before is open any more. Never waits, and may be
   * called inside a section, whose memory stays valid until its end. Works in a closed domain, too.
   *
   * <p>As for every arena, the second close is an error, since it is usually two owners. (That
   * includes the one at the end of a try-with-resources.)
   *
   * @throws IllegalStateException if this arena is closed already
   */
  @Override
  public void close() {
    if (guarded.isClosed() || !CLOSING.compareAndSet(this, false, true)) {
      throw closedException();
    }
    boolean done = false;
    try {
      guarded.close(); // M.20
      done = true;
    } finally {
      if (!done) {
        CLOSING.setVolatile(this, false); // out of memory, or no thread for a worker: still open
      }
    }
  }

  /**
   * Closes the arena, unless it is closed already, and waits until its memory is freed. Hurries.
   * After a time-out it may be called again.
   *
   * @param limit how long to wait at most
   * @throws TimeoutException at the limit, naming the readers that it waits for; the memory will
   *     still be freed when they are done
   * @throws InterruptedException if interrupted; likewise
   * @throws ExecutionException if the memory could not be freed or the file not unmapped
   * @throws IllegalStateException inside a section of this domain or from a callback, which would
   *     wait for itself; the arena is not closed then
   */
  public void closeAndWait(Duration limit)
      throws TimeoutException, InterruptedException, ExecutionException {
    guarded.closeAndWait(limit);
  }

  /**
   * Completes when this arena was closed and its memory is freed; exceptionally if it could not be.
   * Dependent actions may run on a callback worker: keep them short.
   *
   * @return a stage of its own for each call, all completed together
   */
  public CompletionStage<@Nullable Void> closed() {
    return guarded.closed();
  }

  /**
   * Whether the arena was closed; its memory may still be in use.
   *
   * @return true once closed
   */
  public boolean isClosed() {
    return guarded.isClosed();
  }

  @Override
  public String toString() {
    return "RcuArena["
        + (isClosed() ? "closed" : "open")
        + (mapping == null ? "" : ", maps " + mapping.byteSize() + " bytes")
        + "]";
  }
}
