package io.quiesce.trace.control;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where the sockets are: a folder of mode 0700 that belongs to the user of the process.
 *
 * <p>The candidates are fixed places, because whoever asks does not know the properties of the
 * process that answers: {@code $XDG_RUNTIME_DIR/quiesce}, then {@code quiesce-UID} in {@code /tmp},
 * in {@code /dev/shm} (the one place that a container with a read-only root has) and in {@code
 * java.io.tmpdir}. A process takes the first that works; a client looks into all of them, and into
 * none that somebody else could have made.
 */
final class ControlFolder {
  /** {@code off}, or a folder that takes the place of all others. */
  static final String PROPERTY = "quiesce.trace.control";

  static final String OFF = "off";

  private static final String SUFFIX = ".sock";

  /** What the kernel's socket address holds, less the NUL at its end. */
  private static final int MOST_BYTES = 107;

  private static final Set<PosixFilePermission> MODE = PosixFilePermissions.fromString("rwx------");

  /** A socket that nobody listens to may be one that is just being opened. */
  private static final long YOUNG_MILLIS = 10_000;

  private ControlFolder() {}

  static List<Path> candidates() {
    String own = System.getProperty(PROPERTY, "");
    if (own.equals(OFF)) {
      return List.of();
    }
    Set<Path> folders = new LinkedHashSet<>();
    if (!own.isEmpty()) {
      add(folders, own, "");
      return List.copyOf(folders);
    }
    String name = "quiesce-" + user();
    add(folders, System.getenv("XDG_RUNTIME_DIR"), "quiesce");
    add(folders, "/tmp", name);
    add(folders, "/dev/shm", name);
    add(folders, System.getProperty("java.io.tmpdir"), name);
    return List.copyOf(folders);
  }

  private static void add(Set<Path> folders, @Nullable String parent, String name) {
    if (parent == null || parent.isEmpty()) {
      return;
    }
    try {
      folders.add(Path.of(parent).toAbsolutePath().normalize().resolve(name));
    } catch (InvalidPathException _) {
      // Not a place.
    }
  }

  /**
   * Opens the way to a process's socket in the first folder that can be had.
   *
   * @throws IOException with what was wrong with each
   */
  static Path socketFor(long pid) throws IOException {
    List<String> reasons = new ArrayList<>();
    for (Path folder : candidates()) {
      Path socket = socket(folder, pid);
      if (socket.toString().getBytes(StandardCharsets.UTF_8).length > MOST_BYTES) {
        reasons.add(folder + " (the path of a socket there would be too long)");
        continue;
      }
      try {
        make(folder);
        return socket;
      } catch (IOException | UnsupportedOperationException e) {
        reasons.add(folder + " (" + e + ")");
      }
    }
    throw new IOException(
        reasons.isEmpty()
            ? "control is off by -D" + PROPERTY + "=" + OFF
            : "no folder can hold a socket: " + String.join(", ", reasons));
  }

  static Path socket(Path folder, long pid) {
    return folder.resolve(pid + SUFFIX);
  }

  private static void make(Path folder) throws IOException {
    try {
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(MODE));
    } catch (FileAlreadyExistsException _) {
      if (!isOurs(folder)) {
        throw new IOException("it must be a folder of this user with mode 0700");
      }
    }
    if (!Files.isWritable(folder)) {
      throw new IOException("it is read-only");
    }
  }

  /** Whether a folder is one that nobody else can have put something into. */
  static boolean isOurs(Path folder) {
    try {
      return Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
          && Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS).equals(MODE)
          && user().equals(owner(folder));
    } catch (IOException | UnsupportedOperationException _) {
      return false;
    }
  }

  private static String user() {
    try {
      return String.valueOf(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException _) {
      return System.getProperty("user.name", "user");
    }
  }

  private static String owner(Path folder) throws IOException {
    try {
      return Files.exists(Path.of("/proc/self"))
          ? String.valueOf(Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS))
          : Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).getName();
    } catch (IllegalArgumentException e) {
      throw new IOException(e);
    }
  }

  /** The processes that have sockets in a folder. Takes away what dead ones left. */
  static List<Long> processes(Path folder) {
    List<Long> pids = new ArrayList<>();
    if (!isOurs(folder)) {
      return pids;
    }
    try (DirectoryStream<Path> sockets = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
      for (Path socket : sockets) {
        long pid = pid(socket);
        if (pid >= 0 && !clean(socket, pid)) {
          pids.add(pid);
        }
      }
    } catch (IOException _) {
      // What cannot be read holds nothing for us.
    }
    return pids;
  }

  private static long pid(Path socket) {
    String name = String.valueOf(socket.getFileName());
    try {
      return Long.parseLong(name.substring(0, name.length() - SUFFIX.length()));
    } catch (NumberFormatException _) {
      return -1;
    }
  }

  /**
   * Deletes a socket that nobody listens to, if its process is dead or it is old. A living
   * listener's process may look dead from another container, so its number alone says nothing; and
   * a listener whose queue is full is one.
   *
   * @return whether nobody listens
   */
  static boolean clean(Path socket, long pid) {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.configureBlocking(false);
      channel.connect(UnixDomainSocketAddress.of(socket));
      return false;
    } catch (ConnectException _) {
      delete(socket, pid);
      return true;
    } catch (IOException _) {
      return !Files.exists(socket); // it is there, so its queue is full
    }
  }

  private static void delete(Path socket, long pid) {
    try {
      if (ProcessHandle.of(pid).isEmpty() || age(socket) > YOUNG_MILLIS) {
        Files.deleteIfExists(socket);
      }
    } catch (IOException _) {
      // It stays until the next look.
    }
  }

  private static long age(Path socket) throws IOException {
    return System.currentTimeMillis()
        - Files.getLastModifiedTime(socket, LinkOption.NOFOLLOW_LINKS).toMillis();
  }
}
