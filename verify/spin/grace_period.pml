/*
 * The grace period of the membarrier and fenced flavours: one monotone counter, one barrier, one pass.
 *
 *   reader   g = gp; ctr = g; p = ptr; use p; ctr = 0 (release)
 *   updater  ptr = new; membarrier; gp = gp + 1; wait until every ctr is 0 or at least the new gp; free the old object
 *
 * Claim: no reader uses an object that has been freed.
 *
 * -D NO_MEMBARRIER      twin: only the updater runs a barrier
 * -D PARITY             twin: gp is one bit, still a single pass
 * -D EXIT_PLAIN         twin: the exit store may be performed before the section's accesses
 * -D TRAILING_BARRIER   a second membarrier between the wait and the free
 * -D INCREMENT_FIRST    gp is incremented before the membarrier instead of after it
 * -D IN_ORDER_LOADS     the processor keeps loads in order
 * -D LOAD_BEFORE_ENTRY  twin: the compiler moved the pointer's load above the entry store
 * -D FENCED             the fenced flavour: readers run a full fence after the entry store, the updater a local one
 * -D NO_READER_FENCE    twin of FENCED: the reader's fence is missing (so it is NO_MEMBARRIER by another name)
 * -D NO_UPDATER_FENCE   twin of FENCED: the updater's fence is missing
 */
#ifndef PERIODS
#define PERIODS 3
#endif
#ifdef NO_READER_FENCE
#undef FENCED
#define LOCAL_BARRIER
#endif
#ifdef FENCED
#define LOCAL_BARRIER
#endif
#ifdef NO_MEMBARRIER
#define LOCAL_BARRIER
#endif

#include "reader.inc"

#ifdef NO_UPDATER_FENCE
#define BARRIER skip
#else
#ifdef LOCAL_BARRIER
#define BARRIER STORES_DRAINED
#else
#define BARRIER membarrier()
#endif
#endif

#ifdef PARITY
#define NEXT(x)      (3 - (x))
#define PASSED(i)    (ctr[i] == 0 || ctr[i] == current)
#else
#define NEXT(x)      ((x) + 1)
#define PASSED(i)    (ctr[i] == 0 || ctr[i] >= current)
#endif

active proctype Updater() {
  byte i = 0;
  byte period = 0;
  byte current = 1;
  do
  :: period < PERIODS ->
     pending_ptr = period + 1;
#ifdef INCREMENT_FIRST
     STORES_DRAINED;                /* the increment itself is not performed before the new pointer */
     atomic { current = NEXT(current); pending_gp = current };
     BARRIER;
#else
     BARRIER;
     atomic { current = NEXT(current); pending_gp = current };  /* may become visible during or after the scan */
#endif
     do
     :: atomic { i < READERS && PASSED(i) -> i++ }
     :: atomic { i == READERS -> i = 0; break }
     od;
#ifdef TRAILING_BARRIER
     membarrier();
#endif
     atomic { freed = freed | (1 << period); period++ }
  :: period == PERIODS -> break
  od
}
