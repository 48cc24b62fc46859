/*
 * McsLock: exchange of the tail, link, grant; a waiter that gives up marks its place and the holder walks past it; a
 * holder that met nobody uses the lock's own place, which is used again; a thread that gave up unlinks others that
 * did, from where it believes the holder to be.
 *
 * Claims: one thread inside; everybody ends; those that do not give up are served in the order of their exchanges.
 *
 * -D NO_LINK_WAIT    twin: the holder that finds no link takes the tail back, whoever has exchanged it
 * -D ABANDON_STORE   twin: giving up is a look and a store, no compare-and-set
 * -D LOOK_FIRST      twin: `parked` is set after the last look
 * -D LINK_KEPT       twin: the lock's own place keeps its link when it is used again
 * -D UNLINK_STORE    twin: unlinking is a store, no compare-and-set
 * -D GRANT_ABANDONED twin: the holder takes no notice of a place whose thread has given up
 */
#define OWN 1
#define WAITING 0
#define GRANTED 1
#define ABANDONED 2

#include "locks.inc"

byte tail = 0;
byte holder = OWN;
byte state[PLACES];
byte next[PLACES];

byte order[PLACES];           /* when it exchanged the tail, from 1 */
bool served[PLACES];
byte exchanges = 0;

#define SERVE(p)  /* within an atomic step */ \
  served[p] = true; i = 2; \
  do \
  :: i < PLACES -> \
     assert(order[i] == 0 || order[i] >= order[p] || served[i] || state[i] == ABANDONED); i++ \
  :: else -> i = 0; break \
  od

active [THREADS] proctype Thread() {
  byte me, other, at, i;
  byte round = 0;
  bool done = false;
  do
  :: round < ROUNDS_OF(_pid - 1) ->
     /* lock */
     if
     :: atomic { tail == 0 -> tail = OWN; at = OWN }
     :: atomic {
          me = PLACE(_pid - 1, round); at = me;
          other = tail; tail = me; exchanges++; order[me] = exchanges
        };
        if
        :: atomic { other == 0 -> SERVE(me) }
        :: else ->
           next[other] = me;
           other = 0;
           do
           :: state[me] == GRANTED -> break
           :: state[me] != GRANTED ->
#ifdef LOOK_FIRST
              parked[me] = true;
#else
              parked[me] = true;
              if
              :: state[me] == GRANTED -> break
              :: else
              fi;
#endif
              if
              :: atomic { permit[_pid - 1] -> permit[_pid - 1] = false }; parked[me] = false
#if QUITTERS > 0
              :: MAY_QUIT(_pid - 1) ->
#ifdef ABANDON_STORE
                 if
                 :: state[me] == WAITING -> state[me] = ABANDONED; goto given_up
                 :: else
                 fi
#else
                 atomic {
                   if
                   :: state[me] == WAITING -> state[me] = ABANDONED; goto given_up
                   :: else
                   fi
                 }
#endif
#endif
              fi
           od
        fi
     fi;
     holder = at;
     ENTER;
     LEAVE;
     /* unlock */
     do
     :: atomic {
          other = next[at];
          if
          :: other != 0 -> goto linked
          :: else
          fi
        };
#ifdef NO_LINK_WAIT
        tail = 0;
        break;
#else
        atomic {
          if
          :: tail == at -> tail = 0; break
          :: else
          fi
        };
        atomic { next[at] != 0 -> other = next[at] };
#endif
linked:
#ifndef LINK_KEPT
        if
        :: at == OWN -> next[OWN] = 0
        :: else
        fi;
#endif
        atomic {
          if
          :: state[other] == WAITING -> state[other] = GRANTED; SERVE(other); done = true
#ifdef GRANT_ABANDONED
          :: else -> done = true
#else
          :: else -> at = other
#endif
          fi
        };
        if
        :: done -> done = false; wake(other); break
        :: else
        fi
     od;
     goto next_round;
#if QUITTERS > 0
given_up:
     at = holder;              /* unlink others that have given up: racy on purpose */
     other = next[at];
     do
     :: other == 0 || next[other] == 0 -> break
     :: else ->
        i = next[other];
        if
        :: state[other] == ABANDONED ->
#ifdef UNLINK_STORE
           next[at] = i
#else
           atomic {
             if
             :: next[at] == other -> next[at] = i
             :: else -> break
             fi
           }
#endif
        :: else -> at = other
        fi;
        other = i
     od;
     i = 0;
#endif
next_round:
     atomic { round++; at = 0; other = 0; me = 0 }
  :: else -> break
  od;
  ended++
}
