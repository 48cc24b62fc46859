/*
 * A signal that queues: the signaller, who has the lock, decides about the first place of the condition's queue and puts
 * a place for its thread into the lock's own queue. The thread sleeps on, at its condition, until an unlock wakes it;
 * its place says from the beginning that it is parked. If it is awake, because of an interrupt or since its time was
 * over in that very moment, it goes to wait at a place that may not be in the queue yet. How places come into the
 * condition's queue is the business of condition.pml, so all waiters begin there, and that of giving up in the lock's
 * queue of mcs.pml and nmcs.pml.
 *
 * Thread 0 signals, making a token for each signal; then come the waiters, then newcomers that lock once. Every waiter
 * is interrupted at most once, in whatever state, which ends a park and nothing else; a waiter of QUITTERS may give up
 * whenever it has not been signalled, takes no token then, and locks with its unused place.
 *
 * The lock is an McsLock without a place of its own, or with -D NODELESS a NodelessMcsLock: newcomers take the word, the
 * head contends with them, the unlock's store lingers, a head that is impatient runs the barrier and sleeps for good.
 * There the signaller takes the word and does not queue, and with -D ROLES newcomers do not either.
 *
 * Claims: one thread inside; everybody ends, but for a waiter that nobody had to signal: it waits for its signal, and
 * there is no token.
 *
 * -D NOT_PARKED     twin: the place does not say beforehand that it is parked
 * -D ENQUEUE_FIRST  twin: it is queued before it is decided that its thread stays
 * -D ENQUEUE_ANYWAY twin: it is queued whatever was decided
 * -D ENQUEUE_LATE   twin: it is queued after the unlock
 * -D CLEAR_LATE     twin: a thread that comes to its place says that it runs after its last look
 */
#define WAITING 0
#define GRANTED 1
#define ABANDONED 2

#ifndef WAITERS
#define WAITERS 1
#endif
#ifndef NEWCOMERS
#define NEWCOMERS 1
#endif
#ifndef SIGNALS
#define SIGNALS 1
#endif
#define THREADS (1 + WAITERS + NEWCOMERS)

#define SELF      (_pid - 1)
#define IS_WAITER (SELF >= 1 && SELF <= WAITERS)
#define UNNEEDED(t) (tokens == 0 && signalled[t] == WAITING -> 1 : 0)

#if WAITERS > 1
#define ALL_WELL (ended + UNNEEDED(1) + UNNEEDED(2) == THREADS)
#else
#define ALL_WELL (ended + UNNEEDED(1) == THREADS)
#endif

byte signalled[THREADS] = 3;  /* the state of a place in the condition's queue; 3 for those that have none */
byte tokens = 0;

#ifdef NODELESS
#define FLUSH !lingering[SELF]
bool lingering[THREADS];      /* the store of 0 is in the store buffer */
#endif

#include "locks.inc"

byte tail = 0;
byte state[PLACES];
byte next[PLACES];
bool interrupts[THREADS] = true;

#ifdef ROLES
#define MAY_QUEUE left
#else
#define MAY_QUEUE (SELF != 0)
#endif

#if defined(ROLES) && WAITERS < 2 && !defined(ENQUEUE_FIRST) && !defined(ENQUEUE_ANYWAY)
#define NOBODY_BEHIND         /* one place in the queue at most */
#endif

#ifdef NODELESS
bool locked = false;
byte head = 0;
bool impatient[PLACES];

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

#define LOOK \
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
#else
#define LOOK \
  if \
  :: state[me] == GRANTED -> got = true \
  :: else \
  fi
#endif

inline enqueue(p) {
  atomic { before = tail; tail = p };
#ifdef NODELESS
#ifdef NOBODY_BEHIND
  assert(before == 0);
  head = p
#else
  if
  :: before == 0 -> head = p
  :: else -> next[before] = p
  fi
#endif
#else
  if
  :: before != 0 -> next[before] = p
  :: else
  fi
#endif
}

