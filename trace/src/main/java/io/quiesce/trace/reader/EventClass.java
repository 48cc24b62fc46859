package io.quiesce.trace.reader;

/**
 * What events of one kind are. Immutable.
 *
 * @param id tells it apart within its stream class
 * @param streamClass the id of its stream class
 * @param name all of it, such as {@code provider:name}
 * @param level LTTng's scale, from 0 (emergency) to 14 (debug), or {@link #NO_LEVEL}
 * @param context what stands before the fields in events of this kind alone; often empty
 * @param fields the event's own
 */
public record EventClass(
    long id, long streamClass, String name, int level, Type.Struct context, Type.Struct fields) {
  /** The level of a kind that has none. */
  public static final int NO_LEVEL = -1;
}
