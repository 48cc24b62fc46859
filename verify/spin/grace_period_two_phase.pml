/*
 * The same grace period with a gp of one bit, which takes two passes. Readers exit with a plain store; the barrier at the
 * end makes up for it.
 *
 *   updater  ptr = new; membarrier; PASSES; membarrier; free the old object
 *
 * where PASSES is one of
 *   (default)        flip; wait for all; flip; wait for all
 * -D WAIT_FLIP_WAIT  wait for all; flip; wait for those seen inside with the current parity by the first pass
 * -D ONE_FLIP        twin: flip; wait for all
 *
 * "Wait" means: until ctr is 0 or carries the current parity.
 * -D NO_LEADING      twin: the first membarrier is a local fence
 * -D NO_TRAILING     twin: the last membarrier is a local fence
 */
#ifndef PERIODS
#define PERIODS 3
#endif
#define EXIT_PLAIN
#include "reader.inc"

#define FLIP  atomic { current = 3 - current; pending_gp = current }

inline wait_for_all() {
  do
  :: atomic { i < READERS && (ctr[i] == 0 || ctr[i] == current) ->
       inside[i] = (ctr[i] == current);
       i++
     }
  :: atomic { i == READERS -> i = 0; break }
  od
}

inline wait_for_those_inside() {
  do
  :: atomic { i < READERS && (!inside[i] || ctr[i] == 0 || ctr[i] == current) -> inside[i] = false; i++ }
  :: atomic { i == READERS -> i = 0; break }
  od
}

active proctype Updater() {
  byte i = 0;
  byte period = 0;
  byte current = 1;
  bool inside[READERS];
  do
  :: period < PERIODS ->
     pending_ptr = period + 1;
#ifdef NO_LEADING
     STORES_DRAINED;
#else
     membarrier();
#endif
#ifdef WAIT_FLIP_WAIT
     wait_for_all();
     FLIP;
     wait_for_those_inside();
#else
     FLIP;
     wait_for_all();
#ifndef ONE_FLIP
     STORES_DRAINED;
     FLIP;
     wait_for_all();
#endif
#endif
#ifdef NO_TRAILING
     STORES_DRAINED;
#else
     membarrier();
#endif
     atomic { freed = freed | (1 << period); period++ }
  :: period == PERIODS -> break
  od
}
