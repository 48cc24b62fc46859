package io.quiesce.bench.subjects;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;

/**
 * Netty's allocators, as they are by default on this JDK, but for two things: the leak detector is
 * off, as in production, and the limit on direct memory is 2 GiB, which nothing here comes near.
 *
 * <p>By default, threads that are not Netty's have no caches in the pooled allocator. {@code
 * netty-pooled-cached} gives all threads caches, where threads live long.
 */
final class NettyHeap implements Bins.Heap {
  private final ByteBufAllocator allocator;

  private NettyHeap(ByteBufAllocator allocator) {
    this.allocator = allocator;
  }

  static Bins.Heap of(String name) {
    InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE); // not Log4j, a peer of ours
    System.setProperty("io.netty.leakDetection.level", "disabled");
    System.setProperty("io.netty.maxDirectMemory", Long.toString(2L << 30));
    return new NettyHeap(
        switch (name) {
          case "netty-pooled" -> PooledByteBufAllocator.DEFAULT;
          case "netty-pooled-cached" ->
              new PooledByteBufAllocator(
                  true,
                  PooledByteBufAllocator.defaultNumHeapArena(),
                  PooledByteBufAllocator.defaultNumDirectArena(),
                  PooledByteBufAllocator.defaultPageSize(),
                  PooledByteBufAllocator.defaultMaxOrder(),
                  PooledByteBufAllocator.defaultSmallCacheSize(),
                  PooledByteBufAllocator.defaultNormalCacheSize(),
                  true);
          case "netty-adaptive" -> new AdaptiveByteBufAllocator(true);
          case "netty-unpooled" -> UnpooledByteBufAllocator.DEFAULT;
          default -> throw new IllegalArgumentException("no allocator is called '" + name + "'");
        });
  }

  @Override
  public Bins newBins(int slots) {
    return new NettyBins(allocator, slots);
  }

  private static final class NettyBins extends Bins {
    private final ByteBufAllocator allocator;
    private final ByteBuf[] blocks;

    NettyBins(ByteBufAllocator allocator, int slots) {
      this.allocator = allocator;
      this.blocks = new ByteBuf[slots];
    }

    @Override
    void allocate(int slot, int bytes) {
      blocks[slot] = allocator.directBuffer(bytes);
    }

    /** Netty aligns nothing on request: one takes more, and uses what is aligned. */
    @Override
    void allocateAligned(int slot, int bytes, int alignment) {
      blocks[slot] = allocator.directBuffer(bytes + alignment);
    }

    @Override
    void allocateZeroed(int slot, int bytes) {
      ByteBuf block = allocator.directBuffer(bytes);
      block.setZero(0, bytes);
      blocks[slot] = block;
    }

    @Override
    void reallocate(int slot, int bytes) {
      blocks[slot].capacity(bytes);
    }

    @Override
    void free(int slot) {
      blocks[slot].release();
    }

    @Override
    void put(int slot, int index, byte value) {
      blocks[slot].setByte(index, value);
    }

    @Override
    byte get(int slot, int index) {
      return blocks[slot].getByte(index);
    }
  }
}
