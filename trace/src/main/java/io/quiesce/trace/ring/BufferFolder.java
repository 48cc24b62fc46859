package io.quiesce.trace.ring;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the file of a session's buffers goes if the session does not say. */
public final class BufferFolder {
  /** The system property that names another folder. */
  public static final String PROPERTY = "quiesce.trace.buffers";

  private BufferFolder() {}

  /** The property's, or the memory file system, or else the folder for temporary files. */
  public static Path usual() {
    String property = System.getProperty(PROPERTY);
    if (property != null) {
      return Path.of(property);
    }
    Path memory = Path.of("/dev/shm");
    return Files.isDirectory(memory) && Files.isWritable(memory)
        ? memory
        : Path.of(System.getProperty("java.io.tmpdir"));
  }
}
