/**
 * How Quiesce is measured: experiments, the processes that take turns in them, and their figures.
 *
 * <pre>
 *   Experiment  --plan-->  Cell: one set of parameters, the contestants that alternate, the pairs
 *   Runner      one live process per contestant; round 1: A B C, round 2: B C A, ...
 *                  |  SubjectProcess: "round MILLIS" -> "result ns=1.9"
 *                  +--- java SubjectHost (a Subject)    +--- a program of bench/native
 *   Report      medians with their spread, gains per round; as JSON, as text, as HTML (cli)
 * </pre>
 *
 * <p>{@code docs/bench.md} states the rules of measuring.
 */
@NullMarked
package io.quiesce.bench;

import org.jspecify.annotations.NullMarked;
