package io.quiesce.trace.ctf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/**
 * Files on a disk of few bytes: a write that exceeds them is short, one that finds none free fails,
 * as with Linux.
 */
final class SmallDisk implements AppendFile.Opener {
  /** What may still be written. */
  long free;

  /** Whether cutting files off fails as well. */
  boolean broken;

  /** How many writes are interrupted, which closes the channel. */
  int interrupts;

  SmallDisk(long free) {
    this.free = free;
  }

  @Override
  public FileChannel open(Path path, OpenOption... options) throws IOException {
    return new Channel(FileChannel.open(path, options));
  }

  private final class Channel extends FileChannel {
    private final FileChannel file;

    Channel(FileChannel file) {
      this.file = file;
    }

    @Override
    public int write(ByteBuffer from, long position) throws IOException {
      if (interrupts > 0) {
        interrupts--;
        Thread.currentThread().interrupt();
        return file.write(from, position);
      }
      long old = file.size();
      int fits = Math.clamp(free + old - position, 0, from.remaining());
      if (fits == 0) {
        throw new IOException("No space left on device");
      }
      int written = file.write(from.slice().limit(fits), position);
      free -= file.size() - old;
      return written;
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
      if (broken) {
        throw new IOException("Input/output error");
      }
      free += Math.max(0, file.size() - size);
      file.truncate(size);
      return this;
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    protected void implCloseChannel() throws IOException {
      file.close();
    }

    @Override
    public int read(ByteBuffer to) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer from) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long position) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void force(boolean metaData) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int read(ByteBuffer to, long position) {
      throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) {
      throw new UnsupportedOperationException();
    }
  }
}
