package io.quiesce.rcu;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The grace-period counter; see {@link GracePeriod}. Never 0, which means quiescent. */
abstract class RcuCounter extends Padding {
  static final VarHandle COUNTER;

  static {
    try {
      COUNTER = MethodHandles.lookup().findVarHandle(RcuCounter.class, "counter", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  long counter = 1;
}

/** The padding behind it. */
abstract class RcuAfter extends RcuCounter {
  long q00, q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, q11, q12, q13, q14, q15;
}
