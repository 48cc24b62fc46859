package io.quiesce.trace.point;

import io.quiesce.trace.ring.Store;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * Methods of an event's path that are called through handles. HotSpot inlines no more than 15 calls
 * deep by default, and the JDK's copy of a string alone is 10 deep; but it does not count a method
 * that a handle calls. Without this the last calls of the copy stay calls (measured, an event with
 * a string of 64 characters: TODO).
 */
final class Calls {
  /** {@link Store#putAscii}, or what it would call here. */
  static final MethodHandle PUT_ASCII = Store.ascii();

  /** {@link Utf8Store#store(MemorySegment, long, String, long)}. */
  static final MethodHandle STORE =
      find(
          MethodHandles.lookup(),
          Utf8Store.class,
          "store",
          MethodType.methodType(
              long.class, MemorySegment.class, long.class, String.class, long.class));

  private Calls() {}

  /** The only method of that name in the class that looks it up. */
  static MethodHandle own(MethodHandles.Lookup lookup, String name) {
    Method method =
        Arrays.stream(lookup.lookupClass().getDeclaredMethods())
            .filter(some -> some.getName().equals(name))
            .findFirst()
            .orElseThrow();
    try {
      return lookup.unreflect(method);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  private static MethodHandle find(
      MethodHandles.Lookup lookup, Class<?> in, String name, MethodType type) {
    try {
      return lookup.findStatic(in, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
