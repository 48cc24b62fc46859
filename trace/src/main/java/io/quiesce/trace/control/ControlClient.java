package io.quiesce.trace.control;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Asks processes that trace. Stateless, thus thread-safe. */
public final class ControlClient {
  private ControlClient() {}

  /** The processes of this user that trace, in order. Takes away what dead ones left. */
  public static List<Long> processes() {
    TreeSet<Long> pids = new TreeSet<>();
    for (Path folder : ControlFolder.candidates()) {
      pids.addAll(ControlFolder.processes(folder));
    }
    return List.copyOf(pids);
  }

  /**
   * Why this process could not open a socket itself; empty if it could. When no process is found,
   * this is the likely cause.
   */
  public static String obstacle() {
    try {
      ControlFolder.socketFor(ProcessHandle.current().pid());
      return "";
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /**
   * Sends a request and waits for the answer.
   *
   * @param pid of the process
   * @param request what to do
   * @param atMost how long to wait
   * @return what the process said, without the first and the last line
   * @throws IOException in one sentence if the process cannot be reached, does not answer in time,
   *     or refuses
   */
  public static List<Message> ask(long pid, Message request, Duration atMost) throws IOException {
    for (Path folder : ControlFolder.candidates()) {
      Path socket = ControlFolder.socket(folder, pid);
      if (ControlFolder.isOurs(folder) && Files.exists(socket)) {
        return ask(socket, pid, request, atMost);
      }
    }
    throw new IOException(
        ProcessHandle.of(pid).isEmpty()
            ? "No process has the number " + pid
            : "Process "
                + pid
                + " does not trace, or belongs to another user, or has no socket;"
                + " 'quiesce trace list' shows those that can be asked");
  }

  static List<Message> ask(Path socket, long pid, Message request, Duration atMost)
      throws IOException {
    long end = System.nanoTime() + atMost.toNanos();
    try (SocketChannel channel = connect(socket, pid, end);
        Selector selector = Selector.open()) {
      SelectionKey key = channel.register(selector, SelectionKey.OP_WRITE);
      ByteBuffer bytes = StandardCharsets.UTF_8.encode(request.line());
      while (bytes.hasRemaining()) {
        channel.write(bytes);
        if (bytes.hasRemaining()) {
          select(selector, pid, end);
        }
      }
      key.interestOps(SelectionKey.OP_READ);
      return check(pid, read(channel, selector, pid, end));
    } catch (SocketException e) {
      throw new IOException("Process " + pid + " ended, or cannot be reached: " + e, e);
    }
  }

  /** The kernel refuses at once what its queue has no place for; so this tries again. */
  private static SocketChannel connect(Path socket, long pid, long end) throws IOException {
    while (true) {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        channel.configureBlocking(false);
        if (channel.connect(UnixDomainSocketAddress.of(socket))) {
          return channel;
        }
      } catch (ConnectException e) {
        channel.close();
        throw e; // nobody listens
      } catch (SocketException e) {
        if (!Files.exists(socket)) {
          channel.close();
          throw e;
        }
      } catch (IOException | RuntimeException e) {
        channel.close();
        throw e;
      }
      channel.close();
      if (System.nanoTime() >= end) {
        throw new IOException("Process " + pid + " is busy with other requests; try again");
      }
      pause();
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted before the process had answered", e);
    }
  }

  private static void select(Selector selector, long pid, long end) throws IOException {
    long millis = (end - System.nanoTime()) / 1_000_000;
    if (millis <= 0 || selector.select(millis) == 0) {
      throw new IOException(
          "Process " + pid + " does not answer; it may be stopped, or very busy: try again");
    }
    selector.selectedKeys().clear();
  }

  private static String read(SocketChannel channel, Selector selector, long pid, long end)
      throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    ByteBuffer bytes = ByteBuffer.allocate(1 << 14);
    while (channel.read(bytes) >= 0) {
      if (bytes.position() == 0) {
        select(selector, pid, end);
      }
      all.write(bytes.array(), 0, bytes.position());
      bytes.clear();
    }
    return all.toString(StandardCharsets.UTF_8);
  }

  private static List<Message> check(long pid, String answer) throws IOException {
    List<Message> messages = new ArrayList<>();
    answer.lines().map(Message::parse).forEach(messages::add);
    if (messages.size() < 2 || !messages.getLast().word().equals(Message.END)) {
      throw new IOException("Process " + pid + " ended before it had answered");
    }
    if (messages.getFirst().word().equals(Message.ERROR)) {
      throw new IOException(messages.getFirst().get(Message.REASON));
    }
    return messages.subList(1, messages.size() - 1);
  }
}
