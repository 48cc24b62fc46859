package io.quiesce.linux;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/**
 * Calls the JDK's copy of a string through a method handle: HotSpot counts how deep it inlines, 15
 * calls by default, but does not count a method that a handle calls. The copy itself is 10 calls
 * deep.
 */
final class Latin1 {
  static final MethodHandle SET_STRING = find();

  private Latin1() {}

  private static MethodHandle find() {
    try {
      MethodHandle method =
          MethodHandles.lookup()
              .findVirtual(
                  MemorySegment.class,
                  "setString",
                  MethodType.methodType(void.class, long.class, String.class, Charset.class));
      return MethodHandles.insertArguments(
          method.bindTo(RawMemory.ALL), 2, StandardCharsets.ISO_8859_1);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
