/*
 * NodelessMcsLock: one word that newcomers take, a queue whose head contends with them, a head that gets impatient and
 * is then granted the lock, an unlock without a fence, and the process-wide barrier that makes up for it.
 *
 * The unlocking thread's store of 0 waits in its store buffer until it drains by itself, or at the thread's next full
 * barrier (a compare-and-set, a volatile store, a wake-up). A waiter's process-wide barrier drains the other threads'
 * buffers, one after the other. A head that is not impatient parks for a time, so it may go on at any moment, and may
 * become impatient at any moment. One that is parked without a time sleeps until it is woken. An unlock may find at any
 * moment that the head has waited for too long, whatever the head does.
 *
 * Claims: one thread inside; nobody sleeps for ever (while the lock is free, or because it was granted to somebody who
 * was not woken, or because nobody was made the head); from the moment a head is impatient at most one other
 * takes the lock before it, the one that got it from an unlock that had looked at the head before that moment.
 *
 * -D ROLES             the first thread only ever takes the word as a newcomer, the others only queue
 * -D NO_NEWCOMERS      everybody queues, as in 2002
 * -D FENCED            the unlock is a volatile store, and waiters run no barrier
 * -D NO_BARRIER        twin: the impatient head runs no barrier
 * -D BARRIER_FIRST     twin: it runs it before it says that it parks
 * -D NOT_HONOURED      twin: an unlock takes no notice of impatience
 * -D NO_RECHECK        twin: who makes a place the head does not look again whether its thread has given up
 * -D NO_CLAIM          twin: a head that gives up and who made it the head both pass it on
 * -D HEAD_STORE        twin: who leaves the queue empty stores null into the head, no compare-and-set
 * -D ABANDON_STORE     twin: giving up is a look and a store
 * -D NOBODY_WOKEN      twin: a head that gives up does not wake the next
 */
#define WAITING 0
#define GRANTED 1
#define ABANDONED 2
#define PASSED 3

#define SELF   (_pid - 1)
#define FLUSH  !lingering[SELF]

#include "locks.inc"

bool locked = false;
byte head = 0;
byte tail = 0;
byte state[PLACES];
byte next[PLACES];
bool impatient[PLACES];

bool lingering[THREADS];      /* the store of 0 is in the store buffer */
byte passed_by = 0;           /* how many took the lock since the head got impatient */

#define BARRIER \
  i = 0; \
  do \
  :: atomic { i < THREADS -> \
       if \
       :: lingering[i] -> lingering[i] = false; locked = false \
       :: else \
       fi; \
       i++ } \
  :: atomic { i == THREADS -> i = 0; break } \
  od

#ifdef ROLES
#define MAY_TAKE   (SELF == 0)
#define MAY_QUEUE  (SELF != 0)
#else
#define MAY_TAKE   true
#define MAY_QUEUE  true
#endif

/* A waiter's look: granted, or it is the head and the word is free. */
#define LOOK(got) \
  if \
  :: state[me] == GRANTED -> got = true \
  :: else -> \
     if \
     :: head == me -> \
        atomic { \
          if \
          :: !locked -> locked = true; got = true \
          :: else \
          fi } \
     :: else \
     fi \
  fi

#ifdef NO_CLAIM
#define CLAIM(p, won)  won = true
#else
#define CLAIM(p, won) \
  atomic { \
    if \
    :: state[p] == ABANDONED -> state[p] = PASSED; won = true \
    :: else \
    fi }
#endif

#ifdef NOBODY_WOKEN
#define WAKE_NEXT  skip
#else
#define WAKE_NEXT  wake(other)
#endif

