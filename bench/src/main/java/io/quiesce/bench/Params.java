package io.quiesce.bench;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Named parameters in a fixed order, as they stand on a subject's command line and in the results.
 *
 * @param values name to value
 */
public record Params(Map<String, String> values) {

  /** No parameters. */
  public static final Params NONE = new Params(Map.of());

  /** Copies the map, keeping its order. */
  public Params {
    values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
  }

  /**
   * Makes parameters from alternating names and values.
   *
   * @param namesAndValues an even number of objects
   * @return the parameters
   */
  public static Params of(Object... namesAndValues) {
    Map<String, String> values = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      values.put(namesAndValues[i].toString(), namesAndValues[i + 1].toString());
    }
    return new Params(values);
  }

  /**
   * Reads {@code key=value} words.
   *
   * @param words the words
   * @return the parameters
   * @throws IllegalArgumentException for a word without {@code =} or a repeated name
   */
  public static Params parse(List<String> words) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String word : words) {
      int equals = word.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("expected key=value, not '" + word + "'");
      }
      if (values.put(word.substring(0, equals), word.substring(equals + 1)) != null) {
        throw new IllegalArgumentException("'" + word.substring(0, equals) + "' is given twice");
      }
    }
    return new Params(values);
  }

  /**
   * These parameters and more; a name given again takes the new value.
   *
   * @param namesAndValues an even number of objects
   * @return new parameters
   */
  public Params with(Object... namesAndValues) {
    Map<String, String> all = new LinkedHashMap<>(values);
    all.putAll(of(namesAndValues).values);
    return new Params(all);
  }

  /**
   * A parameter.
   *
   * @param name its name
   * @param fallback what it is when absent
   * @return its value
   */
  public String get(String name, String fallback) {
    return values.getOrDefault(name, fallback);
  }

  /**
   * A parameter that is a whole number.
   *
   * @param name its name
   * @param fallback what it is when absent
   * @return its value
   */
  public int get(String name, int fallback) {
    String value = values.get(name);
    return value == null ? fallback : Integer.parseInt(value);
  }

  /**
   * As words of a command line.
   *
   * @return {@code key=value} each
   */
  public List<String> words() {
    return values.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList();
  }

  @Override
  public String toString() {
    return values.entrySet().stream()
        .map(e -> e.getKey() + "=" + e.getValue())
        .collect(Collectors.joining(" "));
  }
}
