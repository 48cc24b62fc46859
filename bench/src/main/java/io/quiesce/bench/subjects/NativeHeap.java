package io.quiesce.bench.subjects;

import io.quiesce.bench.Subject.UnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;

/**
 * {@code malloc} and its family through critical downcalls, from the C library or from a library
 * that is loaded beside it; nothing is preloaded, and the JVM's own memory stays where it was.
 */
final class NativeHeap implements Bins.Heap {
  private record Library(String name, List<String> files, String install) {}

  private static final List<Library> LIBRARIES =
      List.of(
          new Library("jemalloc", List.of("libjemalloc.so.2", "libjemalloc.so"), "libjemalloc2"),
          new Library(
              "mimalloc",
              List.of("libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so"),
              "libmimalloc2.0"),
          new Library(
              "tcmalloc",
              List.of("libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so"),
              "libtcmalloc-minimal4"));

  /** Constants, so that the compiler sees through the handles; one library for a process. */
  private static final class Calls {
    static final String LIBRARY = chosen;
    static final SymbolLookup SYMBOLS = lookup(LIBRARY);
    static final MethodHandle MALLOC = handle("malloc", ValueLayout.JAVA_LONG);
    static final MethodHandle MEMALIGN =
        handle("memalign", ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    static final MethodHandle CALLOC =
        handle("calloc", ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    static final MethodHandle REALLOC =
        handle("realloc", ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    static final MethodHandle FREE = bind("free", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));

    private static MethodHandle handle(String name, ValueLayout... arguments) {
      return bind(name, FunctionDescriptor.of(ValueLayout.JAVA_LONG, arguments));
    }

    @SuppressWarnings("restricted") // Subjects run with native access.
    private static MethodHandle bind(String name, FunctionDescriptor type) {
      return Linker.nativeLinker()
          .downcallHandle(SYMBOLS.findOrThrow(name), type, Linker.Option.critical(false));
    }
  }

  private static String chosen = "glibc";

  private NativeHeap() {}

  static synchronized Bins.Heap of(String name) {
    lookup(name);
    chosen = name;
    if (!Calls.LIBRARY.equals(name)) {
      throw new IllegalStateException("this process has " + Calls.LIBRARY + " already");
    }
    return new NativeHeap();
  }

  @SuppressWarnings("restricted") // Subjects run with native access.
  private static SymbolLookup lookup(String name) {
    if (name.equals("glibc")) {
      return Linker.nativeLinker().defaultLookup();
    }
    Library library =
        LIBRARIES.stream().filter(one -> one.name().equals(name)).findFirst().orElseThrow();
    for (String file : library.files()) {
      try {
        return SymbolLookup.libraryLookup(file, Arena.global());
      } catch (IllegalArgumentException e) {
        // The next name, or none.
      }
    }
    throw new UnavailableException("It cannot be loaded: install " + library.install() + ".");
  }

  @Override
  public Bins newBins(int slots) {
    return new NativeBins(slots);
  }

  private static final class NativeBins extends Bins.OfAddresses {
    NativeBins(int slots) {
      super(slots);
    }

    private static long some(long address) {
      if (address == 0) {
        throw new OutOfMemoryError("no memory from " + Calls.LIBRARY);
      }
      return address;
    }

    private static RuntimeException unexpected(Throwable t) {
      return t instanceof RuntimeException e ? e : new IllegalStateException(t);
    }

    @Override
    void allocate(int slot, int bytes) {
      try {
        blocks[slot] = some((long) Calls.MALLOC.invokeExact((long) bytes));
      } catch (Throwable t) {
        throw unexpected(t);
      }
    }

    @Override
    void allocateAligned(int slot, int bytes, int alignment) {
      try {
        blocks[slot] = some((long) Calls.MEMALIGN.invokeExact((long) alignment, (long) bytes));
      } catch (Throwable t) {
        throw unexpected(t);
      }
    }

    @Override
    void allocateZeroed(int slot, int bytes) {
      try {
        blocks[slot] = some((long) Calls.CALLOC.invokeExact(1L, (long) bytes));
      } catch (Throwable t) {
        throw unexpected(t);
      }
    }

    @Override
    void reallocate(int slot, int bytes) {
      try {
        blocks[slot] = some((long) Calls.REALLOC.invokeExact(blocks[slot], (long) bytes));
      } catch (Throwable t) {
        throw unexpected(t);
      }
    }

    @Override
    void free(int slot) {
      try {
        Calls.FREE.invokeExact(blocks[slot]);
      } catch (Throwable t) {
        throw unexpected(t);
      }
    }
  }
}
