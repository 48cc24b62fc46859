package io.quiesce.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/**
 * One anonymous page of machine code: mapped read+write, filled, then made read+execute. It is
 * never writable and executable at once, and never unmapped once it holds code: the kernel may
 * still hold a pointer into it for any thread.
 */
@SuppressWarnings("restricted") // The compiler flags every use of the linker.
final class CodePage {
  private static final int BYTES = 4096;
  private static final int PROT_READ = 1;
  private static final int PROT_WRITE = 2;
  private static final int PROT_EXEC = 4;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;

  private final long address;
  private final List<CodeSequence> sequences;

  private CodePage(long address, List<CodeSequence> sequences) {
    this.address = address;
    this.sequences = sequences;
  }

  /**
   * Maps and fills a page.
   *
   * @throws LinuxException if the kernel refuses memory, or refuses to make it executable
   */
  static CodePage map(List<CodeTable> tables, long rseqOffset, int indexField) {
    long address =
        Syscall.call(Syscall.MMAP, 0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
    if (address < 0 && address > -4096) {
      throw new LinuxException("mmap(PROT_READ|PROT_WRITE)", (int) -address);
    }
    try {
      Assembler.Image image = Assembler.assemble(tables, address, BYTES, rseqOffset, indexField);
      MemorySegment.ofAddress(address)
          .reinterpret(BYTES)
          .copyFrom(MemorySegment.ofArray(image.bytes()));
      Syscall.checked(
          "mprotect(PROT_READ|PROT_EXEC)", Syscall.MPROTECT, address, BYTES, PROT_READ | PROT_EXEC);
      return new CodePage(address, image.sequences());
    } catch (RuntimeException e) {
      // Nothing has run in it yet, so here, and only here, it may go.
      Syscall.plain(Syscall.MUNMAP, address, BYTES, 0);
      throw e;
    }
  }

  long address() {
    return address;
  }

  List<CodeSequence> sequences() {
    return sequences;
  }

  CodeSequence sequence(String name) {
    for (CodeSequence sequence : sequences) {
      if (sequence.name().equals(name)) {
        return sequence;
      }
    }
    throw new IllegalArgumentException(
        "no sequence is called '" + name + "'; there are " + sequences);
  }

  /**
   * A handle that calls a sequence. Critical, because a sequence neither blocks nor loops for long:
   * the thread does not leave Java, which is most of what a call costs.
   */
  MethodHandle downcall(String name, FunctionDescriptor shape) {
    return Linker.nativeLinker()
        .downcallHandle(
            MemorySegment.ofAddress(sequence(name).address()),
            shape,
            Linker.Option.critical(false));
  }
}
