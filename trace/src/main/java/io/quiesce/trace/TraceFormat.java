package io.quiesce.trace;

/**
 * The version of the Common Trace Format in which a trace is described.
 *
 * <p>The two differ in the file {@code metadata} alone: the events are stored in the same bytes.
 *
 * <p>Source: the Common Trace Format 1.8.3 and CTF2-SPEC-2.0, diamon.org/ctf.
 */
public enum TraceFormat {
  /** Version 1.8, which babeltrace2 from 2.0 on and Trace Compass read. */
  CTF_1_8,

  /** Version 2, which babeltrace2 from 2.1 on reads. */
  CTF_2
}
