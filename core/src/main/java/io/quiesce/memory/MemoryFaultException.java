package io.quiesce.memory;

/**
 * Wrong use of off-heap memory, found by the hardening mode ({@link AllocatorBuilder#hardening}).
 * The message is a report of several lines with the stacks of those who allocated the block, freed
 * it first, and freed it again.
 *
 * <p>An {@link IllegalArgumentException}, since that is what a wrong address gets in the ordinary
 * mode: who handles that one needs no other code.
 */
public final class MemoryFaultException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** What was done wrong. */
  public enum Kind {
    /** A block was freed that was free already. */
    DOUBLE_FREE,
    /** A free block was written to, or given to a method that wants a live one. */
    USE_AFTER_FREE,
    /** Bytes behind the end of a block were written. */
    OVERFLOW,
    /** Bytes before the start of a block were written. */
    UNDERFLOW,
    /** An address inside a block, or in its red zones, was given for the block. */
    INTERIOR_POINTER,
    /** An address was given where no block lies, live or in quarantine. */
    FOREIGN_POINTER
  }

  /** What was found. */
  private final Kind kind;

  /** Of the block, or of the pointer. */
  private final long address;

  /** The size that was asked for. */
  private final long bytes;

  /** The whole text. */
  private final String report;

  MemoryFaultException(Kind kind, long address, long bytes, String report) {
    super(report);
    this.kind = kind;
    this.address = address;
    this.bytes = bytes;
    this.report = report;
  }

  /**
   * What was done wrong.
   *
   * @return the kind
   */
  public Kind kind() {
    return kind;
  }

  /**
   * Where: of the block, or the address that was given if it is no block's.
   *
   * @return an address
   */
  public long address() {
    return address;
  }

  /** Of the block; 0 when there is none at the address. */
  long bytes() {
    return bytes;
  }

  /**
   * The report, which is the message too.
   *
   * @return several lines
   */
  public String report() {
    return report;
  }
}
