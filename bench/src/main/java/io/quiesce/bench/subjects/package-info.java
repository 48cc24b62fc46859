/** What is measured inside one JVM: Quiesce and its Java peers, one {@code Subject} each. */
@NullMarked
package io.quiesce.bench.subjects;

import org.jspecify.annotations.NullMarked;
