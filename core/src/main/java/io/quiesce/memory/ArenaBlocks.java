package io.quiesce.memory;

import io.quiesce.linux.MappedMemory;
import io.quiesce.linux.OffHeap;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What an arena owns: chunks that small segments are carved from, large blocks, and perhaps a
 * mapped file. Freed as one.
 *
 * <p>Chunks begin at {@value #FIRST} bytes and double up to {@value #LARGEST}, so that an arena
 * with one small segment costs one small block, and one with many costs few. The newest chunk leads
 * a list; carving is a compare-and-set of its fill, a new chunk one of the list's head. A thread
 * that loses the latter gives its fresh chunk back. What does not fit any more is left at a chunk's
 * end; blocks above a quarter of the largest chunk have an allocation of their own, so that no more
 * than that is ever left.
 *
 * <p>Nothing here knows about closing: {@link #allocate} is called inside a section that saw the
 * arena open, {@link #free} a grace period after it was closed, so that the two never meet (M.21).
 * A chunk's bytes are zero when the head shows it (M.22), and no byte is handed out twice.
 */
final class ArenaBlocks {
  /** Size of the first chunk, in bytes. */
  static final int FIRST = 512;

  /** Size of the largest chunk, in bytes. */
  static final int LARGEST = 64 << 10;

  /** Small segments are carved, in bytes; what is larger gets a block of its own. */
  private static final int CARVED = LARGEST / 4;

  /** Two chunks share no cache line, and most alignments that are asked for need no padding. */
  private static final int CHUNK_ALIGNMENT = 64;

  private static final VarHandle CHUNKS;
  private static final VarHandle LARGE;
  private static final VarHandle USED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      CHUNKS = lookup.findVarHandle(ArenaBlocks.class, "chunks", Block.class);
      LARGE = lookup.findVarHandle(ArenaBlocks.class, "large", Block.class);
      USED = lookup.findVarHandle(Block.class, "used", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** For {@link RcuArena#mappings()}: files and bytes, ever mapped and ever unmapped. */
  static final AtomicLong MAPPED = new AtomicLong();

  static final AtomicLong MAPPED_BYTES = new AtomicLong();
  static final AtomicLong UNMAPPED = new AtomicLong();
  static final AtomicLong UNMAPPED_BYTES = new AtomicLong();

  private static final class Block {
    final long address;
    final long bytes;

    /** What was there before; written before the block is published. */
    @Nullable Block next;

    /** How much is handed out, in bytes; only grows. */
    private long used;

    Block(long address, long bytes) {
      this.address = address;
      this.bytes = bytes;
    }

    /** The address of a free piece, which is the caller's now, or 0. */
    long carve(long size, long alignment) {
      while (true) {
        long before = (long) USED.getOpaque(this);
        long start = ((address + before + alignment - 1) & -alignment) - address;
        if (start < 0 || start > bytes - size) {
          return 0;
        }
        if (USED.compareAndSet(this, before, start + size)) {
          return address + start;
        }
      }
    }
  }

  private final BlockSource source;
  private @Nullable Block chunks;
  private @Nullable Block large;
  private long mapped;
  private long mappedBytes;

  ArenaBlocks(BlockSource source) {
    this.source = source;
  }

  /** Takes over a mapping; before anybody else sees this object. */
  void own(long address, long bytes) {
    if (bytes > 0) { // the JDK maps nothing for an empty range
      mapped = address;
      mappedBytes = bytes;
      MAPPED.getAndIncrement();
      MAPPED_BYTES.getAndAdd(bytes);
      OffHeap.register(address, bytes);
    }
  }

  /**
   * Zeroed memory that lives until {@link #free}.
   *
   * @throws OutOfMemoryError if the source has none
   */
  long allocate(long bytes, long alignment) {
    long size = Math.max(1, bytes); // every segment has an address of its own
    if (size > CARVED || alignment > CARVED) {
      return push(LARGE, take(size, alignment), (Block) LARGE.getOpaque(this), true).address;
    }
    while (true) {
      Block head = (Block) CHUNKS.getAcquire(this); // M.22
      if (head != null) {
        long address = head.carve(size, alignment);
        if (address != 0) {
          return address;
        }
      }
      long next = head == null ? FIRST : Math.min(head.bytes * 2, LARGEST);
      push(CHUNKS, take(Math.max(next, size), Math.max(alignment, CHUNK_ALIGNMENT)), head, false);
    }
  }

  private Block take(long bytes, long alignment) {
    long address = source.allocate(bytes, alignment);
    try {
      return new Block(address, bytes);
    } catch (VirtualMachineError noRecord) {
      source.free(address, bytes);
      throw noRecord;
    }
  }

  /**
   * Puts a block before the head that was seen. When another was faster it insists, or gives the
   * block back.
   */
  private Block push(VarHandle list, Block block, @Nullable Block seen, boolean insist) {
    @Nullable Block head = seen;
    while (true) {
      block.next = head;
      if (list.compareAndSet(this, head, block)) { // M.22
        return block;
      }
      if (!insist) {
        source.free(block.address, block.bytes);
        return block;
      }
      head = (Block) list.getOpaque(this);
    }
  }

  /** Gives everything back. Once, when nobody can see any of it; plain accesses (M.21). */
  void free() {
    Throwable thrown = unmap();
    thrown = free(chunks, thrown);
    thrown = free(large, thrown);
    chunks = null;
    large = null;
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    }
  }

  /** For a maker that failed: what the freeing throws goes with the failure. */
  void freeAfter(Throwable failure) {
    try {
      free();
    } catch (RuntimeException | Error also) {
      if (also != failure) {
        failure.addSuppressed(also);
      }
    }
  }

  private @Nullable Throwable unmap() {
    long address = mapped;
    long bytes = mappedBytes;
    if (bytes == 0) {
      return null;
    }
    mappedBytes = 0; // whatever happens now: never twice
    try {
      try {
        OffHeap.unregister(address); // first: the address may be somebody else's right afterwards
      } finally {
        MappedMemory.unmap(address, bytes);
        UNMAPPED.getAndIncrement();
        UNMAPPED_BYTES.getAndAdd(bytes);
      }
      return null;
    } catch (Throwable refused) {
      return refused;
    }
  }

  /** One block that cannot be freed does not keep the others; the first failure is told. */
  private @Nullable Throwable free(@Nullable Block first, @Nullable Throwable before) {
    @Nullable Throwable thrown = before;
    for (Block block = first; block != null; block = block.next) {
      try {
        source.free(block.address, block.bytes);
      } catch (Throwable refused) {
        thrown = thrown == null ? refused : thrown;
      }
    }
    return thrown;
  }
}
