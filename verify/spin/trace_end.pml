/*
 * The end of a session (R.10) against one row of the tracer's ring: who was told that its record is reserved is below the
 * last offset that anybody reads. With compare-and-swap unless it is said otherwise.
 *
 *   swap       closed? offset; swap it; closed? told so
 *   sequence   closed? offset; OFFSET BEHIND THE RECORD; told so
 *   lock       lock; closed? offset; offset behind the record; unlock; told so
 *   end        closed; a fence of the ring's CPU (sequence), or with the lock; last look at the offset
 *
 * The ring's CPU has a store buffer for the offset in a sequence; it drains when it likes, at a context switch and at the
 * fence. The other two publish the offset by an instruction that waits for it.
 *
 * -D SEQUENCE, LOCK    the other two hot paths
 *
 * -D NO_LOOK           twin: the thread does not look behind its swap
 * -D LOOK_FIRST        twin: it looks before its swap
 * -D OFFSET_FIRST      twin: the last look at the offset comes before closed
 * -D NO_FENCE          twin of SEQUENCE: no fence
 * -D FENCE_FIRST       twin of SEQUENCE: the fence comes before closed
 * -D TEST_OUTSIDE      twin of SEQUENCE: closed is tested before the sequence
 * -D NO_LOCK           twin of LOCK: the end does not take the lock
 */
#define SAME_SIZE
#include "trace.inc"

byte visible = RING;          /* the offset as other CPUs see it */
byte told = RING;             /* behind the last record whose thread was told that it is reserved */
byte last = 0;                /* what the last look found */
bool closed = false;
bool locked = false;

inline reserved() {
  told = (at + 1 > told -> at + 1 : told);
  assert(last == 0 || told <= last)
}

active [PRODUCERS] proctype Producer() {
  byte n = 0;
  byte at;
#ifdef LOOK_FIRST
  bool ended;
#endif
  do
  :: n < EVENTS ->
reserve:
#ifdef SEQUENCE
#ifdef TEST_OUTSIDE
     if
     :: closed -> break
     :: !closed
     fi;
#endif
     atomic { on == SELF -> in_sequence[SELF] = true };
#ifndef TEST_OUTSIDE
     if
     :: atomic { RUNS && !closed }
     :: atomic { RUNS && closed -> in_sequence[SELF] = false; break }
     :: RESTARTED(reserve)
     fi;
#endif
     STEP(reserve, at = offset);
     STEP(reserve, offset = at + 1; in_sequence[SELF] = false);
     atomic { reserved(); at = 0; n++ }
#else
#ifdef LOCK
     atomic { !locked -> locked = true };
     if
     :: closed -> locked = false; break
     :: !closed
     fi;
     at = visible;
     visible = at + 1;
     locked = false;
     atomic { reserved(); at = 0; n++ }
#else
     if
     :: closed -> break
     :: !closed
     fi;
     at = visible;
#ifdef LOOK_FIRST
     ended = closed;
#endif
     atomic {
       if
       :: visible == at -> visible = at + 1
       :: visible != at -> at = 0; goto reserve
       fi };
#ifndef NO_LOOK
     if
#ifdef LOOK_FIRST
     :: ended -> break         /* given up */
     :: !ended
#else
     :: closed -> break        /* given up */
     :: !closed
#endif
     fi;
#endif
     atomic { reserved(); at = 0; n++ }
#endif
#endif
  :: n == EVENTS -> break
  od;
  atomic { n = 0; at = 0; done++ }
}

#ifdef SEQUENCE
inline fence() {
  atomic {
    visible = offset;
    if
    :: on < PRODUCERS -> restart[on] = in_sequence[on]
    :: else
    fi }
}

active proctype Machine() {
end:
  do
  :: atomic { visible != offset -> visible = offset }
  :: atomic { done < PRODUCERS && on != NOBODY -> visible = offset; scheduled(NOBODY) }
  :: atomic { done < PRODUCERS && on != 0 -> visible = offset; scheduled(0) }
  :: atomic { done < PRODUCERS && on != 1 -> visible = offset; scheduled(1) }
  od
}
#endif

active proctype End() {
  byte seen;
#ifdef OFFSET_FIRST
  seen = visible;
#endif
#if defined(LOCK) && !defined(NO_LOCK)
  atomic { !locked -> locked = true };
#endif
#ifdef FENCE_FIRST
  fence();
#endif
  closed = true;
#if defined(LOCK) && !defined(NO_LOCK)
  locked = false;
#endif
#if defined(SEQUENCE) && !defined(NO_FENCE) && !defined(FENCE_FIRST)
  fence();
#endif
#ifndef OFFSET_FIRST
  seen = visible;
#endif
  atomic {
    last = seen;
    assert(told <= last && done <= PRODUCERS) }
}
