/**
 * What the Linux kernel and the CPU offer, one class each, without a native library.
 *
 * <pre>
 *              Platform: what is there, why not, how to get it
 *                 |
 *    +------------+-----------+-----------------+
 *    | system calls           | machine code    | plain files       | raw memory
 *    |                        | (NativeCode)    |                   |
 *    Membarrier  Futex        Rseq    Tsc       CpuTopology         OffHeap
 *    CpuAffinity              PerCpuOps         (CpuSet)
 *    KernelThread
 * </pre>
 *
 * <p>Guarantees. No class initialiser fails: where the operating system, the CPU, the C library, a
 * sandbox, the JVM or a property says no, {@code isAvailable()} is false, {@link
 * io.quiesce.linux.Platform#reason} says why and names the cure, and operations without a fallback
 * throw {@link java.lang.UnsupportedOperationException} with the same sentence. What the kernel
 * refuses later is a {@link io.quiesce.linux.LinuxException}. Answers never change while the JVM
 * runs. Machine code lies in one page that is never writable and executable at once;
 * docs/security.md lists it all.
 *
 * <p>Example: a heavy barrier where there is one.
 *
 * <pre>{@code
 * if (Membarrier.isAvailable()) {
 *   Membarrier.fence();
 * } else {
 *   log(Platform.reason("membarrier"));
 * }
 * }</pre>
 */
@NullMarked
package io.quiesce.linux;

import org.jspecify.annotations.NullMarked;
