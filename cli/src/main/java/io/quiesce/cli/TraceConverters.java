package io.quiesce.cli;

import io.quiesce.trace.ContextField;
import io.quiesce.trace.agent.TraceValues;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads levels, sizes and patterns. */
final class TraceConverters {
  private TraceConverters() {}

  /** Bad usage, with the reason. */
  @FunctionalInterface
  private interface Reading<T> {
    T read(String text);
  }

  private static <T> T convert(String text, Reading<T> reading) {
    try {
      return reading.read(text);
    } catch (IllegalArgumentException e) {
      TypeConversionException bad = new TypeConversionException(String.valueOf(e.getMessage()));
      bad.initCause(e);
      throw bad;
    }
  }

  /** 0 to 14 or a name. */
  static final class Level implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return TraceConverters.convert(text, TraceValues::level);
    }
  }

  /** Fields of every event. */
  static final class Context implements ITypeConverter<List<ContextField>> {
    @Override
    public List<ContextField> convert(String text) {
      return TraceConverters.convert(text, TraceValues::context);
    }
  }

  /** A number of bytes. */
  static final class Size implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return TraceConverters.convert(text, TraceValues::bytes);
    }
  }

  /** Names tracepoints. */
  static final class Pattern implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      if (text.isBlank() || text.lines().count() > 1) {
        throw new TypeConversionException("a pattern names tracepoints, such as 'shop:*'");
      }
      return text;
    }
  }

  /** The number of a process. */
  static final class Pid implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      if (!text.matches("[1-9]\\d{0,17}")) {
        throw new TypeConversionException(
            "a process has a number, which 'quiesce trace list' shows, not '" + text + "'");
      }
      return Long.valueOf(text);
    }
  }
}
