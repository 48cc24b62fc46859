package io.quiesce.trace.source;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.text.MessageFormat;
import java.util.MissingResourceException;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** The texts of log records. Runs code of the program's: parameters, bundles, exceptions. */
public final class LogText {
  private LogText() {}

  /**
   * A message as {@code java.util.logging.Formatter} makes it: looked up in the bundle, then the
   * parameters put in if there are any and the text has a <code>{0}</code>. Null becomes the word.
   */
  public static String message(
      @Nullable String pattern,
      @Nullable ResourceBundle bundle,
      @Nullable Object @Nullable [] parameters) {
    if (pattern == null) {
      return "null";
    }
    String text = bundle == null ? pattern : translated(bundle, pattern);
    if (parameters == null || parameters.length == 0 || !hasParameter(text)) {
      return text;
    }
    try {
      return MessageFormat.format(text, parameters);
    } catch (RuntimeException _) {
      return text; // as there: a bad pattern, or a parameter that cannot be shown
    }
  }

  private static String translated(ResourceBundle bundle, String key) {
    try {
      return bundle.getString(key);
    } catch (MissingResourceException | ClassCastException _) {
      return key;
    }
  }

  private static boolean hasParameter(String text) {
    for (int i = text.indexOf('{'); i >= 0 && i + 1 < text.length(); i = text.indexOf('{', i + 1)) {
      char next = text.charAt(i + 1);
      if (next >= '0' && next <= '9') {
        return true;
      }
    }
    return false;
  }

  /** An exception with its stack trace and causes; empty for null. */
  public static String thrown(@Nullable Throwable thrown) {
    if (thrown == null) {
      return "";
    }
    StringWriter text = new StringWriter();
    try (PrintWriter lines = new PrintWriter(text)) {
      thrown.printStackTrace(lines);
    } catch (RuntimeException failed) {
      text.append(thrown.getClass().getName()).append(", which cannot be shown: ");
      text.append(failed.getClass().getName());
    }
    return text.toString();
  }
}
