package io.quiesce.trace;

import io.quiesce.trace.point.EventFilter;
import io.quiesce.trace.point.Filters;
import io.quiesce.trace.point.Point;
import java.util.regex.Pattern;

/** Turns the tracepoints that match a pattern on or off. Immutable. */
record TraceRule(Pattern names, int level, String filterText, boolean isEnabling) {

  static TraceRule enable(String pattern, int level, String filter) {
    return new TraceRule(compile(pattern), level, filter, true);
  }

  static TraceRule disable(String pattern) {
    return new TraceRule(compile(pattern), TraceSessionBuilder.ALL_LEVELS, "", false);
  }

  private static Pattern compile(String pattern) {
    if (pattern.isBlank()) {
      throw new IllegalArgumentException(
          "A pattern names tracepoints, such as 'shop:*'; it cannot be empty");
    }
    StringBuilder regex = new StringBuilder();
    for (String part : pattern.splitWithDelimiters("\\*", -1)) {
      regex.append(part.equals("*") ? ".*" : Pattern.quote(part));
    }
    return Pattern.compile(regex.toString(), Pattern.DOTALL);
  }

  boolean matches(Point point) {
    return point.level() <= level && names.matcher(point.fullName()).matches();
  }

  EventFilter filter(Point point) {
    return filterText.isEmpty() ? EventFilter.ALL : Filters.parse(filterText, point.fields());
  }
}
