/** What the layers of tests share, and the tests that launch them. */
@NullMarked
package io.quiesce.verify;

import org.jspecify.annotations.NullMarked;
