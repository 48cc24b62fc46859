/*
 * ClhLock: everybody waits for the place before its own; a waiter that parks says so in that place; one that gives up
 * takes the tail back, or else leaves word where to go on; a free last place is taken as it is, without a new one.
 *
 * Claims: one thread inside; everybody ends; those that queue are served in the order of their exchanges, as far as they
 * do not give up; at the end, when nobody has the lock, it can be taken without queueing.
 *
 * -D TAKE_STORE    twin: taking a place is a look and a store
 * -D TAIL_STORE    twin: giving up takes the tail back by a look and a store
 * -D SILENT        twin: one that gives up does not wake the one behind
 * -D LOOK_FIRST    twin: one that gives up looks who is behind, then says where to go on
 * -D REGISTER_LATE twin: a waiter says that it parks after its last look
 * -D TAIL_ONLY     twin: who takes the last place does not follow one whose thread has given up
 */
#define FREE 1

#include "locks.inc"

byte tail = FREE;
byte instead[PLACES];
byte successor[PLACES];
bool flag[PLACES];
#define DONE(p)        (flag[p] != ((p) == FREE))     /* the first place is done from the beginning */
#define SET_DONE(p)    flag[p] = ((p) != FREE)
#define CLEAR_DONE(p)  flag[p] = ((p) == FREE)

byte order[PLACES];           /* when it exchanged the tail, from 1; 0 again when it is served or gone */
byte exchanges = 0;

/* Within an atomic step. */
#define SERVE(p) \
  i = 2; \
  do \
  :: i < PLACES -> assert(order[i] == 0 || order[i] >= order[p]); i++ \
  :: else -> i = 0; break \
  od; \
  order[p] = 0

#ifdef TAKE_STORE
#define TAKE(p) DONE(p) -> CLEAR_DONE(p)
#else
#define TAKE(p) atomic { DONE(p) -> CLEAR_DONE(p) }
#endif

active [THREADS] proctype Thread() {
  byte me, before, at, i;
  byte round = 0;
  do
  :: round < ROUNDS_OF(_pid - 1) ->
     /* tryAcquire */
     at = tail;
     do
     :: TAKE(at); goto locked
     :: !DONE(at) ->
        atomic {
          if
#ifndef TAIL_ONLY
          :: instead[at] != 0 -> at = instead[at]
#endif
          :: else -> break
          fi
        }
     od;
     /* acquire */
     atomic {
       me = PLACE(_pid - 1, round); at = me;
       before = tail; tail = me; exchanges++; order[me] = exchanges
     };
     do
     :: /* a look, before each park or the end of the wait */
        do
        :: atomic {
             DONE(before) ->
#ifdef TAKE_STORE
             skip };
           atomic {
#endif
             CLEAR_DONE(before); SERVE(me)
           };
           goto locked
        :: atomic { !DONE(before) -> skip };
           atomic {
             if
             :: instead[before] != 0 -> before = instead[before]
             :: else -> break
             fi
           }
        od;
        if
#if QUITTERS > 0
        :: MAY_QUIT(_pid - 1) -> goto give_up
#endif
        :: true
        fi;
        parked[me] = true;
        do
        ::
#ifndef REGISTER_LATE
           successor[before] = me;
#endif
           if
           :: atomic {
                DONE(before) ->
#ifdef TAKE_STORE
                skip };
              atomic {
#endif
                CLEAR_DONE(before); SERVE(me)
              };
              parked[me] = false; goto locked
           :: !DONE(before)
           fi;
           atomic {
             if
             :: instead[before] != 0 -> before = instead[before]
             :: else -> break
             fi
           }
        od;
#ifdef REGISTER_LATE
        successor[before] = me;
#endif
        if
        :: atomic { permit[_pid - 1] -> permit[_pid - 1] = false }
#if QUITTERS > 0
        :: MAY_QUIT(_pid - 1)
#endif
        fi;
        parked[me] = false
     od;
#if QUITTERS > 0
give_up:
     order[me] = 0;
#ifdef TAIL_STORE
     if
     :: tail == me -> tail = before; goto next_round
     :: else
     fi;
#else
     atomic {
       if
       :: tail == me -> tail = before; goto next_round
       :: else
       fi
     };
#endif
#ifdef LOOK_FIRST
     at = successor[me];
     instead[me] = before;
#else
     instead[me] = before;
     at = successor[me];
#endif
#ifndef SILENT
     if
     :: at != 0 -> wake(at)
     :: else
     fi;
#endif
     goto next_round;
#endif
locked:
     ENTER;
     LEAVE;
     SET_DONE(at);
     before = successor[at];
     if
     :: before != 0 -> wake(before)
     :: else
     fi;
next_round:
     atomic { round++; me = 0; before = 0; at = 0 }
  :: else -> break
  od;
  ended++
}

/* Everybody has gone: tryLock() must find the lock free. */
active proctype AtTheEnd() {
  byte at;
  over;
  at = tail;
  do
#ifndef TAIL_ONLY
  :: !DONE(at) && instead[at] != 0 -> at = instead[at]
#endif
  :: else -> break
  od;
  assert(DONE(at))
}
