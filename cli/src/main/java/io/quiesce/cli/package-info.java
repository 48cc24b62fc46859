/** The commands behind {@code ./quiesce}. Every error is one sentence with its cure. */
@NullMarked
package io.quiesce.cli;

import org.jspecify.annotations.NullMarked;
