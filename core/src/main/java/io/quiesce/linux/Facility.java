package io.quiesce.linux;

/**
 * Whether something the kernel or CPU offers is usable, and why.
 *
 * @param on usable
 * @param reason one sentence; when off it ends in the cure
 */
record Facility(boolean on, String reason) {
  static Facility on(String reason) {
    return new Facility(true, reason);
  }

  static Facility off(String reason) {
    return new Facility(false, reason);
  }

  UnsupportedOperationException unsupported(String what) {
    return new UnsupportedOperationException(what + " is not available: " + reason);
  }
}