active [THREADS] proctype Thread() {
  byte me = PLACE(SELF, 0);
  byte other, before;
  byte first = 1;
  bool got = false;
  bool left = false;
#ifdef CLEAR_LATE
  bool comes = IS_WAITER;
#endif
#ifdef NODELESS
  byte i;
  bool for_ever = false;
#endif
  if
  :: IS_WAITER ->
     atomic {
#ifndef NOT_PARKED
       parked[me] = true;
#endif
       signalled[SELF] = WAITING
     };
     do
     :: signalled[SELF] == GRANTED -> break
     :: signalled[SELF] == WAITING ->
end_parked:
        if
        :: atomic { permit[SELF] -> permit[SELF] = false }
        :: atomic { IS_WAITER && interrupts[SELF] -> interrupts[SELF] = false }
#if QUITTERS > 0
        :: MAY_QUIT(SELF) ->
           atomic {
             if
             :: signalled[SELF] == WAITING -> signalled[SELF] = ABANDONED; left = true
             :: else
             fi
           };
           break
#endif
        fi
     od;
#ifndef CLEAR_LATE
     parked[me] = false;
#endif
     if
#if QUITTERS > 0
     :: left
#endif
     :: !left -> goto wait_for_turn
     fi
  :: else ->
#if WAITERS > 1                /* in the order of their queue */
     signalled[1] != 3 && signalled[2] != 3
#else
     signalled[1] != 3
#endif
  fi;

  /* lock */
#ifdef NODELESS
  if
  :: atomic { !locked -> locked = true; goto locked_it }
#if QUITTERS > 0 || !defined(ROLES)
  :: MAY_QUEUE
#endif
  fi;
#if QUITTERS > 0 || !defined(ROLES)
  enqueue(me);
#endif
#else
  enqueue(me);
  if
  :: before == 0 -> goto locked_it
  :: else
  fi;
#endif

wait_for_turn:
  do
  :: LOOK;
     if
     :: got -> break
     :: else
     fi;
     parked[me] = true;
#ifdef NODELESS
     if
     :: head != me -> for_ever = true
     :: else ->
        if
        :: impatient[me]
        :: !impatient[me] -> goto nap
        :: !impatient[me] -> impatient[me] = true
        fi;
        BARRIER;
        for_ever = true
     fi;
nap:
#endif
     LOOK;
#ifdef CLEAR_LATE
     if
     :: comes -> parked[me] = false; comes = false
     :: else
     fi;
#endif
     if
     :: got -> break
     :: else
     fi;
     if
     :: atomic { permit[SELF] -> permit[SELF] = false }
     :: atomic { IS_WAITER && interrupts[SELF] -> interrupts[SELF] = false }
#ifdef NODELESS
     :: !for_ever
#endif
     fi;
#ifdef NODELESS
     for_ever = false;
#endif
     parked[me] = false
  od;
  got = false;
  parked[me] = false;
#ifdef NODELESS
  /* makes the next one the head */
#ifdef NOBODY_BEHIND
  tail = 0;
  head = 0;
#else
  other = next[me];
  if
  :: other == 0 ->
     atomic {
       if
       :: tail == me -> tail = 0; got = true
       :: else
       fi
     };
     if
     :: got -> atomic {
          if
          :: head == me -> head = 0
          :: else
          fi
        };
        got = false
     :: else -> atomic { next[me] != 0 -> other = next[me] }; head = other
     fi
  :: else -> head = other
  fi;
#endif
#endif

locked_it:
  ENTER;
  if
  :: SELF == 0 ->
     tokens = SIGNALS;
     before = SIGNALS;         /* to go */
#ifndef ENQUEUE_LATE
     do
     :: before > 0 && first <= WAITERS ->
        other = before;
#ifdef ENQUEUE_FIRST
        enqueue(PLACE(first, 0));
#endif
        atomic {
          if
          :: signalled[first] == WAITING -> signalled[first] = GRANTED; got = true; other--
#if QUITTERS > 0
          :: signalled[first] != WAITING
#endif
          fi
        };
#ifndef ENQUEUE_FIRST
        if
#ifdef ENQUEUE_ANYWAY
        :: true ->
#else
        :: got ->
#endif
           enqueue(PLACE(first, 0))
#if QUITTERS > 0 && !defined(ENQUEUE_ANYWAY)
        :: !got
#endif
        fi;
#endif
        atomic { got = false; first++; before = other }
     :: else -> break
     od
#else
     atomic {
       if
       :: signalled[first] == WAITING -> signalled[first] = GRANTED; got = true
       :: else
       fi
     };
     left = got;
     got = false
#endif
  :: IS_WAITER ->
     if
     :: !left && tokens > 0 -> tokens--
     :: left || tokens == 0
     fi
#if NEWCOMERS > 0
  :: SELF > WAITERS
#endif
  fi;
  LEAVE;

  /* unlock */
#ifdef NODELESS
  other = head;
  if
  :: other != 0 ->                             /* impatient or overdue */
     atomic {
       if
       :: state[other] == WAITING -> state[other] = GRANTED; got = true
       :: else
       fi
     };
     if
     :: got -> got = false; wake(other); goto unlocked
     :: else
     fi
  :: !(other != 0 && impatient[other])
  fi;
  lingering[SELF] = true;
  other = head;
  if
  :: other != 0 -> wake(other)
  :: else
  fi;
#else
  other = next[me];
  if
  :: other == 0 ->
     atomic {
       if
       :: tail == me -> tail = 0; goto unlocked
       :: else
       fi
     };
     atomic { next[me] != 0 -> other = next[me] }
  :: else
  fi;
  state[other] = GRANTED;
  wake(other);
#endif
unlocked:
#ifdef ENQUEUE_LATE
  if
  :: SELF == 0 && left -> enqueue(PLACE(first, 0))
  :: else
  fi;
#endif
  ended++
}

#ifdef NODELESS
active proctype StoreBuffers() {
end:
  do
  :: atomic { lingering[0] -> lingering[0] = false; locked = false }
  :: atomic { lingering[1] -> lingering[1] = false; locked = false }
#if WAITERS + NEWCOMERS > 1
  :: atomic { lingering[2] -> lingering[2] = false; locked = false }
#endif
#if WAITERS + NEWCOMERS > 2
  :: atomic { lingering[3] -> lingering[3] = false; locked = false }
#endif
  od
}
#endif
