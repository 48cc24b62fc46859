package io.quiesce.memory;

import io.quiesce.memory.MemoryFaultException.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The text of a fault that the hardening mode found. */
final class FaultReport {
  private final Kind kind;
  private final long address;
  private long bytes;
  private final StringBuilder text = new StringBuilder(1_024);

  FaultReport(Kind kind, String allocator, long address) {
    this.kind = kind;
    this.address = address;
    text.append(kind).append(" in the allocator '").append(allocator).append("': ");
  }

  FaultReport say(String sentence) {
    text.append(sentence).append('\n');
    return this;
  }

  FaultReport block(HardenedBlock block, String what) {
    bytes = block.bytes;
    return say("the block of " + block.bytes + " bytes at " + hex(block.address) + " " + what);
  }

  FaultReport damage(HardenedBlock block, HardenedBlock.Damage damage) {
    long offset = damage.offset();
    text.append("  changed at offset ").append(offset);
    if (offset >= block.bytes) {
      text.append(" (").append(offset - block.bytes).append(" bytes behind the end)");
    }
    return say(", where there is now " + damage.now());
  }

  FaultReport by(String what, Traces.@Nullable Where where) {
    if (where != null) {
      text.append("  ").append(what).append(" by thread '").append(where.thread()).append("'\n");
      stack(text, where.stack());
    }
    return this;
  }

  static void stack(StringBuilder text, List<StackTraceElement> stack) {
    if (stack.isEmpty()) {
      text.append("    (no stack: there are too many different ones)\n");
    }
    for (StackTraceElement frame : stack) {
      text.append("    at ").append(frame).append('\n');
    }
  }

  MemoryFaultException exception() {
    return new MemoryFaultException(kind, address, bytes, text.toString());
  }

  static String hex(long address) {
    return "0x" + Long.toHexString(address);
  }
}
