package io.quiesce.memory;

import io.quiesce.linux.OffHeap;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A block with red zones around it, and what is known of it. All but the final fields is guarded by
 * its monitor, and so is its memory as far as the hardening mode touches it: a block that is gone
 * may have no memory any more.
 *
 * <pre>
 *   base ... | red zone | block, exactly the size asked for | red zone |
 *                       ^ address, aligned
 * </pre>
 *
 * <p>What is known lies on the Java heap and not in a header before the block: a wild write
 * destroys no evidence, and any address at all can be looked up without touching memory.
 */
final class HardenedBlock {
  enum State {
    LIVE,
    QUARANTINED,
    /** Was live when the allocator was closed. */
    LEFT,
    GONE
  }

  /** Bytes of a red zone, or of a free block, that are not as they were left. */
  record Damage(long offset, String now) {}

  /** What a fresh block is full of, unless zeros were asked for: no small number, no address. */
  static final byte FRESH = (byte) 0xc5;

  /** What a free block is full of, as in the debug mode. */
  static final byte FREED = 0x5b;

  private static final HexFormat HEX = HexFormat.ofDelimiter(" ");
  private static final int LEAST_ZONE = 16;
  private static final int MOST_ZONE = 128;
  private static final int SHOWN = 16;
  private static final byte NOT_ZERO = 0x2d;
  private static final MemorySegment FREED_BYTES = freedBytes();

  final long base;
  final long address;
  final long bytes;
  final long footprint;
  final Traces.Where allocated;
  private final int zone;
  private final long pattern;

  Traces.@Nullable Where freed;
  State state = State.LIVE;
  boolean reported;

  /** The next younger one in quarantine, or on the way out of it; under that queue's lock. */
  @Nullable HardenedBlock next;

  HardenedBlock(
      long base, long address, long bytes, long footprint, long secret, Traces.Where allocated) {
    this.base = base;
    this.address = address;
    this.bytes = bytes;
    this.footprint = footprint;
    this.allocated = allocated;
    this.zone = zone(bytes);
    this.pattern = pattern(secret ^ address);
  }

  private static MemorySegment freedBytes() {
    byte[] bytes = new byte[1 << 16];
    Arrays.fill(bytes, FREED);
    return MemorySegment.ofArray(bytes);
  }

  /** Bytes of each red zone: the larger the block, the farther a loop may have run. */
  static int zone(long bytes) {
    return Math.clamp(bytes / 8, LEAST_ZONE, MOST_ZONE) & -LEAST_ZONE;
  }

  /**
   * What the red zones of one block are full of. It differs from block to block, so that a block
   * copied over another shows, and no byte of it is 0, the commonest byte to be written too far.
   */
  private static long pattern(long seed) {
    long x = seed * 0x9e3779b97f4a7c15L;
    x ^= x >>> 32;
    for (int i = 0; i < Long.SIZE; i += Byte.SIZE) {
      if ((byte) (x >>> i) == 0) {
        x |= (long) NOT_ZERO << i;
      }
    }
    return x;
  }

  private byte patternAt(long at) {
    return (byte) (pattern >>> ((at & 7) * Byte.SIZE));
  }

  private byte[] zoneAt(long start) {
    byte[] expected = new byte[zone];
    for (int i = 0; i < zone; i++) {
      expected[i] = patternAt(start + i);
    }
    return expected;
  }

  void paintZones() {
    OffHeap.copyFrom(zoneAt(address - zone), 0, address - zone, zone);
    OffHeap.copyFrom(zoneAt(address + bytes), 0, address + bytes, zone);
  }

  void fill(byte value) {
    OffHeap.fill(address, bytes, value);
  }

  /** Whether an address is in the block or its red zones. */
  boolean isNear(long at) {
    return Long.compareUnsigned(at - (address - zone), bytes + 2L * zone) < 0;
  }

  @Nullable Damage damageBefore() {
    return zoneDamage(address - zone, true);
  }

  @Nullable Damage damageBehind() {
    return zoneDamage(address + bytes, false);
  }

  /** The changed bytes nearest to the block: that is where the culprit came from. */
  private @Nullable Damage zoneDamage(long start, boolean fromEnd) {
    byte[] expected = zoneAt(start);
    byte[] now = new byte[zone];
    OffHeap.copyTo(start, now, 0, zone);
    int first = Arrays.mismatch(expected, now);
    if (first < 0) {
      return null;
    }
    int end = Math.min(zone, first + SHOWN);
    if (fromEnd) {
      end = zone;
      while (now[end - 1] == expected[end - 1]) {
        end--;
      }
      first = Math.max(first, end - SHOWN);
    }
    return new Damage(start + first - address, HEX.formatHex(now, first, end));
  }

  /** Bytes of a free block that are not {@link #FREED} any more. */
  @Nullable Damage damageInside() {
    for (long done = 0; done < bytes; done += FREED_BYTES.byteSize()) {
      long n = Math.min(FREED_BYTES.byteSize(), bytes - done);
      long at = OffHeap.segment(address + done, n).mismatch(FREED_BYTES.asSlice(0, n));
      if (at >= 0) {
        byte[] now = new byte[(int) Math.min(SHOWN, bytes - done - at)];
        OffHeap.copyTo(address + done + at, now, 0, now.length);
        return new Damage(done + at, HEX.formatHex(now));
      }
    }
    return null;
  }
}
