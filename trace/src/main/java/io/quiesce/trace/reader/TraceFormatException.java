package io.quiesce.trace.reader;

import java.io.IOException;
import java.io.Serial;
import java.nio.file.Path;

/**
 * A trace, or a part of it, is not what the format allows, and where.
 *
 * <p>The message is one sentence with the file and the byte, for people.
 */
public final class TraceFormatException extends IOException {
  @Serial private static final long serialVersionUID = 1;

  /** The offset where no byte of the file can be named. */
  public static final long NOWHERE = -1;

  private final String file;
  private final long offset;

  /**
   * An exception.
   *
   * @param file the damaged file, or the folder that holds no trace
   * @param offset in bytes from the file's start, or {@link #NOWHERE}
   * @param what a sentence's second half, without the stop
   */
  TraceFormatException(Path file, long offset, String what) {
    super(file + (offset < 0 ? ": " : ", byte " + offset + ": ") + what + ".");
    this.file = file.toString();
    this.offset = offset;
  }

  /** The file, or the folder that holds no trace. */
  public Path file() {
    return Path.of(file);
  }

  /** Bytes from the file's start, or {@link #NOWHERE}. */
  public long offset() {
    return offset;
  }
}
