package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Against bit sets; no memory is behind these addresses. */
class ChunkTest {
  private final Chunk chunk = new Chunk(1L << 40);

  private static int longestRun(BitSet used) {
    int longest = 0;
    int run = 0;
    for (int p = 0; p < Chunk.PAGES; p++) {
      run = used.get(p) ? 0 : run + 1;
      longest = Math.max(longest, run);
    }
    return longest;
  }

  private static int find(BitSet used, int pages, int alignment) {
    for (int p = 0; p + pages <= Chunk.PAGES; p += alignment) {
      int next = used.nextSetBit(p);
      if (next < 0 || next >= p + pages) {
        return p;
      }
    }
    return -1;
  }

  /** The first run with memory behind it, or else the first. */
  private static int find(BitSet used, BitSet backed, int pages, int alignment) {
    BitSet notIdle = (BitSet) backed.clone();
    notIdle.andNot(used);
    notIdle.flip(0, Chunk.PAGES);
    int page = find(notIdle, pages, alignment);
    return page >= 0 ? page : find(used, pages, alignment);
  }

  private static int count(BitSet set, int page, int pages) {
    return set.get(page, page + pages).cardinality();
  }

  @Test
  void agreesWithAModel() {
    SplittableRandom random = new SplittableRandom(11);
    BitSet used = new BitSet();
    BitSet backed = new BitSet();
    for (int i = 0; i < 20_000; i++) {
      int pages = 1 + random.nextInt(random.nextInt(8) == 0 ? Chunk.PAGES : 20);
      int alignment = 1 << random.nextInt(6);
      int page = chunk.find(pages, alignment);
      assertThat(page).isEqualTo(find(used, backed, pages, alignment));
      if (page >= 0 && random.nextInt(3) != 0) {
        assertThat(chunk.unbacked(page, pages)).isEqualTo(pages - count(backed, page, pages));
        chunk.take(page, pages);
        chunk.back(page, pages);
        used.set(page, page + pages);
        backed.set(page, page + pages);
      } else {
        int from = random.nextInt(Chunk.PAGES);
        int length = Math.min(pages, Chunk.PAGES - from);
        chunk.give(from, length);
        used.clear(from, from + length);
      }
      if (random.nextInt(16) == 0) {
        discardSome(random, used, backed);
      }
      BitSet idle = (BitSet) backed.clone();
      idle.andNot(used);
      assertThat(chunk.idlePages()).isEqualTo(idle.cardinality());
      assertThat(chunk.longestRun()).isEqualTo(longestRun(used));
    }
  }

  private void discardSome(SplittableRandom random, BitSet used, BitSet backed) {
    BitSet idle = (BitSet) backed.clone();
    idle.andNot(used);
    int from = random.nextInt(Chunk.PAGES);
    int run = chunk.idleRun(from);
    int page = idle.nextSetBit(from);
    if (page < 0) {
      assertThat(run).isEqualTo(-1);
      return;
    }
    int pages = idle.nextClearBit(page) - page;
    assertThat(run).isEqualTo(page << 16 | pages);
    chunk.discarded(page, pages);
    backed.clear(page, page + pages);
  }

  @Test
  void aNewChunkIsOneRun() {
    assertThat(chunk.longestRun()).isEqualTo(Chunk.PAGES);
    assertThat(chunk.find(Chunk.PAGES, 1)).isZero();
    assertThat(chunk.unbacked(0, Chunk.PAGES)).isEqualTo(Chunk.PAGES);
    assertThat(chunk.idleRun(0)).isEqualTo(-1);
    chunk.take(0, Chunk.PAGES);
    assertThat(chunk.longestRun()).isZero();
    assertThat(chunk.find(1, 1)).isEqualTo(-1);
  }
}
