package io.quiesce.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A program that speaks the protocol as badly as told: its argument is a sequence of acts. */
final class FakeSubject {
  private FakeSubject() {}

  static List<String> command(String... acts) {
    List<String> java = List.of(JavaLauncher.java(), "-Xshare:auto", "-XX:TieredStopAtLevel=1");
    List<String> command = new ArrayList<>(java);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), FakeSubject.class.getName()));
    command.addAll(List.of(acts));
    return command;
  }

  public static void main(String[] acts) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int round = 0;
    for (String act : acts) {
      switch (act) {
        case "die" -> {
          System.err.println("No memory for anything.");
          System.exit(3);
        }
        case "crash" -> Runtime.getRuntime().halt(134);
        case "hang" -> Thread.sleep(60_000);
        case "await" -> {
          String line = next(in);
          if (line.equals("quit")) {
            return;
          }
        }
        case "serve" -> {
          while (next(in).startsWith("round ")) {
            System.out.println("result ns=" + (10 + round++) + ".5 p99=20");
          }
          return;
        }
        default -> System.out.println(act);
      }
    }
  }

  private static String next(BufferedReader in) throws IOException {
    String line = in.readLine();
    return line == null ? "quit" : line;
  }
}
