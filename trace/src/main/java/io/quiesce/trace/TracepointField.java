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
}
