package io.quiesce.trace;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** How a parameter of a tracepoint is shown. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.PARAMETER)
public @interface TracepointField {
  /**
   * The field's name.
   *
   * @return any text, once in a method; by default the parameter's name if the class file has it
   *     (compiler option {@code -parameters}), otherwise {@code arg0}, {@code arg1} and so on
   */
  String name() default "";

  /**
   * Whether readers show the integer, or the integers of the array, without a sign in base 16.
   *
   * @return false by default
   */
  boolean hex() default false;

  /**
   * The number of elements, for an array that always has as many: a trace holds it without its
   * length, which saves four bytes. An event never fails for it: of a longer array the first
   * elements are stored, a shorter one is filled with zeros, and null is all zeros.
   *
   * @return at most 65,535; 0, the default, stores each array with its own length
   */
  int length() default 0;
}
