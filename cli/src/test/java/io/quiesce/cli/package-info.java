/** Tests of the command line, the report and the launcher. */
@NullMarked
package io.quiesce.cli;

import org.jspecify.annotations.NullMarked;
