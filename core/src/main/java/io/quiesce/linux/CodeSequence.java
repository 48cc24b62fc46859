package io.quiesce.linux;

import java.util.List;
import java.util.Map;

/**
 * One sequence of machine code as it lies in memory, for people and tests to inspect. Immutable.
 *
 * <p>Source: the byte tables of this package; docs/security.md lists them all.
 */
public final class CodeSequence {
  private final CodeTable table;
  private final long address;
  private final long descriptor;
  private final byte[] bytes;
  private final Map<String, Integer> labels;
  private final List<Line> lines;

  CodeSequence(
      CodeTable table,
      long address,
      long descriptor,
      byte[] bytes,
      Map<String, Integer> labels,
      List<Line> lines) {
    this.table = table;
    this.address = address;
    this.descriptor = descriptor;
    this.bytes = bytes;
    this.labels = Map.copyOf(labels);
    this.lines = List.copyOf(lines);
  }

  /**
   * One instruction.
   *
   * @param offset from the start of the sequence, in bytes
   * @param hex its bytes, lower case, separated by spaces
   * @param size how many bytes
   * @param assembly AT&amp;T syntax; names in capitals stand for addresses known only at run time
   */
  public record Line(int offset, String hex, int size, String assembly) {}

  /**
   * Its name.
   *
   * @return for example {@code add}
   */
  public String name() {
    return table.name();
  }

  /**
   * What it does, with its C signature.
   *
   * @return one sentence
   */
  public String purpose() {
    return table.purpose();
  }

  /**
   * The table it was made from, before addresses were filled in.
   *
   * @return lines of {@code bytes | assembly} and labels
   */
  public String source() {
    return table.text();
  }

  /**
   * Where it lies.
   *
   * @return the address of its first byte
   */
  public long address() {
    return address;
  }

  /**
   * Where the kernel finds its bounds.
   *
   * @return the address of its 32-byte descriptor, or 0 if it is not restartable
   */
  public long descriptor() {
    return descriptor;
  }

  /**
   * How long it is.
   *
   * @return bytes
   */
  public int size() {
    return bytes.length;
  }

  /**
   * Its machine code.
   *
   * @return a copy
   */
  public byte[] bytes() {
    return bytes.clone();
  }

  /**
   * Where a label stands; {@code start}, {@code commit} and {@code abort} bound the restartable
   * part.
   *
   * @param label its name
   * @return offset from the start of the sequence, in bytes
   * @throws IllegalArgumentException if there is no such label
   */
  public int label(String label) {
    Integer offset = labels.get(label);
    if (offset == null) {
      throw new IllegalArgumentException("sequence '" + name() + "' has no label '" + label + "'");
    }
    return offset;
  }

  /**
   * Its instructions.
   *
   * @return in order
   */
  public List<Line> lines() {
    return lines;
  }

  /** Name and address. */
  @Override
  public String toString() {
    return name() + "@0x" + Long.toHexString(address);
  }
}
