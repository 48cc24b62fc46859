package io.quiesce.trace.control;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One request and its answer. Reads as the bytes come, up to the first line end, {@link
 * #MOST_BYTES}, or as long as the loop's patience lasts; the answer has as much time again.
 * Confined to the loop's thread.
 */
final class Connection {
  static final int MOST_BYTES = 64 << 10;
  private static final int FIRST_BYTES = 512;

  private final SocketChannel channel;
  private final long patience;
  private long end;
  private ByteBuffer request = ByteBuffer.allocate(FIRST_BYTES);
  private @Nullable ByteBuffer answer;

  Connection(SocketChannel channel, long patience) {
    this.channel = channel;
    this.patience = patience;
    this.end = System.nanoTime() + patience;
  }

  /** Goes on as far as it can without waiting. */
  void step(SelectionKey key) {
    try {
      if (answer == null && read()) {
        key.interestOps(SelectionKey.OP_WRITE);
      }
      if (answer != null) {
        channel.write(answer);
        if (!answer.hasRemaining()) {
          close();
        }
      }
    } catch (IOException | RuntimeException _) {
      close(); // the client went away
    }
  }

  /** Whether the answer is there now. */
  private boolean read() throws IOException {
    int from = request.position();
    int got = channel.read(request);
    if (got < 0) {
      close();
      return false;
    }
    for (int i = from; i < request.position(); i++) {
      if (request.get(i) == '\n') {
        String line = new String(request.array(), 0, i, StandardCharsets.UTF_8);
        answer(Requests.answer(line));
        return true;
      }
    }
    if (request.hasRemaining()) {
      return false;
    }
    if (request.capacity() >= MOST_BYTES) {
      answer(Requests.refusal("A request has at most " + MOST_BYTES + " bytes"));
      return true;
    }
    int bytes = Math.min(MOST_BYTES, 2 * request.capacity());
    request = ByteBuffer.wrap(Arrays.copyOf(request.array(), bytes)).position(request.capacity());
    return false;
  }

  private void answer(String text) {
    answer = StandardCharsets.UTF_8.encode(text);
    end = System.nanoTime() + patience;
  }

  /** Whether it is closed, or is now since its time is up. */
  boolean isOver(long now) {
    if (channel.isOpen() && nanosLeft(now) <= 0) {
      close();
    }
    return !channel.isOpen();
  }

  long nanosLeft(long now) {
    return end - now;
  }

  void close() {
    try {
      channel.close();
    } catch (IOException _) {
      // Nothing is lost.
    }
  }
}
