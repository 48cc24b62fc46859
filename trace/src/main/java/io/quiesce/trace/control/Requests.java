package io.quiesce.trace.control;

import io.quiesce.trace.point.Point;
import io.quiesce.trace.point.Points;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a process does when it is asked. Keys of a request: {@code session} (all when it is empty),
 * {@code pattern}, {@code level}, {@code filter}, {@code name}, {@code points}.
 */
final class Requests {
  private static final int MOST_NAME = 200;

  private Requests() {}

  /** Does it, and says how it went. */
  @SuppressWarnings("CatchingUnchecked") // A request must not end the thread that serves it.
  static String answer(String line) {
    try {
      StringBuilder answer = new StringBuilder(Message.of(Message.OK).line());
      for (Message each : run(Message.parse(line))) {
        answer.append(each.line());
      }
      return answer.append(Message.of(Message.END).line()).toString();
    } catch (IOException | IllegalArgumentException | IllegalStateException e) {
      return refusal(String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      return refusal("The process could not do it: " + e);
    }
  }

  static String refusal(String reason) {
    return Message.of(Message.ERROR, Message.REASON, reason).line()
        + Message.of(Message.END).line();
  }

  private static List<Message> run(Message request) throws IOException {
    return switch (request.word()) {
      case "list" -> list(request);
      case "enable" -> enable(request);
      case "disable" -> disable(request);
      case "snapshot" -> snapshot(request);
      default ->
          throw new IllegalArgumentException(
              "A process does list, enable, disable and snapshot, and no other request");
    };
  }

  private static Map<String, Controlled> named(Message request) {
    Map<String, Controlled> all = ControlServer.sessions();
    String wanted = request.get("session");
    if (wanted.isEmpty()) {
      return all;
    }
    Controlled session = all.get(wanted);
    if (session == null) {
      throw new IllegalArgumentException(
          "No session is called " + wanted + "; there are " + String.join(", ", all.keySet()));
    }
    return Map.of(wanted, session);
  }

  private static List<Message> list(Message request) {
    Map<String, Controlled> sessions = named(request);
    List<Message> answer = new ArrayList<>();
    answer.add(Message.of("process", "program", program()));
    sessions.forEach(
        (name, session) ->
            answer.add(
                Message.of(
                    "session",
                    "name",
                    name,
                    "mode",
                    session.isFlightRecorder() ? "overwrite" : "discard",
                    "events",
                    session.written(),
                    "lost",
                    session.lost(),
                    "folder",
                    session.folder())));
    if (request.get("points").equals("true")) {
      points()
          .forEach(
              point ->
                  answer.add(
                      Message.of(
                          "point",
                          "name",
                          point.fullName(),
                          "level",
                          point.level(),
                          "on",
                          String.join(",", sessionsOf(point, sessions)))));
    }
    return answer;
  }

  private static List<Point> points() {
    List<Point> all = new ArrayList<>();
    Points.locked(() -> Points.forEach(all::add));
    all.sort(Comparator.comparing(Point::fullName));
    return all;
  }

  private static List<String> sessionsOf(Point point, Map<String, Controlled> sessions) {
    List<String> names = new ArrayList<>();
    sessions.forEach(
        (name, session) -> {
          if (session.isOn(point)) {
            names.add(name);
          }
        });
    return names;
  }

  private static String program() {
    String command = System.getProperty("sun.java.command", "");
    int end = command.indexOf(' ');
    return end < 0 ? command : command.substring(0, end);
  }

  private static List<Message> enable(Message request) {
    int level;
    try {
      level = Integer.parseInt(request.get("level"));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("A level is a number from 0 to 14", e);
    }
    Map<String, Controlled> sessions = named(request);
    for (Controlled session : sessions.values()) {
      session.enable(request.get("pattern"), level, request.get("filter"));
    }
    return counts(sessions);
  }

  private static List<Message> disable(Message request) {
    Map<String, Controlled> sessions = named(request);
    for (Controlled session : sessions.values()) {
      session.disable(request.get("pattern"));
    }
    return counts(sessions);
  }

  private static List<Message> counts(Map<String, Controlled> sessions) {
    List<Message> answer = new ArrayList<>();
    List<Point> all = points();
    sessions.forEach(
        (name, session) ->
            answer.add(
                Message.of(
                    "session",
                    "name",
                    name,
                    "on",
                    all.stream().filter(session::isOn).count(),
                    "of",
                    all.size())));
    return answer;
  }

  private static List<Message> snapshot(Message request) throws IOException {
    String name = request.get("name");
    if (name.isEmpty()
        || name.length() > MOST_NAME
        || name.startsWith(".")
        || name.indexOf('/') >= 0
        || name.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          "A snapshot's name is one of a folder within the trace's, without a dot before it, not "
              + name);
    }
    Map<String, Controlled> recorders = new LinkedHashMap<>(named(request));
    recorders.values().removeIf(session -> !session.isFlightRecorder());
    if (recorders.isEmpty()) {
      throw new IllegalArgumentException(
          "No flight recorder runs there: what is recorded by 'discard' is in its folder already");
    }
    List<Message> answer = new ArrayList<>();
    for (Map.Entry<String, Controlled> each : recorders.entrySet()) {
      long events = each.getValue().snapshot(name);
      answer.add(
          Message.of(
              "session",
              "name",
              each.getKey(),
              "folder",
              each.getValue().folder().resolve(name),
              "events",
              events));
    }
    return answer;
  }
}
