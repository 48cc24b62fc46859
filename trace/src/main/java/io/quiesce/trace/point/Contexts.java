package io.quiesce.trace.point;

import io.quiesce.linux.KernelThread;
import io.quiesce.trace.ContextField;
import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ring.Store;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The contexts that sessions can choose, with LTTng's names where it has them.
 *
 * <p>A thread may be renamed between measuring and storing. Its name is then cut, or gets blanks
 * behind it, so that the event keeps the size that was reserved.
 */
public final class Contexts implements EventContext {
  private static final int PID = (int) ProcessHandle.current().pid();

  /** The kernel's numbers of platform threads. */
  private static final ThreadLocal<Integer> KERNEL_ID = ThreadLocal.withInitial(KernelThread::id);

  private final ContextField[] order;
  private final List<Field> fields;
  private final long fixed;
  private final boolean named;

  private Contexts(Set<ContextField> chosen) {
    List<Field> made = new ArrayList<>();
    long bytes = 0;
    for (ContextField field : chosen) {
      made.add(field(field));
      bytes += bytes(field);
    }
    this.order = chosen.toArray(ContextField[]::new);
    this.fields = List.copyOf(made);
    this.fixed = bytes;
    this.named = chosen.contains(ContextField.THREAD_NAME);
  }

  /** Those fields, each once, in the order of the enum; {@link EventContext#NONE} for none. */
  public static EventContext of(Collection<ContextField> chosen) {
    return chosen.isEmpty() ? NONE : new Contexts(EnumSet.copyOf(chosen));
  }

  private static Field field(ContextField field) {
    return switch (field) {
      case PROCESS_ID -> Field.signed("vpid", Integer.SIZE);
      case THREAD_ID -> Field.signed("vtid", Integer.SIZE);
      case THREAD_NAME -> Field.text("threadname");
      case JAVA_THREAD_ID -> Field.signed("jtid", Long.SIZE);
      case VIRTUAL_THREAD_ID -> Field.signed("virtual_tid", Long.SIZE);
    };
  }

  private static int bytes(ContextField field) {
    return switch (field) {
      case PROCESS_ID, THREAD_ID -> Integer.BYTES;
      case THREAD_NAME -> 0;
      case JAVA_THREAD_ID, VIRTUAL_THREAD_ID -> Long.BYTES;
    };
  }

  @Override
  public List<Field> fields() {
    return fields;
  }

  @Override
  public long bytes() {
    return named ? fixed + Utf8Store.size(Thread.currentThread().getName()) : fixed;
  }

  @Override
  public long store(MemorySegment memory, long place, long end) {
    Thread thread = Thread.currentThread();
    long room = end - place - fixed;
    long at = place;
    for (ContextField field : order) {
      switch (field) {
        case PROCESS_ID -> Store.putInt(memory, at, PID);
        case THREAD_ID -> Store.putInt(memory, at, kernelId(thread));
        case THREAD_NAME -> {
          Utf8Store.fit(memory, at, at + room, thread.getName());
          at += room;
        }
        case JAVA_THREAD_ID -> Store.putLong(memory, at, thread.threadId());
        case VIRTUAL_THREAD_ID ->
            Store.putLong(memory, at, thread.isVirtual() ? thread.threadId() : 0);
      }
      at += bytes(field);
    }
    return at;
  }

  private static int kernelId(Thread thread) {
    return thread.isVirtual() ? KernelThread.id() : KERNEL_ID.get();
  }
}