active [THREADS] proctype Thread() {
  byte me, other, at, from, i;
  byte round = 0;
  bool got = false;
  bool waking = false;
  bool for_ever = false;
  do
  :: round < ROUNDS_OF(SELF) ->
     if
#ifndef NO_NEWCOMERS
     :: atomic {                               /* a newcomer is faster */
          MAY_TAKE && FLUSH && !locked -> locked = true;
          if
          :: head != 0 && impatient[head] && state[head] == WAITING ->
             passed_by++; assert(passed_by <= 1)
          :: else
          fi;
          goto locked_it
        }
#endif
     :: atomic {
          MAY_QUEUE && FLUSH -> me = PLACE(SELF, round);
          other = tail; tail = me
        }
     fi;
     if
     :: other == 0 -> head = me
     :: else -> next[other] = me
     fi;
     other = 0;
     do
     :: LOOK(got);
        if
        :: got -> goto acquired
#if QUITTERS > 0
        :: !got && MAY_QUIT(SELF) -> goto give_up
#endif
        :: !got
        fi;
#ifdef BARRIER_FIRST
        if
        :: head == me -> BARRIER
        :: else
        fi;
#endif
        parked[me] = true;
        if
        :: head != me -> for_ever = true
        :: else ->
           if
           :: impatient[me]
           :: !impatient[me] -> goto nap
           :: atomic { !impatient[me] -> impatient[me] = true; passed_by = 0 }
           fi;
#if !defined(NO_BARRIER) && !defined(BARRIER_FIRST) && !defined(FENCED)
           BARRIER;
#endif
           for_ever = true
        fi;
nap:
        LOOK(got);
        if
        :: got -> parked[me] = false; for_ever = false; goto acquired
        :: else
        fi;
        if
        :: atomic { permit[SELF] -> permit[SELF] = false; for_ever = false }
        :: atomic { !for_ever || MAY_QUIT(SELF) -> for_ever = false }
        fi;
        parked[me] = false
     od;
#if QUITTERS > 0
give_up:
#ifdef ABANDON_STORE
     if
     :: state[me] == WAITING -> state[me] = ABANDONED
     :: else -> goto acquired
     fi;
#else
     atomic {
       if
       :: state[me] == WAITING -> state[me] = ABANDONED
       :: else -> goto acquired
       fi
     };
#endif
     if
     :: head == me -> CLAIM(me, waking)
     :: else
     fi;
     if
     :: waking -> goto pass
     :: else -> goto next_round
     fi;
#endif
acquired:
     got = false;
pass:
     /* makes the next one the head */
     atomic { at = me; from = me };
     do
     :: other = next[at];
        if
        :: other == 0 ->
           atomic {
             if
             :: tail == at -> tail = 0; got = true
             :: else
             fi
           };
           if
           :: got ->
#ifdef HEAD_STORE
              head = 0;
#else
              atomic {
                if
                :: head == from -> head = 0
                :: else
                fi
              };
#endif
              got = false;
              break
           :: else
           fi;
           atomic { next[at] != 0 -> other = next[at] }
        :: else
        fi;
        if
        :: state[other] >= ABANDONED -> at = other
        :: else ->
           head = other;
#if QUITTERS > 0
           if
           :: waking -> WAKE_NEXT
           :: else
           fi;
#endif
#ifdef NO_RECHECK
           break
#else
           if
           :: state[other] < ABANDONED -> break
           :: else -> skip
           fi;
#if QUITTERS > 0
           CLAIM(other, got);
           if
           :: got -> atomic { got = false; from = other; at = other }
           :: else -> break
           fi
#endif
#endif
        fi
     od;
     if
#if QUITTERS > 0
     :: waking -> waking = false; goto next_round
#endif
     :: !waking
     fi;
locked_it:
     ENTER;
     LEAVE;
     other = head;
#ifndef NOT_HONOURED
     if
     :: other != 0 ->                          /* impatient, or the unlock finds that it is overdue */
        atomic {
          if
          :: state[other] == WAITING -> state[other] = GRANTED; got = true
          :: else
          fi
        };
        if
        :: got -> got = false; wake(other); goto next_round
        :: else
        fi
     :: !(other != 0 && impatient[other])
     fi;
#endif
#ifdef FENCED
     locked = false;
#else
     lingering[SELF] = true;
#endif
     other = head;
     if
     :: other != 0 -> wake(other)
     :: else
     fi;
next_round:
     atomic { round++; me = 0; other = 0; at = 0; from = 0 }
  :: else -> break
  od;
  ended++
}

#ifndef FENCED
active proctype StoreBuffers() {
end:
  do
  :: atomic { lingering[0] -> lingering[0] = false; locked = false }
  :: atomic { lingering[1] -> lingering[1] = false; locked = false }
#if THREADS > 2
  :: atomic { lingering[2] -> lingering[2] = false; locked = false }
#endif
  od
}
#endif
