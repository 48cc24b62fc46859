package io.quiesce.cli;

import io.quiesce.linux.Membarrier;
import io.quiesce.linux.Platform;
import io.quiesce.linux.Rseq;
import io.quiesce.trace.ring.BufferFolder;
import io.quiesce.trace.ring.HotPathKind;
import io.quiesce.trace.ring.Stamps;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** What the tracer would do in a program that is started like this one. */
final class TracerFacilities {
  /** A session's buffers, unless it is told otherwise. */
  private static final long DEFAULT_BUDGET = 32L << 20;

  private static final List<String> MEMORY = List.of("tmpfs", "ramfs", "hugetlbfs");
  private static final String HOT_PATH = "quiesce.trace.hotpath";

  private TracerFacilities() {}

  static List<Doctor.Facility> find() {
    return List.of(hotPath(), clock(), buffers(BufferFolder.usual()));
  }

  /** On if it is the fast one. */
  private static Doctor.Facility hotPath() {
    String name = "trace hot path";
    String choice = System.getProperty(HOT_PATH, "auto");
    boolean possible = HotPathKind.SEQUENCE.isAvailable();
    String flag = "-D" + HOT_PATH + "=" + choice;
    return switch (choice) {
      case "auto" ->
          new Doctor.Facility(
              name,
              possible,
              possible
                  ? "restartable sequence, time stamp inside"
                  : "compare-and-swap, since " + obstacle());
      case "sequence" ->
          new Doctor.Facility(
              name,
              possible,
              possible
                  ? "restartable sequence, asked for by " + flag
                  : flag + " lets no session start, since " + obstacle() + "; set auto");
      case "cas" -> new Doctor.Facility(name, false, "compare-and-swap, asked for by " + flag);
      case "lock" -> new Doctor.Facility(name, false, "a lock per CPU, asked for by " + flag);
      default ->
          new Doctor.Facility(
              name, false, flag + " lets no session start: use auto, sequence, cas or lock");
    };
  }

  private static String obstacle() {
    if (!Rseq.isAvailable()) {
      return "rseq is off (" + Platform.reason("rseq") + ")";
    }
    if (!Membarrier.isRseqAvailable()) {
      return "membarrier cannot fence one CPU (Linux 5.10 can)";
    }
    return "there is no counter to trust";
  }

  private static Doctor.Facility clock() {
    String name = "trace clock";
    if (Stamps.best() == Stamps.TSC) {
      return new Doctor.Facility(
          name,
          true,
          "the time stamp counter, whose distance from CLOCK_MONOTONIC is the same on"
              + " every CPU");
    }
    String why;
    if (!Platform.nativeAccess()) {
      why = "native access is refused";
    } else if ("off".equals(System.getProperty("quiesce.tsc"))) {
      why = "-Dquiesce.tsc=off";
    } else {
      why = "neither the kernel's clock nor a trial says that the counter can be trusted";
    }
    return new Doctor.Facility(name, false, "CLOCK_MONOTONIC, by clock_gettime, since " + why);
  }

  static Doctor.Facility buffers(Path folder) {
    String name = "trace buffers";
    String cure =
        "; choose a folder with -D"
            + BufferFolder.PROPERTY
            + "=DIR or 'trace record --buffers DIR'";
    if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
      return new Doctor.Facility(name, false, folder + " is no folder that can be written" + cure);
    }
    try {
      FileStore store = Files.getFileStore(folder);
      return judge(folder, store.type(), store.getUsableSpace());
    } catch (IOException e) {
      return new Doctor.Facility(name, false, folder + " cannot be asked (" + e + ")" + cure);
    }
  }

  static Doctor.Facility judge(Path folder, String type, long free) {
    boolean memory = MEMORY.contains(type);
    boolean room = free >= DEFAULT_BUDGET;
    String said =
        String.format(
            Locale.ROOT,
            "%s (%s, %,d MiB free, %,d MiB needed)",
            folder,
            type,
            free >> 20,
            DEFAULT_BUDGET >> 20);
    if (!room) {
      said +=
          ": too little room; make some, choose another folder with -D"
              + BufferFolder.PROPERTY
              + "=DIR, or"
              + " a smaller 'trace record --budget'";
    } else if (!memory) {
      said +=
          ": no memory file system, so stores stall while it writes back; mount a tmpfs, as"
              + " /dev/shm is";
    }
    return new Doctor.Facility("trace buffers", memory && room, said);
  }
}
