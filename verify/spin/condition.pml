/*
 * LockCondition: to await is to queue under the lock, unlock, park until signalled or out of patience, and lock again.
 * The lock is a word that is taken in one step; its own order is the business of the other models.
 *
 * Waiters wait for tokens; the producer makes some, with a signal for each. A waiter that may give up does so at any look
 * (a time-out or an interrupt) and takes no token; one that was signalled takes one if it is still there.
 *
 * Claims: no waiter sleeps for ever beside a token, so no signal was spent on one that left without it; whoever gave
 * up is out of the queue.
 *
 * -D ABANDON_STORE twin: giving up is a look and a store
 * -D NO_DECISION   twin: a signal takes the first place whether or not its thread has given up
 * -D QUEUE_LATE    twin: a waiter unlocks before it queues
 * -D WAKE_FIRST    twin: the signal wakes, then marks the place
 * -D NOT_REMOVED   twin: one that gave up leaves its place in the queue
 */
#define WAITING 0
#define GRANTED 1
#define ABANDONED 2

#define ALL_WELL (ended == THREADS || tokens == 0)

#ifndef TOKENS
#define TOKENS 1
#endif

byte tokens = 0;

#include "locks.inc"

#define LOCK    atomic { inside == 0 -> inside = 1 }
#define UNLOCK  LEAVE

byte state[PLACES];
byte queue[THREADS];          /* places in order; 0 behind the last */

inline remove_at(n) {
  do
  :: n < THREADS - 1 -> queue[n] = queue[n + 1]; n++
  :: else -> queue[n] = 0; n = 0; break
  od
}

/* Thread 0 makes the tokens; the others wait. */
active proctype Producer() {
  byte made, first, i;
  bool spent;
  do
  :: made < TOKENS ->
     LOCK;
     tokens++;
     made++;
     spent = false;
     do
     :: !spent && queue[0] != 0 ->
        first = queue[0];
        d_step { remove_at(i) };
#ifdef WAKE_FIRST
        permit[THREAD(first)] = true;
#endif
        atomic {
          if
          :: state[first] == WAITING -> state[first] = GRANTED; spent = true
#ifdef NO_DECISION
          :: else -> spent = true
#else
          :: else
#endif
          fi
        };
#ifndef WAKE_FIRST
        if
        :: spent -> permit[THREAD(first)] = true
        :: else
        fi
#endif
     :: else -> break
     od;
     UNLOCK
  :: else -> break
  od;
  ended++
}

#if THREADS > 2
#define WAITERS 2
#else
#define WAITERS 1
#endif

active [WAITERS] proctype Waiter() {
  byte t = _pid - 1;
  byte me, i;
  bool left = false;
  me = PLACE(t, 0);
  LOCK;
  do
  :: tokens > 0 -> tokens--; break
  :: tokens == 0 && !left ->
#ifdef QUEUE_LATE
     UNLOCK;
#endif
     d_step {
       state[me] = WAITING;                    /* a new place, if the token went to another */
       do
       :: queue[i] != 0 -> i++
       :: else -> queue[i] = me; i = 0; break
       od
     };
#ifndef QUEUE_LATE
     UNLOCK;
#endif
     do
     :: state[me] == GRANTED -> break
     :: state[me] == WAITING ->
end_parked:
        if
        :: atomic { permit[t] -> permit[t] = false }
        :: MAY_QUIT(t) ->
#ifdef ABANDON_STORE
           if
           :: state[me] == WAITING -> left = true
           :: else -> break
           fi;
           state[me] = ABANDONED; break
#else
           atomic {
             if
             :: state[me] == WAITING -> state[me] = ABANDONED; left = true; break
             :: else -> break
             fi
           }
#endif
        fi
     od;
     LOCK;
     if
     :: left ->
#ifndef NOT_REMOVED
        d_step {
          do
          :: i < THREADS && queue[i] != me -> i++
          :: i < THREADS && queue[i] == me -> remove_at(i); break
          :: else -> i = 0; break
          od
        };
#endif
        break
     :: else
     fi
  od;
  UNLOCK;
  ended++
}

active proctype AtTheEnd() {
end:
  over && ended == THREADS;
  assert(queue[0] == 0)
}
