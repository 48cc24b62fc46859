package io.quiesce.trace.control;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One daemon thread that serves all connections without ever waiting for one of them. A connection
 * has its time and its number of bytes ({@link Connection}); while {@link #MOST_CONNECTIONS} are
 * open, the next ones wait in the kernel's queue.
 */
final class ControlLoop implements Runnable {
  static final int MOST_CONNECTIONS = 8;
  private static final int BACKLOG = 16;
  private static final System.Logger LOG = System.getLogger("io.quiesce.trace.control");

  private final Path socket;
  private final long patience;
  private final ServerSocketChannel server;
  private final Selector selector;
  private final SelectionKey accepting;
  private final List<Connection> connections = new ArrayList<>();
  private volatile boolean closed;

  private ControlLoop(Path socket, ServerSocketChannel server, Selector selector, long patience)
      throws IOException {
    this.socket = socket;
    this.patience = patience;
    this.server = server;
    this.selector = selector;
    this.accepting = server.register(selector, SelectionKey.OP_ACCEPT);
  }

  /**
   * Listens.
   *
   * @param socket its place
   * @param patience nanoseconds for a request, and again for its answer
   * @throws IOException if another process listens there, or the socket cannot be made
   */
  static ControlLoop open(Path socket, long patience) throws IOException {
    if (Files.exists(socket)) {
      if (!ControlFolder.clean(socket, -1)) {
        throw new IOException("another process listens at " + socket);
      }
      Files.deleteIfExists(socket);
    }
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    Selector selector = null;
    try {
      server.bind(UnixDomainSocketAddress.of(socket), BACKLOG);
      server.configureBlocking(false);
      selector = Selector.open();
      ControlLoop loop = new ControlLoop(socket, server, selector, patience);
      Thread thread = Thread.ofPlatform().daemon().name("quiesce-trace-control").unstarted(loop);
      thread.setContextClassLoader(ControlLoop.class.getClassLoader()); // and not a program's
      thread.start();
      return loop;
    } catch (IOException | RuntimeException | Error e) {
      server.close();
      if (selector != null) {
        selector.close();
      }
      throw e;
    }
  }

  /** Takes the socket away; the thread ends. */
  void close() {
    closed = true;
    try {
      Files.deleteIfExists(socket);
    } catch (IOException _) {
      // A client finds that nobody listens.
    }
    selector.wakeup();
  }

  @Override
  public void run() {
    try (server;
        selector) {
      while (!closed) {
        try {
          pass();
        } catch (IOException | RuntimeException | Error e) {
          LOG.log(System.Logger.Level.DEBUG, "A control connection failed", e);
          if (!server.isOpen() || !selector.isOpen()) {
            return;
          }
          pauseAfterFailure();
        }
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "The control socket could not be closed", e);
    } finally {
      for (Connection connection : connections) {
        connection.close();
      }
    }
  }

  /** Whatever it is (no file descriptor left, say), it must not make this thread spin. */
  private static void pauseAfterFailure() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException _) {
      // Nobody interrupts this thread, and going on is right.
    }
  }

  private void pass() throws IOException {
    selector.select(untilNextEnd());
    for (SelectionKey key : selector.selectedKeys()) {
      if (key == accepting) {
        accept();
      } else if (key.attachment() instanceof Connection connection) {
        connection.step(key);
      }
    }
    selector.selectedKeys().clear();
    long now = System.nanoTime();
    connections.removeIf(connection -> connection.isOver(now));
    accepting.interestOps(connections.size() < MOST_CONNECTIONS ? SelectionKey.OP_ACCEPT : 0);
  }

  /** Milliseconds, rounded up; 0 for ever. */
  private long untilNextEnd() {
    long now = System.nanoTime();
    long least = Long.MAX_VALUE;
    for (Connection connection : connections) {
      least = Math.min(least, connection.nanosLeft(now));
    }
    return least == Long.MAX_VALUE ? 0 : Math.max(1, TimeUnit.NANOSECONDS.toMillis(least) + 1);
  }

  private void accept() throws IOException {
    SocketChannel channel = server.accept();
    if (channel == null) {
      return;
    }
    try {
      channel.configureBlocking(false);
      Connection connection = new Connection(channel, patience);
      channel.register(selector, SelectionKey.OP_READ, connection);
      connections.add(connection);
    } catch (IOException | RuntimeException | Error e) {
      channel.close();
      throw e;
    }
  }
}
