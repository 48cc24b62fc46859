/** The experiments, declared in one place each. */
@NullMarked
package io.quiesce.bench.experiments;

import org.jspecify.annotations.NullMarked;
