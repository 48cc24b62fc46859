package io.quiesce.bench;

import org.jspecify.annotations.Nullable;

/**
 * Who takes part in a cell.
 *
 * @param subject its name in the results
 * @param kind whose it is
 * @param launch the process whose figures count
 * @param disturber a process that works during the same rounds and whose figures do not count
 * @param params its own parameters in the results, beside those of the cell
 */
public record Contestant(
    String subject, Kind kind, Launch launch, @Nullable Launch disturber, Params params) {

  /** Whose a contestant is. */
  public enum Kind {
    /** This library. */
    QUIESCE,
    /** A peer on the JVM. */
    JAVA,
    /** A peer in C. */
    NATIVE;

    /**
     * For JSON.
     *
     * @return in lower case
     */
    public String label() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /**
   * A process to start: {@code PROGRAM EXPERIMENT key=value ...}.
   *
   * @param program a name of {@link Subjects}, or a program of bench/native
   * @param isNative which of the two
   * @param params the words after the experiment's name
   * @param within a script of bench/native that runs the process in surroundings which it needs, as
   *     {@code SCRIPT run COMMAND...}; empty: none
   */
  public record Launch(String program, boolean isNative, Params params, String within) {

    /**
     * A process that needs nothing around it.
     *
     * @param program a name of {@link Subjects}, or a program of bench/native
     * @param isNative which of the two
     * @param params the words after the experiment's name
     */
    public Launch(String program, boolean isNative, Params params) {
      this(program, isNative, params, "");
    }
  }

  /**
   * Of this library.
   *
   * @param subject its name in the results
   * @param program its name in {@link Subjects}
   * @param params its parameters
   * @return the contestant
   */
  public static Contestant quiesce(String subject, String program, Params params) {
    return new Contestant(
        subject, Kind.QUIESCE, new Launch(program, false, params), null, Params.NONE);
  }

  /**
   * A Java peer.
   *
   * @param subject its name in the results
   * @param program its name in {@link Subjects}
   * @param params its parameters
   * @return the contestant
   */
  public static Contestant java(String subject, String program, Params params) {
    return new Contestant(
        subject, Kind.JAVA, new Launch(program, false, params), null, Params.NONE);
  }

  /**
   * A native peer.
   *
   * @param subject its name in the results
   * @param program its name in bench/native
   * @param params its parameters
   * @return the contestant
   */
  public static Contestant nativePeer(String subject, String program, Params params) {
    return new Contestant(
        subject, Kind.NATIVE, new Launch(program, true, params), null, Params.NONE);
  }

  /**
   * The same, with a process that disturbs it.
   *
   * @param other works during its rounds
   * @return a copy
   */
  public Contestant disturbedBy(Launch other) {
    return new Contestant(subject, kind, launch, other, params);
  }

  /**
   * The same, in surroundings that a script of bench/native makes.
   *
   * @param script its name
   * @return a copy
   */
  public Contestant within(String script) {
    Launch inside = new Launch(launch.program(), launch.isNative(), launch.params(), script);
    return new Contestant(subject, kind, inside, disturber, params);
  }

  /**
   * The same, with parameters of its own in the results.
   *
   * @param own for its rows
   * @return a copy
   */
  public Contestant labelled(Params own) {
    return new Contestant(subject, kind, launch, disturber, own);
  }
}
