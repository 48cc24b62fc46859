package io.quiesce.linux;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The system properties this package reads. A wrong value never fails: it is reported in one
 * sentence and the default holds, so that a typing mistake cannot take a program down.
 */
final class Settings {
  static final System.Logger LOG = System.getLogger("io.quiesce");

  /** What {@code quiesce.native} asks for. */
  enum NativeMode {
    AUTO,
    OFF,
    REQUIRE
  }

  private Settings() {}

  static NativeMode nativeMode() {
    return switch (choice("quiesce.native", "auto", List.of("auto", "off", "require"))) {
      case "off" -> NativeMode.OFF;
      case "require" -> NativeMode.REQUIRE;
      default -> NativeMode.AUTO;
    };
  }

  /** True when the property says {@code off}; its only other value is {@code auto}. */
  static boolean off(String property) {
    return choice(property, "auto", List.of("auto", "off")).equals("off");
  }

  /** The value of a property if it is one of {@code allowed}, else {@code fallback} and a line. */
  static String choice(String property, String fallback, List<String> allowed) {
    String value = read(property);
    if (value == null) {
      return fallback;
    }
    if (!allowed.contains(value)) {
      warn(property, value, "one of " + String.join(", ", allowed), fallback);
      return fallback;
    }
    return value;
  }

  /** A positive whole number, or {@code fallback} where the property is absent or wrong. */
  static int positive(String property, int fallback) {
    String value = read(property);
    if (value == null) {
      return fallback;
    }
    try {
      int number = Integer.parseInt(value);
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Falls through to the one sentence that covers both mistakes.
    }
    warn(property, value, "a whole number above 0", "the default");
    return fallback;
  }

  private static @Nullable String read(String property) {
    String value = System.getProperty(property);
    return value == null ? null : value.strip();
  }

  private static void warn(String property, String value, String expected, String used) {
    LOG.log(
        System.Logger.Level.WARNING,
        "-D"
            + property
            + "="
            + value
            + " is not understood: it must be "
            + expected
            + "; continuing with "
            + used
            + ".");
  }
}
