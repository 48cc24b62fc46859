package io.quiesce.linux;

/**
 * A system call that the kernel refused: which call, which error number, and what to do about it.
 *
 * <p>Immutable; safe to share between threads.
 */
public final class LinuxException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The call as a reader would write it. */
  private final String call;

  /** The kernel's positive error number. */
  private final int errno;

  /**
   * An exception for a failed call.
   *
   * @param call the call's name, with its command where it has one
   * @param errno the kernel's error number, positive
   */
  public LinuxException(String call, int errno) {
    super(Errno.describe(call, errno));
    this.call = call;
    this.errno = errno;
  }

  /**
   * The call that failed.
   *
   * @return for example {@code membarrier(PRIVATE_EXPEDITED)}
   */
  public String call() {
    return call;
  }

  /**
   * The kernel's error number.
   *
   * @return a positive number, as in {@code errno.h}
   */
  public int errno() {
    return errno;
  }

  /**
   * The error's symbolic name.
   *
   * @return for example {@code EPERM}; {@code E<number>} for one that this library does not know
   */
  public String symbol() {
    return Errno.symbol(errno);
  }
}
