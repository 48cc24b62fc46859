/** Placeholder. */
@NullMarked
package io.quiesce.linux;

import org.jspecify.annotations.NullMarked;
