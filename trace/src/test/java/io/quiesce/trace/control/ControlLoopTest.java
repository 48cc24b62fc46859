package io.quiesce.trace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ControlLoopTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final long EVER = LONG.toNanos();
  private static final Message LIST = Message.of("list");

  @TempDir private Path folder;
  private Path socket;
  private ControlLoop loop;

  @BeforeEach
  void open() throws IOException {
    socket = folder.resolve("1.sock");
    loop = ControlLoop.open(socket, EVER);
  }

  @AfterEach
  void close() {
    loop.close();
  }

  private void reopen(long patience) throws IOException {
    loop.close();
    socket = folder.resolve("2.sock");
    loop = ControlLoop.open(socket, patience);
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(socket));
  }

  private static void send(SocketChannel channel, String text) throws IOException {
    channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static String rest(SocketChannel channel) throws IOException {
    return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
  }

  private void stillAnswers() throws IOException {
    assertThat(ControlClient.ask(socket, 1, LIST, LONG)).isNotEmpty();
  }

  @Test
  void oneByteAtATime() throws IOException {
    try (SocketChannel slow = connect()) {
      for (char c : "list\n".toCharArray()) {
        send(slow, String.valueOf(c));
        stillAnswers();
      }
      assertThat(rest(slow)).startsWith("ok\n").endsWith("end\n");
    }
  }

  @Test
  void garbageIsRefused() throws IOException {
    try (SocketChannel garbage = connect()) {
      garbage.write(ByteBuffer.wrap(new byte[] {(byte) 0xff, 0, '\t', '=', '\\', '\n'}));
      assertThat(rest(garbage)).startsWith("error\treason=A process does list, enable");
    }
    stillAnswers();
  }

  @Test
  void aRequestIsBounded() throws IOException {
    try (SocketChannel endless = connect()) {
      send(endless, "x".repeat(Connection.MOST_BYTES));
      assertThat(rest(endless)).contains("at most 65536 bytes");
    }
    String most = "list\tx=" + "x".repeat(Connection.MOST_BYTES - 8) + "\n";
    try (SocketChannel large = connect()) {
      send(large, most);
      assertThat(rest(large)).startsWith("ok\n");
    }
    stillAnswers();
  }

  @Test
  void clientsThatGoAwayOrSayNothing() throws IOException {
    for (int i = 0; i < 100; i++) {
      try (SocketChannel gone = connect()) {
        send(gone, i % 2 == 0 ? "list" : "list\n");
      }
    }
    stillAnswers();
  }

  @Test
  void whoSaysNothingIsSentAway() throws IOException {
    reopen(50_000_000);
    try (SocketChannel silent = connect()) {
      send(silent, "li");
      assertThat(rest(silent)).isEmpty();
    }
    stillAnswers();
  }

  @Test
  void theNinthWaitsForAPlace() throws IOException {
    List<SocketChannel> open = new ArrayList<>();
    try {
      for (int i = 0; i < ControlLoop.MOST_CONNECTIONS; i++) {
        SocketChannel each = connect();
        open.add(each);
        send(each, "l");
      }
      assertThatThrownBy(() -> ControlClient.ask(socket, 1, LIST, Duration.ofMillis(300)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("does not answer");
      open.getFirst().close();
      stillAnswers();
    } finally {
      for (SocketChannel each : open) {
        each.close();
      }
    }
  }

  @Test
  void allPlacesAreFreeAgainWhenTheirTimeIsUp() throws IOException {
    reopen(100_000_000);
    List<SocketChannel> open = new ArrayList<>();
    try {
      for (int i = 0; i < ControlLoop.MOST_CONNECTIONS; i++) {
        open.add(connect());
      }
      stillAnswers();
    } finally {
      for (SocketChannel each : open) {
        each.close();
      }
    }
  }

  @Test
  void closeTakesTheSocketAway() throws Exception {
    loop.close();
    assertThat(socket).doesNotExist();
  }

  @Test
  void aProcessThatDoesNotAnswerIsGivenUp() throws IOException {
    Path mute = folder.resolve("3.sock");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(mute));
      assertThatThrownBy(() -> ControlClient.ask(mute, 3, LIST, Duration.ofMillis(50)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("does not answer");
    }
  }

  @Test
  void socketsOfTheDeadAreTakenAway() throws IOException {
    Path own = Files.createDirectory(folder.resolve("own"));
    Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwx------"));
    long nobody = Integer.MAX_VALUE; // above every pid_max
    Path dead = ControlFolder.socket(own, nobody);
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(dead));
      assertThat(ControlFolder.processes(own)).containsExactly(nobody);
    }
    assertThat(dead).exists();
    assertThat(ControlFolder.processes(own)).isEmpty();
    assertThat(dead).doesNotExist();
  }

  @Test
  void aFolderThatOthersMayEnterIsNotOurs() throws IOException {
    Path open = Files.createDirectory(folder.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThat(ControlFolder.isOurs(open)).isFalse();
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwx------"));
    assertThat(ControlFolder.isOurs(open)).isTrue();
    Path link = Files.createSymbolicLink(folder.resolve("link"), open);
    assertThat(ControlFolder.isOurs(link)).isFalse();
  }

  @Test
  void valuesMayHoldAnything() {
    Message message = Message.of("enable", "pattern", "a\tb\\n\nc\r=\\", "level", 14);
    assertThat(Message.parse(message.line().strip())).isEqualTo(message);
  }
}
