package io.quiesce.percpu;

import io.quiesce.linux.NativeCode;
import io.quiesce.linux.Rseq;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Each operation is one restartable sequence, called once. Touched only where they work. */
final class SequenceOps implements RowOps {
  private static final MemoryLayout I = ValueLayout.JAVA_INT;
  private static final MemoryLayout J = ValueLayout.JAVA_LONG;

  private static final int ROWS = Rseq.rows();

  private static final MethodHandle ADD = handle("add", I, J, J, J, I);
  private static final MethodHandle ARRAY_PUSH = handle("array-push", I, J, J, I, J);
  private static final MethodHandle ARRAY_POP = handle("array-pop", J, J, J, I);
  private static final MethodHandle ARRAY_PUSH_MANY = handle("array-push-many", I, J, J, I, J, I);
  private static final MethodHandle ARRAY_POP_MANY = handle("array-pop-many", I, J, J, I, J, I);
  private static final MethodHandle LIST_PUSH = handle("list-push", I, J, J, I, J, J);
  private static final MethodHandle LIST_POP = handle("list-pop", J, J, J, I, J);
  private static final MethodHandle LIST_TAKE = handle("list-take", J, J, J, I);
  private static final MethodHandle COMPARE_STORE = handle("compare-store", I, I, J, J, J);
  private static final MethodHandle COMPARE_UNEQUAL_STORE_LOAD =
      handle("compare-unequal-store-load", I, I, J, J, J, J);
  private static final MethodHandle ADD_AT = handle("add-at", I, I, J, J);
  private static final MethodHandle DEREFERENCE_ADD = handle("dereference-add", I, I, J, J, J);
  private static final MethodHandle COMPARE_STORE_STORE =
      handle("compare-store-store", I, I, J, J, J, J, J);
  private static final MethodHandle COMPARE_COMPARE_STORE =
      handle("compare-compare-store", I, I, J, J, J, J, J);
  private static final MethodHandle COMPARE_COPY_STORE =
      handle("compare-copy-store", I, I, J, J, J, J, J, J);

  private static MethodHandle handle(String name, MemoryLayout result, MemoryLayout... arguments) {
    return NativeCode.downcall(name, FunctionDescriptor.of(result, arguments));
  }

  @Override
  public int rows() {
    return ROWS;
  }

  @Override
  public int row() {
    return Rseq.row();
  }

  @Override
  public void fenceRow(int row) {
    Rseq.fenceRow(row);
  }

  @Override
  public void fenceRows() {
    Rseq.fenceRows();
  }

  @Override
  public boolean add(long base, long stride, long delta) {
    try {
      return (int) ADD.invokeExact(base, stride, delta, ROWS) == 0;
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int arrayPush(long array, long stride, long value) {
    try {
      return (int) ARRAY_PUSH.invokeExact(array, stride, ROWS, value);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public long arrayPop(long array, long stride) {
    try {
      return (long) ARRAY_POP.invokeExact(array, stride, ROWS);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int arrayPushMany(long array, long stride, long from, int count) {
    try {
      return (int) ARRAY_PUSH_MANY.invokeExact(array, stride, ROWS, from, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int arrayPopMany(long array, long stride, long to, int count) {
    try {
      return (int) ARRAY_POP_MANY.invokeExact(array, stride, ROWS, to, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public boolean listPush(long list, long stride, long node, long link) {
    try {
      return (int) LIST_PUSH.invokeExact(list, stride, ROWS, node, link) == 0;
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public long listPop(long list, long stride, long link) {
    try {
      return (long) LIST_POP.invokeExact(list, stride, ROWS, link);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public long listTake(long list, long stride) {
    try {
      return (long) LIST_TAKE.invokeExact(list, stride, ROWS);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int compareStore(int row, long v, long expected, long value) {
    try {
      return (int) COMPARE_STORE.invokeExact(row, v, expected, value);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int compareUnequalStoreLoad(int row, long v, long unexpected, long offset, long out) {
    try {
      return (int) COMPARE_UNEQUAL_STORE_LOAD.invokeExact(row, v, unexpected, offset, out);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int addAt(int row, long v, long delta) {
    try {
      return (int) ADD_AT.invokeExact(row, v, delta);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int dereferenceAdd(int row, long p, long offset, long delta) {
    try {
      return (int) DEREFERENCE_ADD.invokeExact(row, p, offset, delta);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int compareStoreStore(
      int row, long v, long expected, long scratch, long scratchValue, long value) {
    try {
      return (int) COMPARE_STORE_STORE.invokeExact(row, v, expected, scratch, scratchValue, value);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int compareCompareStore(
      int row, long v, long expected, long v2, long expected2, long value) {
    try {
      return (int) COMPARE_COMPARE_STORE.invokeExact(row, v, expected, v2, expected2, value);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  @Override
  public int compareCopyStore(
      int row, long v, long expected, long to, long from, long bytes, long value) {
    try {
      return (int) COMPARE_COPY_STORE.invokeExact(row, v, expected, to, from, bytes, value);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  /** A sequence throws nothing itself; only the JVM's own errors come this way. */
  private static RuntimeException failed(Throwable t) {
    if (t instanceof Error error) {
      throw error;
    }
    return t instanceof RuntimeException e ? e : new IllegalStateException(t);
  }
}
