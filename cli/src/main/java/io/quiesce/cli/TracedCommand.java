package io.quiesce.cli;

import io.quiesce.bench.JavaLauncher;
import java.io.File;
import java.io.IOException;
import java.lang.module.FindException;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A command with the agent put into it.
 *
 * @param command as it is started, still without the agent
 * @param isJava whether it is a java launcher, whose first arguments are the JVM's
 * @param notes what the user should know
 */
record TracedCommand(List<String> command, boolean isJava, List<String> notes) {
  private static final int LEAST_VERSION = 25;
  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(?:1\\.)?(\\d+)");
  private static final String MODULE = "io.quiesce";
  private static final String TOOL_OPTIONS = "JAVA_TOOL_OPTIONS";

  static TracedCommand of(List<String> command) throws Failure {
    String name = command.get(0);
    String file = name.substring(name.lastIndexOf('/') + 1);
    if (!file.equals("java")) {
      checkThere(name);
      return new TracedCommand(
          List.copyOf(command),
          false,
          List.of(
              "'"
                  + file
                  + "' is no java launcher; the JVMs that it starts get the agent by "
                  + TOOL_OPTIONS
                  + ", and must be of version "
                  + LEAST_VERSION
                  + " or later."));
    }
    List<String> notes = new ArrayList<>();
    List<String> real = new ArrayList<>(command);
    real.set(0, name.equals(file) ? onPath(notes) : checked(name));
    return new TracedCommand(List.copyOf(real), true, List.copyOf(notes));
  }

  private static void checkThere(String name) throws Failure {
    if (name.contains("/")) {
      if (!isProgram(Path.of(name))) {
        throw new Failure(name + " is no program that can be started; name java or a script");
      }
      return;
    }
    @Nullable String path = System.getenv("PATH");
    for (String folder : path == null ? new String[0] : path.split(File.pathSeparator, -1)) {
      if (isProgram(Path.of(folder.isEmpty() ? "." : folder, name))) {
        return;
      }
    }
    throw new Failure(
        "There is no program '"
            + name
            + "' on the PATH; name java or a script behind --, with a slash if it is in this"
            + " folder");
  }

  private static boolean isProgram(Path file) {
    return Files.isExecutable(file) && !Files.isDirectory(file);
  }

  /** The PATH's java if it is new enough; otherwise the one that runs this. */
  private static String onPath(List<String> notes) {
    @Nullable String path = System.getenv("PATH");
    for (String folder : path == null ? new String[0] : path.split(File.pathSeparator, -1)) {
      Path java = Path.of(folder.isEmpty() ? "." : folder, "java");
      if (isProgram(java)) {
        int version = version(java);
        if (version >= LEAST_VERSION) {
          return java.toString();
        }
        String own = JavaLauncher.java();
        notes.add(
            "The agent needs Java "
                + LEAST_VERSION
                + " and 'java' on the PATH is "
                + version
                + "; starting "
                + own
                + ".");
        return own;
      }
    }
    String own = JavaLauncher.java();
    notes.add("There is no 'java' on the PATH; starting " + own + ".");
    return own;
  }

  private static String checked(String java) throws Failure {
    Path file = Path.of(java);
    if (!Files.isExecutable(file)) {
      throw new Failure(java + " is no program that can be started; name another java");
    }
    int version = version(file);
    if (version < LEAST_VERSION) {
      throw new Failure(
          "The agent needs Java "
              + LEAST_VERSION
              + " and "
              + java
              + " is "
              + version
              + "; name another, such as "
              + JavaLauncher.java());
    }
    return java;
  }

  /** By the file beside it; new enough if there is none. */
  private static int version(Path java) {
    try {
      Path bin = java.toRealPath().getParent();
      Path home = bin == null ? null : bin.getParent();
      if (home != null) {
        Matcher version = VERSION.matcher(Files.readString(home.resolve("release")));
        if (version.find()) {
          return Integer.parseInt(version.group(1));
        }
      }
    } catch (IOException | NumberFormatException _) {
      // A launcher that stands alone.
    }
    return LEAST_VERSION;
  }

  /** A process that will run it with the agent. */
  ProcessBuilder withAgent(Path jar, Path options) throws Failure {
    String agent = "-javaagent:" + jar + "=@" + options;
    String access = "--enable-native-access=" + modules();
    if (isJava) {
      List<String> all = new ArrayList<>();
      all.add(command.get(0));
      all.add(agent);
      all.add(access);
      all.addAll(command.subList(1, command.size()));
      return new ProcessBuilder(all);
    }
    ProcessBuilder builder = new ProcessBuilder(command);
    Map<String, String> environment = builder.environment();
    String before = environment.getOrDefault(TOOL_OPTIONS, "");
    environment.put(TOOL_OPTIONS, (before + " " + quoted(agent) + " " + access).strip());
    return builder;
  }

  /** As the JVM splits the variable: at blanks outside of quotes, without escapes. */
  private static String quoted(String option) throws Failure {
    if (option.chars().noneMatch(c -> Character.isWhitespace(c) || c == '\'' || c == '"')) {
      return option;
    }
    for (String quote : List.of("\"", "'")) {
      if (!option.contains(quote)) {
        return quote + option + quote;
      }
    }
    throw new Failure(
        "A path with both kinds of quotes cannot be passed in "
            + TOOL_OPTIONS
            + "; rename "
            + option);
  }

  /** The module only where the program has it: the JVM warns of names that it does not know. */
  private String modules() {
    return isJava && onModulePath() ? "ALL-UNNAMED," + MODULE : "ALL-UNNAMED";
  }

  private boolean onModulePath() {
    for (int i = 1; i < command.size(); i++) {
      String argument = command.get(i);
      if (argument.equals("-jar") || argument.equals("-m") || argument.equals("--module")) {
        return false; // what follows is the program's
      }
      String path = null;
      if ((argument.equals("-p") || argument.equals("--module-path")) && i + 1 < command.size()) {
        path = command.get(i + 1);
      } else if (argument.startsWith("--module-path=")) {
        path = argument.substring(argument.indexOf('=') + 1);
      }
      if (path != null && holdsModule(path)) {
        return true;
      }
    }
    return false;
  }

  private static boolean holdsModule(String path) {
    List<Path> entries = new ArrayList<>();
    for (String entry : path.split(File.pathSeparator, -1)) {
      if (!entry.isEmpty()) {
        entries.add(Path.of(entry));
      }
    }
    try {
      return ModuleFinder.of(entries.toArray(Path[]::new)).find(MODULE).isPresent();
    } catch (FindException | InvalidPathException _) {
      return false; // the JVM says what is wrong with it
    }
  }
}
