/*
 * The row's `suspect` (R.4), which spares a sub-buffer the walk before it is begun anew: the tracer's ring with
 * restartable sequences, in overwrite mode.
 *
 *   reserve   offset; is the record before still reserved? then suspect = offset; last = own place; word = reserved;
 *             OFFSET BEHIND IT
 *   begin     offset; suspect behind what was there a lap ago? then is all of it committed? OFFSET BEHIND THE HEADER
 *
 * Producers are preempted, moved and restarted between any two steps. Store buffers would only delay the ring's CPU:
 * suspect and offset leave it in their order, and are loaded in the other one.
 *
 * Claims: no store goes into a sub-buffer that was begun anew; each event is committed or counted.
 *
 * -D NO_NOTE      twin: nothing is noted
 * -D LAST_FIRST   twin: the own place is stored before the record before is looked at
 * -D NOTE_LATE    twin: suspect is stored behind the sequence
 * -D SAME_SUB     twin: only a record of the same sub-buffer is looked at
 */
#include "trace.inc"

byte suspect = 0;
byte last = RING - 1;         /* where the newest record lies, or one that never came to be */

#define UNSETTLED(p) (STATE(head[p]) != COMMITTED)

active [PRODUCERS] proctype Producer() {
  byte n = 0;
  byte at, old, before;
#ifdef NOTE_LATE
  bool note;
#endif
  do
  :: n < EVENTS ->
reserve:
     atomic { on == SELF -> in_sequence[SELF] = true };
     if
     :: atomic { RUNS && FITS(offset) -> at = offset }
     :: atomic { RUNS && !FITS(offset) -> in_sequence[SELF] = false; goto slow }
     :: RESTARTED(reserve)
     fi;
     STEP(reserve, before = last);
#ifdef LAST_FIRST
     STEP(reserve, last = PLACE(at));
#endif
#ifdef NO_NOTE
     before = 0;
#else
     if
#ifdef SAME_SUB
     :: atomic { RUNS && POSITION(at) > 1 && UNSETTLED(before) -> before = 1 }
     :: atomic { RUNS && (POSITION(at) <= 1 || !UNSETTLED(before)) -> before = 0 }
#else
     :: atomic { RUNS && UNSETTLED(before) -> before = 1 }
     :: atomic { RUNS && !UNSETTLED(before) -> before = 0 }
#endif
     :: RESTARTED(reserve)
     fi;
#ifdef NOTE_LATE
     note = (before == 1);
#else
     if
     :: atomic { RUNS && before == 1 -> suspect = at; before = 0 }
     :: atomic { RUNS && before == 0 }
     :: RESTARTED(reserve)
     fi;
#endif
#endif
#ifndef LAST_FIRST
     STEP(reserve, last = PLACE(at));
#endif
     STEP(reserve, head[PLACE(at)] = RESERVED + SIZE(SELF));
     if
     :: atomic { RUNS -> offset = at + SIZE(SELF); in_sequence[SELF] = false; before = 0 }
     :: RESTARTED(reserve)
     fi;
#ifdef NOTE_LATE
     if
     :: note -> suspect = at; note = false
     :: !note
     fi;
#endif
     /* the fields, from whatever CPU */
     atomic {
       ASSERT_NOT_REUSED(at);
       head[PLACE(at)] = COMMITTED + SIZE(SELF);
       committed = committed | BIT(EVENT(n)) };
     goto next;

slow:
     at = offset;
     if
     :: POSITION(at) == 0 ->
        if
        :: suspect > at - RING -> old = at - RING + 1
        :: suspect <= at - RING -> goto move
        fi;
        do
        :: atomic { old < at - RING + SUB && STATE(head[PLACE(old)]) == COMMITTED -> old = AFTER(old, head[PLACE(old)]) }
        :: atomic { old < at - RING + SUB && STATE(head[PLACE(old)]) != COMMITTED && STATE(head[PLACE(old)]) != PADDING ->
             old = 0; break }
        :: atomic { old >= at - RING + SUB || STATE(head[PLACE(old)]) == PADDING -> old = 1; break }
        od;
        if
        :: old == 0 ->
           if
           :: atomic { offset == at -> lost++; goto next }
           :: atomic { offset != at -> goto reserve }
           fi
        :: old == 1 -> old = 0
        fi
#ifndef SAME_SIZE
     :: POSITION(at) != 0 && POSITION(at) + SIZE(SELF) > SUB
#endif
     :: FITS(at) -> goto reserve
     fi;
move:
     if
     :: atomic { on != SELF -> goto reserve }
     :: atomic { on == SELF -> in_sequence[SELF] = true }
     fi;
     if
     :: atomic { RUNS && offset == at }
     :: atomic { RUNS && offset != at -> in_sequence[SELF] = false; goto reserve }
     :: RESTARTED(move)
     fi;
     STEP(move, head[PLACE(at)] = (POSITION(at) == 0 -> NOTHING : PADDING));
     if
     :: atomic { RUNS -> offset = (POSITION(at) == 0 -> at + 1 : NEXT(at)); in_sequence[SELF] = false }
     :: RESTARTED(move)
     fi;
     goto reserve;

next:
     atomic { n++; at = 0; old = 0 }
  :: n == EVENTS -> break
  od;
  atomic { n = 0; done++ }
}

active proctype Machine() {
  byte i, sum;
  do
  :: atomic { done < PRODUCERS && on != NOBODY -> scheduled(NOBODY) }
  :: atomic { done < PRODUCERS && on != 0 -> scheduled(0) }
  :: atomic { done < PRODUCERS && on != 1 -> scheduled(1) }
  :: atomic { done == PRODUCERS -> break }
  od;
  atomic {
    do
    :: i < ALL -> sum = sum + ((committed >> i) & 1); i++
    :: i == ALL -> break
    od;
    assert(sum + lost == ALL) }
}
