/*
 * The lock of a row of the tracer's ring (R.11), with threads whose stack overflows at any step inside: they leave the
 * tracer with the lock held, and come again or end. Others take it over, and so does the thread itself.
 *
 *   lock       word; free: swap it for own number and count + 1
 *              own number: the same swap
 *              another's, and patience is over: look for its stack; outside the tracer or dead: the same swap
 *   inside     offset; record; OFFSET BEHIND IT
 *   unlock     word; word = its count, no holder
 *
 * Patience may be over at any look, and a thread that finds the holder in the tracer loses its event.
 *
 * Claims: one thread at a time is inside; whatever a thread left, each record below the offset is whole.
 *
 * -D TAKEOVERS_ONLY  twin: the count grows with a taking over only, not with each locking
 * -D WORD_AGAIN      twin: the swap expects what is there after the look, not before
 * -D NO_STACK        twin: who has no patience left does not look for the holder
 * -D OWN_STORE       twin: a thread that finds itself the holder stores the word
 * -D OFFSET_FIRST    twin: the offset is stored before the record
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif

#define SELF        (_pid + 1)       /* 0 holds nothing */
#define HOLDER(w)   ((w) & 3)
#define COUNT(w)    ((w) & 252)
#define TAKEN(w)    (COUNT((w) + 4) + SELF)
#ifdef TAKEOVERS_ONLY
#define LOCKED(w)   (COUNT(w) + SELF)
#else
#define LOCKED(w)   TAKEN(w)
#endif
#define SWAP(new, otherwise) \
  atomic { if :: word == seen -> word = new; enter() :: word != seen -> seen = 0; goto otherwise fi }

byte word = 0;
byte offset = 0;
bool record[THREADS * ROUNDS];
bool in_tracer[THREADS + 1];
byte inside = 0;
byte done = 0;

inline enter() {
  seen = 0;
  inside++;
  assert(inside == 1)
}

/* Between any two steps; what is left to do is not done. */
inline may_overflow() {
  if
  :: true
  :: atomic { inside--; goto out }
  fi
}

active [THREADS] proctype Thread() {
  byte n = 0;
  byte seen, at;
  do
  :: n < ROUNDS ->
     in_tracer[SELF] = true;
again:
     seen = word;
     if
     :: HOLDER(seen) == 0 -> SWAP(LOCKED(seen), again)
     :: HOLDER(seen) == SELF ->
#ifdef OWN_STORE
        atomic { word = TAKEN(seen); enter() }
#else
        SWAP(TAKEN(seen), again)
#endif
     :: HOLDER(seen) != 0 && HOLDER(seen) != SELF ->
        if
        :: atomic { seen = 0; goto again }
        :: true
        fi;
#ifndef NO_STACK
        if
        :: atomic { in_tracer[HOLDER(seen)] -> seen = 0; goto out }
        :: !in_tracer[HOLDER(seen)]
        fi;
#endif
#ifdef WORD_AGAIN
        seen = word;
#endif
        SWAP(TAKEN(seen), out)
     fi;
     may_overflow();
     at = offset;
     may_overflow();
#ifdef OFFSET_FIRST
     offset = at + 1;
     may_overflow();
     record[at] = true;
#else
     record[at] = true;
     may_overflow();
     offset = at + 1;
#endif
     may_overflow();
     seen = word;
     may_overflow();
     atomic { word = COUNT(seen); inside-- };
out:
     atomic { in_tracer[SELF] = false; seen = 0; at = 0; n++ }
  :: n == ROUNDS -> break
  od;
  done++
}

active proctype End() {
  byte i;
  atomic {
    done == THREADS ->
    do
    :: i < offset -> assert(record[i]); i++
    :: i == offset -> break
    od
  }
}
