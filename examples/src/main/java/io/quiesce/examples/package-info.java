/**
 * Small programs, one per use; each runs in the build and prints what it shows.
 *
 * <ul>
 *   <li>{@link io.quiesce.examples.GuardedMappedFile}: swap and close a mapped file under readers.
 *   <li>{@link io.quiesce.examples.RcuMappedIndex}: the same with an arena that unmaps after the
 *       grace period, and two thousand files.
 *   <li>{@link io.quiesce.examples.ReloadedConfig}: publish a new version, release the old one.
 *   <li>{@link io.quiesce.examples.EventLoop}: reading at no cost in a loop that announces when it
 *       is between two messages.
 *   <li>{@link io.quiesce.examples.RequestMetrics}: a thousand counters and a histogram for each
 *       CPU, read out by intervals.
 *   <li>{@link io.quiesce.examples.MessageBlocks}: off-heap blocks that another thread frees, under
 *       a limit.
 * </ul>
 */
@NullMarked
package io.quiesce.examples;

import org.jspecify.annotations.NullMarked;
