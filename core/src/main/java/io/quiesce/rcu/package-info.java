/** Placeholder. */
@NullMarked
package io.quiesce.rcu;

import org.jspecify.annotations.NullMarked;
