package io.quiesce.memory;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** The JFR events of allocators; reached through {@link AllocatorEvents} only. */
final class AllocatorJfr {
  private static boolean watching;

  private AllocatorJfr() {}

  @Name("io.quiesce.AllocatorStatistics")
  @Label("Allocator statistics")
  @Description("What an off-heap allocator holds, every so often")
  @Category({"Quiesce", "Memory"})
  @StackTrace(false)
  @Period("10 s")
  static final class StatisticsEvent extends Event {
    @Label("Allocator")
    String allocator = "";

    @Label("In use")
    @DataAmount
    long inUse;

    @Label("Taken from the kernel")
    @DataAmount
    long backed;

    @Label("In caches")
    @DataAmount
    long cached;

    @Label("In transfer arrays")
    @DataAmount
    long inTransfer;

    @Label("Free in spans")
    @DataAmount
    long freeInSpans;

    @Label("Idle")
    @DataAmount
    long idle;

    @Label("Huge blocks")
    @DataAmount
    long huge;

    @Label("Returned to the kernel")
    @DataAmount
    long returned;

    @Label("Refills")
    long refills;

    @Label("Overflows")
    long overflows;
  }

  @Name("io.quiesce.AllocatorTrim")
  @Label("Allocator trim")
  @Description("Caches were emptied and pages returned to the kernel")
  @Category({"Quiesce", "Memory"})
  @StackTrace(false)
  static final class TrimEvent extends Event {
    @Label("Allocator")
    String allocator = "";

    @Label("Cause")
    @Description("trim: asked for; limit: an allocation reached it; idle: by the housekeeper")
    String cause = "";

    @Label("Blocks out of caches")
    long blocks;

    @Label("Returned to the kernel")
    @DataAmount
    long returned;

    @Label("Length")
    @Timespan
    long length;
  }

  @Name("io.quiesce.AllocatorOutOfMemory")
  @Label("Allocator out of memory")
  @Description("An allocation failed, at the limit or because the kernel has no memory")
  @Category({"Quiesce", "Memory"})
  static final class OutOfMemoryEvent extends Event {
    @Label("Allocator")
    String allocator = "";

    @Label("Wanted")
    @DataAmount
    long wanted;

    @Label("Limit")
    @DataAmount
    long limit;

    @Label("Reason")
    String reason = "";
  }

  @Name("io.quiesce.AllocatorCorruption")
  @Label("Allocator corruption")
  @Description("Wrong use of off-heap memory was found")
  @Category({"Quiesce", "Memory"})
  static final class CorruptionEvent extends Event {
    @Label("Allocator")
    String allocator = "";

    @Label("Kind")
    String kind = "";

    @Label("Address")
    @MemoryAddress
    long address;

    @Label("Size of the block")
    @DataAmount
    long bytes;

    @Label("Report")
    String report = "";
  }

  /** The hook stays for good: it finds the allocators, and holds none. */
  static synchronized void watch() {
    if (!watching) {
      FlightRecorder.addPeriodicEvent(StatisticsEvent.class, AllocatorJfr::statistics);
      watching = true;
    }
  }

  private static void statistics() {
    for (PerCpuAllocator allocator : Housekeeper.allocators()) {
      StatisticsEvent event = new StatisticsEvent();
      if (event.shouldCommit()) {
        AllocatorStatistics s = allocator.statistics();
        event.allocator = s.name();
        event.inUse = s.inUseBytes();
        event.backed = s.backedBytes();
        event.cached = s.cachedBytes();
        event.inTransfer = s.transferBytes();
        event.freeInSpans = s.freeInSpansBytes();
        event.idle = s.idleBytes();
        event.huge = s.hugeBytes();
        event.returned = s.returnedBytes();
        event.refills = s.refills();
        event.overflows = s.overflows();
        event.commit();
      }
    }
  }

  static void trim(String allocator, String cause, long blocks, long bytes, long begunNanos) {
    TrimEvent event = new TrimEvent();
    if (event.shouldCommit()) {
      event.allocator = allocator;
      event.cause = cause;
      event.blocks = blocks;
      event.returned = bytes;
      event.length = System.nanoTime() - begunNanos;
      event.commit();
    }
  }

  static void outOfMemory(String allocator, long wanted, long limit, String reason) {
    OutOfMemoryEvent event = new OutOfMemoryEvent();
    if (event.shouldCommit()) {
      event.allocator = allocator;
      event.wanted = wanted;
      event.limit = limit;
      event.reason = reason;
      event.commit();
    }
  }

  static void corruption(String allocator, String kind, long address, long bytes, String report) {
    CorruptionEvent event = new CorruptionEvent();
    if (event.shouldCommit()) {
      event.allocator = allocator;
      event.kind = kind;
      event.address = address;
      event.bytes = bytes;
      event.report = report;
      event.commit();
    }
  }
}
