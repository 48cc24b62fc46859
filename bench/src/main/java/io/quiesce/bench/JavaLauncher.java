package io.quiesce.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line of a subject's JVM. Every Java subject gets the same flags:
 *
 * <ul>
 *   <li>{@code -XX:+UseParallelGC}: a collector without threads that work beside the program; on a
 *       machine with two CPUs they would run into the rounds of others. Its pauses fall into the
 *       rounds of whoever makes garbage.
 *   <li>{@code -Xms384m -Xmx384m -XX:+AlwaysPreTouch}: no resizing while measuring, and no page
 *       fault at the first use of each page of the heap, which costs more than what is measured. No
 *       larger, because fifteen such processes live side by side.
 *   <li>{@code --enable-native-access}: what the README tells users to give.
 *   <li>{@code -XX:-UsePerfData}: no file that is mapped and written every 50 ms.
 * </ul>
 */
public final class JavaLauncher {
  private JavaLauncher() {}

  /**
   * The flags of every Java subject.
   *
   * @return in order
   */
  public static List<String> flags() {
    return List.of(
        "-Xms384m",
        "-Xmx384m",
        "-XX:+AlwaysPreTouch",
        "-XX:+UseParallelGC",
        "-XX:-UsePerfData",
        "--enable-native-access=ALL-UNNAMED");
  }

  /**
   * The launcher of the JVM that runs this.
   *
   * @return the path of {@code java}
   */
  public static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  static List<String> command(String program, String experiment, Params params, Plan plan) {
    List<String> command = new ArrayList<>();
    command.add(java());
    command.addAll(flags());
    command.add("-D" + SubjectHost.WARM_UP + "=" + plan.warmUp().toMillis());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(SubjectHost.class.getName());
    command.add(program);
    command.add(experiment);
    command.addAll(params.words());
    return command;
  }
}
