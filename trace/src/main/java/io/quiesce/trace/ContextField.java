package io.quiesce.trace;

/** What a session can add to each of its events. */
public enum ContextField {
  /** The process's number: {@code vpid}, 32 bits. */
  PROCESS_ID,

  /**
   * The kernel's number of the thread: {@code vtid}, 32 bits, -1 where the kernel cannot be asked.
   * Kept for a platform thread; for a virtual thread it is its carrier's, asked for each event,
   * which costs about 200 ns.
   */
  THREAD_ID,

  /** The thread's name: {@code threadname}, text. */
  THREAD_NAME,

  /** The JVM's number of the thread, {@link Thread#threadId}: {@code jtid}, 64 bits. */
  JAVA_THREAD_ID,

  /** The same for a virtual thread, 0 for a platform thread: {@code virtual_tid}, 64 bits. */
  VIRTUAL_THREAD_ID
}
