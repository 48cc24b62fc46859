/** Lincheck: every interleaving of short scenarios, and stress, against a sequential queue. */
@NullMarked
package io.quiesce.verify.lincheck;

import org.jspecify.annotations.NullMarked;
