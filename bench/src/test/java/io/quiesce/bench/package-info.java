/** Tests of the harness. */
@NullMarked
package io.quiesce.bench;

import org.jspecify.annotations.NullMarked;
