/** Tests of what subjects are made of. */
@NullMarked
package io.quiesce.bench.subjects;

import org.jspecify.annotations.NullMarked;
