package io.quiesce.linux;

/** Error numbers that the calls of this package can return, with a sentence and its cure. */
final class Errno {
  static final int EPERM = 1;
  static final int ESRCH = 3;
  static final int EINTR = 4;
  static final int EAGAIN = 11;
  static final int ENOMEM = 12;
  static final int EACCES = 13;
  static final int EFAULT = 14;
  static final int EINVAL = 22;
  static final int ENOSYS = 38;
  static final int ETIMEDOUT = 110;

  private Errno() {}

  /** The whole sentence for a failed call. */
  static String describe(String call, int errno) {
    return call + " failed with " + symbol(errno) + " (" + errno + "): " + sentence(errno);
  }

  static String symbol(int errno) {
    return switch (errno) {
      case EPERM -> "EPERM";
      case ESRCH -> "ESRCH";
      case EINTR -> "EINTR";
      case EAGAIN -> "EAGAIN";
      case ENOMEM -> "ENOMEM";
      case EACCES -> "EACCES";
      case EFAULT -> "EFAULT";
      case EINVAL -> "EINVAL";
      case ENOSYS -> "ENOSYS";
      case ETIMEDOUT -> "ETIMEDOUT";
      default -> "E" + errno;
    };
  }

  static String sentence(int errno) {
    return switch (errno) {
      case EPERM ->
          "the kernel or a seccomp profile forbids it; allow the call, docs/security.md lists them";
      case ESRCH -> "the thread does not exist; it has probably ended";
      case EINTR -> "a signal interrupted it; call again";
      case EAGAIN -> "the value was not the expected one; read it again";
      case ENOMEM -> "the kernel has no memory for it; raise the memory limit or use less";
      case EACCES ->
          "a security policy forbids it; allow executable memory, or set -Dquiesce.rseq=off";
      case EFAULT -> "the address is not mapped; pass memory that is still allocated";
      case EINVAL ->
          "the kernel does not accept these arguments; an alignment, a CPU that is not there, or a"
              + " kernel without this command";
      case ENOSYS ->
          "this kernel does not have it, or a seccomp profile hides it; use a newer kernel or allow"
              + " the call";
      case ETIMEDOUT -> "the time-out passed; wait longer";
      default -> "see errno " + errno + " in the manual page of the call";
    };
  }
}
