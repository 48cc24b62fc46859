package io.quiesce.trace.ctf;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A file that grows by whole blocks: a block is in it entirely or not at all.
 *
 * <p>A block that could not be written entirely is cut off again. If even that fails, the next
 * append tries it first, and writes nothing until it works. An interrupt closes the channel of
 * whoever is writing; then the file is opened anew, the block written again, and the thread stays
 * interrupted.
 *
 * <p>A file that is no longer in its folder takes no block: nobody would find it. So a folder that
 * was deleted or moved shows at the next append, and one that is moved back is gone on with.
 *
 * <p>Not thread-safe.
 */
final class AppendFile implements Closeable {

  /** Opens the file; tests give one with a small disk behind it. */
  interface Opener {
    FileChannel open(Path path, OpenOption... options) throws IOException;
  }

  private final Path path;
  private final Opener opener;
  private final @Nullable Object key;
  private FileChannel channel;
  private long size;
  private boolean ragged;
  private boolean closed;

  private AppendFile(Path path, Opener opener, FileChannel channel) throws IOException {
    this.path = path;
    this.opener = opener;
    this.channel = channel;
    this.size = channel.size();
    this.key = keyOf(path);
  }

  /** What tells a file from another one of its name. */
  private static @Nullable Object keyOf(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  private void requirePlace() throws IOException {
    boolean there;
    try {
      there = Objects.equals(keyOf(path), key);
    } catch (NoSuchFileException _) {
      there = false;
    }
    if (!there) {
      throw new IOException(
          "it is not there any more; its folder was deleted or moved, or the file was");
    }
  }

  /** A new file. */
  static AppendFile create(Path path, Opener opener) throws IOException {
    return new AppendFile(
        path, opener, opener.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
  }

  /** A file that is there. */
  static AppendFile open(Path path) throws IOException {
    Opener opener = FileChannel::open;
    return new AppendFile(
        path, opener, opener.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  Path path() {
    return path;
  }

  /** Where the next block begins, in bytes. */
  long size() {
    return size;
  }

  /**
   * Appends the block in one write.
   *
   * @throws IOException if it is not in the file
   */
  void append(ByteBuffer block) throws IOException {
    if (closed) {
      throw new IOException("closed");
    }
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          write(block.duplicate());
          return;
        } catch (ClosedByInterruptException _) {
          interrupted |= Thread.interrupted();
          channel = opener.open(path, StandardOpenOption.WRITE);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void write(ByteBuffer block) throws IOException {
    requirePlace();
    if (ragged) {
      cut();
    }
    int length = block.remaining();
    ragged = true;
    int written;
    try {
      written = channel.write(block, size);
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      cutAfter(e);
      throw e;
    }
    if (written != length) {
      IOException e =
          new IOException("no space left, only " + written + " of " + length + " bytes fitted");
      cutAfter(e);
      throw e;
    }
    size += length;
    ragged = false;
  }

  /** Takes blocks away from the end. */
  void truncate(long wholeBlocks) throws IOException {
    size = wholeBlocks;
    ragged = true;
    cut();
  }

  private void cut() throws IOException {
    channel.truncate(size);
    ragged = false;
  }

  private void cutAfter(IOException reason) {
    try {
      cut();
    } catch (IOException e) {
      reason.addSuppressed(e);
    }
  }

  /** Reads whole bytes of a file that was opened by {@link #open}; false at its end. */
  boolean read(ByteBuffer to, long offset) throws IOException {
    long at = offset;
    while (to.hasRemaining()) {
      int read = channel.read(to, at);
      if (read < 0) {
        return false;
      }
      at += read;
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    closed = true;
    channel.close();
  }
}
