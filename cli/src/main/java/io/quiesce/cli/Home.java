package io.quiesce.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import picocli.CommandLine;

/** Where the project and the user's files are. */
final class Home {
  private Home() {}

  /** The checkout, as the launcher tells it; the working directory otherwise. */
  static Path folder() {
    return Path.of(System.getProperty("quiesce.home", ".")).toAbsolutePath().normalize();
  }

  /**
   * Refuses a file that could not be written, before an hour of work ends there.
   *
   * @throws CommandLine.ParameterException with the reason
   */
  static void checkWritable(CommandLine command, String option, Path file) {
    Path whole = file.toAbsolutePath();
    Path folder = whole.getParent();
    while (folder != null && !Files.exists(folder)) {
      folder = folder.getParent();
    }
    if (Files.isDirectory(whole)) {
      throw new CommandLine.ParameterException(
          command, option + " " + file + " is a folder; name a file in it.");
    }
    if (folder == null
        || !Files.isDirectory(folder)
        || !Files.isWritable(Files.exists(whole) ? whole : folder)) {
      throw new CommandLine.ParameterException(
          command, option + " " + file + " cannot be written; choose another place.");
    }
  }

  static void write(Path file, String text) throws Failure {
    try {
      Path folder = file.toAbsolutePath().getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
      Files.writeString(file, text);
    } catch (IOException | InvalidPathException e) {
      throw new Failure("Cannot write " + file + " (" + e + "); choose another place", e);
    }
  }

  /** For people: relative to where they are, where that is shorter. */
  static String display(Path file) {
    Path here = Path.of("").toAbsolutePath();
    Path whole = file.toAbsolutePath().normalize();
    return whole.startsWith(here) ? here.relativize(whole).toString() : whole.toString();
  }
}
