/**
 * jcstress tests, one file per protocol. A healthy test forbids its bad outcome; its broken twin,
 * whose name ends in {@code Twin}, marks the same outcome as interesting, and {@link
 * io.quiesce.verify.stress.StressRunner} fails unless it was seen: a test that cannot fail proves
 * nothing. Not null-marked, because jcstress generates into it code that is not.
 */
package io.quiesce.verify.stress;
