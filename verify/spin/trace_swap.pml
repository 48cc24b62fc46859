/*
 * The tracer's ring with compare-and-swap, in overwrite mode, and the snapshot. Producers are on any CPU and may be held
 * up at any step for as long as the others need to go round.
 *
 *   reserve   offset; stamp; swap the offset; word = reserved; then fields, word = committed
 *   end       swap the offset to the boundary; word = padding
 *   begin     is all committed that is there? claim; zero; swap the offset
 *   snapshot  offset; copy, each record's word before its fields; offset again: not come round?
 *
 * Claims: no store goes into a sub-buffer that was begun anew, or is being zeroed; no record is torn in a snapshot;
 * stamps are in the order of the records; each event is committed or counted.
 *
 * -D NO_ZERO         twin: the sub-buffer is not zeroed
 * -D NO_CLAIM        twin: whoever wants to begin zeroes
 * -D NO_WRAP         twin: begin does not look at what is there
 * -D NO_LOOK_AGAIN   twin: the snapshot does not look at the offset again
 * -D FIELDS_FIRST    twin: the copy takes the fields first, as a plain copy may
 * -D COMMIT_FIRST    twin: committed is stored before the fields
 */
#include "trace.inc"

#undef ASSERT_NOT_REUSED
#define ASSERT_NOT_REUSED(o) assert(offset <= BASE(o) + RING && begun < BASE(o) + RING)
#define LAST_OFFSET (RING + PRODUCERS * EVENTS * SUB + 2)

byte begun = SUB;             /* the sub-buffer that was claimed last */
byte event_of[LAST_OFFSET] = STALE;

active [PRODUCERS] proctype Producer() {
  byte n = 0;
  byte at, old;
  do
  :: n < EVENTS ->
reserve:
     at = offset;
     if
     :: FITS(at)
     :: !FITS(at) -> goto slow
     fi;
     stamp_record();
     atomic {
       if
       :: offset == at ->
          offset = at + SIZE(SELF);
          event_of[at] = EVENT(n);
          newest_record()
       :: offset != at -> stamped[SELF] = false; late[SELF] = false; goto reserve
       fi };
     atomic { ASSERT_NOT_REUSED(at); head[PLACE(at)] = RESERVED + SIZE(SELF) };
#ifdef COMMIT_FIRST
     head[PLACE(at)] = COMMITTED + SIZE(SELF);
#endif
     atomic { ASSERT_NOT_REUSED(at); body[PLACE(at)] = EVENT(n) };
     atomic {
       ASSERT_NOT_REUSED(at);
       head[PLACE(at)] = COMMITTED + SIZE(SELF);
       committed = committed | BIT(EVENT(n)) };
     goto next;

slow:
     if
#ifndef SAME_SIZE
     :: POSITION(at) != 0 ->
        atomic {
          if
          :: offset == at -> offset = NEXT(at)
          :: offset != at -> goto reserve
          fi };
        atomic { ASSERT_NOT_REUSED(at); head[PLACE(at)] = PADDING };
        goto reserve
#endif
     :: POSITION(at) == 0
     fi;
#ifndef NO_WRAP
     old = at - RING + 1;
     do
     :: atomic { old < at - RING + SUB && STATE(head[PLACE(old)]) == COMMITTED -> old = AFTER(old, head[PLACE(old)]) }
     :: atomic { old < at - RING + SUB && STATE(head[PLACE(old)]) != COMMITTED && STATE(head[PLACE(old)]) != PADDING ->
          old = 0; break }
     :: atomic { old >= at - RING + SUB || STATE(head[PLACE(old)]) == PADDING -> old = 1; break }
     od;
     if
     :: old == 0 ->
        if
        :: atomic { offset == at && begun < at -> lost++; goto next }
        :: atomic { offset != at || begun >= at -> goto reserve }
        fi
     :: old == 1
     fi;
#endif
#ifndef NO_CLAIM
     old = begun;
     if
     :: old >= at -> goto reserve
     :: old < at
     fi;
     atomic {
       if
       :: begun == old -> begun = at
       :: begun != old -> goto reserve
       fi };
#endif
#ifndef NO_ZERO
     old = SUB;
     do
     :: atomic { old > 0 -> old--; head[PLACE(at) + old] = NOTHING; body[PLACE(at) + old] = NOTHING }
     :: atomic { old == 0 -> break }
     od;
#endif
     atomic {
       if
       :: offset == at -> offset = at + 1
       :: offset != at
       fi };
     goto reserve;

next:
     atomic { at = 0; old = 0; n++ }
  :: n == EVENTS -> break
  od;
  done++
}

active proctype Snapshot() {
  byte o, at, from, to;
  byte words[SUB];
  byte fields[SUB];
  o = offset;
  from = NEXT(o - 1) - RING;
  if
  :: from = from + SUB        /* each in its turn would only add to the states */
  :: true
  fi;
  to = (NEXT(from) < o -> NEXT(from) : o);
  at = from + 1;
  do
  :: at < to ->
#ifdef FIELDS_FIRST
     fields[POSITION(at)] = body[PLACE(at)];
     words[POSITION(at)] = head[PLACE(at)];
#else
     words[POSITION(at)] = head[PLACE(at)];
     fields[POSITION(at)] = body[PLACE(at)];
#endif
     at++
  :: at >= to -> break
  od;
  atomic {
    if
#ifndef NO_LOOK_AGAIN
    :: offset >= from + RING
#endif
    :: else ->
       at = from + 1;
       do
       :: at < to && STATE(words[POSITION(at)]) != PADDING ->
          assert(STATE(words[POSITION(at)]) != COMMITTED || fields[POSITION(at)] == event_of[at]);
          at = AFTER(at, words[POSITION(at)])
       :: else -> break
       od
    fi
  }
}

active proctype End() {
  byte sum, i;
  atomic {
    done == PRODUCERS ->
    do
    :: i < ALL -> sum = sum + ((committed >> i) & 1); i++
    :: i == ALL -> break
    od;
    assert(sum + lost == ALL)
  }
}
