/** Queue locks. */
@NullMarked
package io.quiesce.locks;

import org.jspecify.annotations.NullMarked;
