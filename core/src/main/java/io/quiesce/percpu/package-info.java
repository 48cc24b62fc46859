/** Placeholder. */
@NullMarked
package io.quiesce.percpu;

import org.jspecify.annotations.NullMarked;
