/*
 * The tracer's ring with restartable sequences, in discard mode: producers that are preempted and moved to another CPU
 * between any two steps, a consumer that flushes from its own CPU, and a kill at any instant with the recovery after it.
 *
 *   reserve   closed? offset; word = reserved, stamp; OFFSET BEHIND IT
 *   end       closed? offset as expected; word = padding; OFFSET TO THE BOUNDARY
 *   begin     consumed far enough? closed? offset as expected; losses; OFFSET BEHIND THE HEADER
 *   commit    fields; word = committed
 *   flush     close; fence; offset; word = padding; offset to the boundary; open
 *   consume   offset; look; write the packet; consumed
 *
 * The ring's CPU has a store buffer (-D TSO), first in first out: it drains when it likes, at a context switch and at the
 * fence. The other CPUs' stores are seen at once; they are of one direction each (see README.md).
 *
 * Claims: each event is read once or counted once; no record is torn; no store goes into a sub-buffer that was begun
 * anew; stamps are in the order of the records; the offset never goes back; recovery finds each committed event that no
 * packet has, and none that one has.
 *
 * -D KILL            the program is killed at any instant
 * -D DIES            a producer may die between reserve and commit; the consumer knows
 * -D LAST            the consumer's last pass gives pending records up at once, whoever is alive
 *
 * -D COMMIT_FIRST    twin: committed is stored before the fields
 * -D NO_FENCE        twin: the flush does not fence the ring's CPU
 * -D NO_CLOSE        twin: the flush does not close the row
 * -D NO_CONSUMED     twin: begin does not look at what was consumed
 * -D PADDING_LATE    twin: padding is stored behind the offset
 * -D CONSUMED_FIRST  twin: consumed is published before the packet is written
 * -D NO_SEQUENCE     twin: recovery does not look at the numbers of packets
 * -D FIRST_OWNER     twin of DIES: a sub-buffer is given up when the first pending record's owner is gone
 * -D COUNT_LOOK      twin of LAST: what was pending at the look is counted, instead of what the packet left out
 * -D NO_RESTART      twin: an interrupted sequence goes on where it was
 */
#include "trace.inc"

byte visible = RING;          /* the offset as other CPUs see it */
byte consumed = RING;
byte packets = 2;             /* in the file; the last one's number is one less */
byte read = 0;                /* the set of events in the file */
bool closed = false;
bool ended = false;
bool killed = false;
#ifdef DIES
bool gone = false;            /* producer 0 has died */
#endif

inline store_offset(v) {
  assert((v) >= visible);
  visible = v
}

#ifdef TSO
#define OFFSET (2 * RING)          /* in the buffer: below it words of `head`, then of `body` */
chan buffer = [3] of { byte, byte };
#define DRAINED (len(buffer) == 0)
#define ROOM (on != SELF || len(buffer) < 3)
#define SCRATCH(p, v)    buffer!p,v
#define PUT_HEAD(p, v)   if :: on == SELF -> buffer!p,v :: on != SELF -> head[p] = v fi
#define PUT_BODY(p, v)   if :: on == SELF -> buffer!RING + p,v :: on != SELF -> body[p] = v fi
#define PUT_OFFSET(v)    buffer!OFFSET,v

inline drain_one() {
  buffer?a,v;
  if
  :: a == OFFSET -> store_offset(v)
  :: a < RING -> head[a] = v
  :: a >= RING && a < OFFSET -> body[a - RING] = v
  fi
}
#else
#define DRAINED true
#define ROOM true
#define SCRATCH(p, v)    head[p] = v
#define PUT_HEAD(p, v)   head[p] = v
#define PUT_BODY(p, v)   body[p] = v
#define PUT_OFFSET(v)    store_offset(v)
#endif

#ifdef NO_RESTART
#define SWITCH_TO(t) on = t
#else
#define SWITCH_TO(t) scheduled(t)
#endif

active [PRODUCERS] proctype Producer() provided (!killed) {
  byte n = 0;
  byte at, old;
  do
  :: n < EVENTS ->
reserve:
     atomic { on == SELF || ended ->
       if
       :: ended -> goto finished
       :: else -> in_sequence[SELF] = true
       fi
     };
     if
     :: atomic { RUNS && !closed }
     :: atomic { RUNS && closed -> in_sequence[SELF] = false; goto reserve }
     :: RESTARTED(reserve)
     fi;
     if
     :: atomic { RUNS && FITS(offset) -> at = offset }
     :: atomic { RUNS && !FITS(offset) -> in_sequence[SELF] = false; goto slow }
     :: RESTARTED(reserve)
     fi;
     if
     :: atomic { RUNS && ROOM -> SCRATCH(PLACE(at), RESERVED + SIZE(SELF)) }
     :: RESTARTED(reserve)
     fi;
     STEP(reserve, stamp_record());
     if
     :: atomic { RUNS && ROOM ->
          offset = at + SIZE(SELF);
          PUT_OFFSET(at + SIZE(SELF));
          event_at[PLACE(at)] = EVENT(n);
          newest_record();
          in_sequence[SELF] = false }
     :: RESTARTED(reserve)
     fi;
     /* the fields, from whatever CPU */
#ifdef COMMIT_FIRST
     atomic { ROOM -> PUT_HEAD(PLACE(at), COMMITTED + SIZE(SELF)) };
#endif
     atomic { ROOM ->
#ifndef LAST
       ASSERT_NOT_REUSED(at);
#endif
       PUT_BODY(PLACE(at), EVENT(n)) };
#ifdef DIES
     if
     :: SELF == 0 -> gone = true; goto finished
     :: true
     fi;
#endif
     atomic { ROOM ->
#ifndef LAST
       ASSERT_NOT_REUSED(at);
#endif
       PUT_HEAD(PLACE(at), COMMITTED + SIZE(SELF));
       committed = committed | BIT(EVENT(n)) };
     goto next;

slow:
     atomic { at = (on == SELF -> offset : visible) };
     if
     :: POSITION(at) == 0 ->
#if !defined(NO_CONSUMED) && EVENTS > 1   /* one each never fill the ring */
        old = consumed;
        if
        :: atomic { at - old >= RING -> old = 0 };
           if
           :: atomic { at == (on == SELF -> offset : visible) -> lost++; goto next }
           :: atomic { at != (on == SELF -> offset : visible) -> goto reserve }
           fi
        :: atomic { at - old < RING -> old = 0 }
        fi
#endif
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
     :: atomic { RUNS && !closed && offset == at }
     :: atomic { RUNS && (closed || offset != at) -> in_sequence[SELF] = false; goto reserve }
     :: RESTARTED(move)
     fi;
#ifndef PADDING_LATE
     if
     :: atomic { RUNS && ROOM -> SCRATCH(PLACE(at), (POSITION(at) == 0 -> NOTHING : PADDING)) }
     :: RESTARTED(move)
     fi;
#endif
     if
     :: atomic { RUNS && ROOM ->
          offset = (POSITION(at) == 0 -> at + 1 : NEXT(at));
          PUT_OFFSET(offset);
          in_sequence[SELF] = false }
     :: RESTARTED(move)
     fi;
#ifdef PADDING_LATE
     atomic { ROOM -> PUT_HEAD(PLACE(at), (POSITION(at) == 0 -> NOTHING : PADDING)) };
#endif
     goto reserve;

next:
     n++
  :: n == EVENTS -> break
  od;
finished:
  atomic { n = 0; at = 0; done++ }
}

inline flush() {
#ifndef NO_CLOSE
  closed = true;
#endif
#ifndef NO_FENCE
#ifdef NO_RESTART
  DRAINED;
#else
  atomic { DRAINED ->
    if
    :: on < PRODUCERS -> restart[on] = in_sequence[on]
    :: else
    fi };
#endif
#endif
  o = visible;
  if
  :: BEGUN(o) ->
     head[PLACE(o)] = PADDING;
     atomic {
       assert(NEXT(o) >= visible);
       visible = NEXT(o);
       offset = visible }
  :: !BEGUN(o)
  fi;
  closed = false
}

active proctype Consumer() provided (!killed) {
  byte o, at, packet, left;
#ifdef COUNT_LOOK
  byte counted;
#endif
  bool pending, alive, given_up;
  do
  :: if
     :: flush()
     :: true
     fi;
     o = visible;
     do
     :: consumed + SUB <= o ->
        at = consumed + 1;
        do
        :: atomic { at < consumed + SUB && STATE(head[PLACE(at)]) != PADDING ->
             if
             :: STATE(head[PLACE(at)]) != COMMITTED ->
#ifdef FIRST_OWNER
                if
                :: !pending -> alive = event_at[PLACE(at)] > EVENTS
                :: else
                fi;
#else
                alive = alive || event_at[PLACE(at)] > EVENTS;
#endif
#ifdef COUNT_LOOK
                left++;
#endif
                pending = true
             :: else
             fi;
             at = AFTER(at, head[PLACE(at)]) }
        :: atomic { at >= consumed + SUB || STATE(head[PLACE(at)]) == PADDING -> break }
        od;
        if
        :: atomic { !pending -> alive = false }
#ifdef LAST
        :: atomic { pending && ended -> pending = false; alive = false }
        :: atomic { pending && !ended -> pending = false; alive = false; left = 0; break }
#else
#ifdef DIES
        :: atomic { pending && gone && !alive -> pending = false }
        :: atomic { pending && (!gone || alive) -> pending = false; alive = false; left = 0; break }
#else
        :: atomic { pending -> pending = false; alive = false; left = 0; break }
#endif
#endif
        fi;
        atomic {
#ifdef COUNT_LOOK
          counted = left;
#endif
          left = 0;
          at = consumed + 1 };
        do
        :: atomic { at < consumed + SUB && STATE(head[PLACE(at)]) != PADDING ->
             if
             :: STATE(head[PLACE(at)]) == COMMITTED ->
                assert(body[PLACE(at)] == event_at[PLACE(at)]);
                packet = packet | BIT(body[PLACE(at)])
#if defined(DIES) || defined(LAST)
             :: else -> left++
#endif
             fi;
             at = AFTER(at, head[PLACE(at)]) }
        :: atomic { at >= consumed + SUB || STATE(head[PLACE(at)]) == PADDING -> break }
        od;
#ifdef COUNT_LOOK
        assert(counted == left);
        counted = 0;
#endif
        atomic { lost = lost + left; left = 0 };
#ifdef CONSUMED_FIRST
        consumed = consumed + SUB;
#endif
        atomic {
          assert((read & packet) == 0);
          read = read | packet;
          packets++;
          packet = 0;
          at = 0 };
#ifndef CONSUMED_FIRST
        consumed = consumed + SUB
#endif
     :: consumed + SUB > o -> break
     od;
     atomic { o = 0; at = 0 }
#ifdef LAST
     if
     :: ended && consumed + 1 >= visible -> break
     :: ended && consumed + 1 < visible
     :: atomic { !ended && !in_sequence[0] && !in_sequence[1] -> ended = true }
     :: !ended
     fi
#else
     if
     :: done == PRODUCERS && DRAINED && consumed + 1 >= visible -> break
     :: done < PRODUCERS || !DRAINED || consumed + 1 < visible
     fi
#endif
  od;
  atomic {
    do
    :: at < ALL ->
       o = o + ((read >> at) & 1);
       at++
    :: at == ALL -> break
    od;
#ifdef LAST
    assert(o + lost <= ALL);            /* none twice; the rest came after the end */
#else
#ifndef DIES
    assert(o + lost == ALL);            /* each once */
    assert(committed == read)
#else
    assert(read == committed)
#endif
#endif
  }
}

#ifdef KILL
/* What recovery does, with what the program left. */
inline recover() {
#ifdef NO_SEQUENCE
  from = consumed;
#else
  from = (consumed > packets * SUB -> consumed : packets * SUB);
#endif
  do
  :: from < visible ->
     to = (NEXT(from) < visible -> NEXT(from) : visible);
     from++;
     do
     :: from < to && STATE(head[PLACE(from)]) != PADDING ->
        if
        :: STATE(head[PLACE(from)]) == COMMITTED ->
           assert(body[PLACE(from)] == event_at[PLACE(from)]);
           assert((read & BIT(body[PLACE(from)])) == 0);
           read = read | BIT(body[PLACE(from)])
        :: else
        fi;
        from = AFTER(from, head[PLACE(from)])
     :: else -> break
     od;
     from = NEXT(to - 1)
  :: else -> break
  od;
  assert((committed & ~read) == 0);     /* nothing that was committed is lost */
  assert((read & ~committed) == 0)
}
#endif

active proctype Machine() {
#ifdef KILL
  byte from, to;
#endif
#ifdef TSO
  byte a, v;
#endif
end:
  do
#ifdef TSO
  :: atomic { !killed && len(buffer) > 0 -> drain_one(); a = 0; v = 0 }
#endif
  :: atomic { !killed && done < PRODUCERS && DRAINED && on != NOBODY -> SWITCH_TO(NOBODY) }
  :: atomic { !killed && done < PRODUCERS && DRAINED && on != 0 -> SWITCH_TO(0) }
  :: atomic { !killed && done < PRODUCERS && DRAINED && on != 1 -> SWITCH_TO(1) }
#ifdef KILL
  :: atomic { !killed ->
       killed = true;
#ifdef TSO
       do
       :: len(buffer) > 0 -> drain_one()
       :: len(buffer) == 0 -> break
       od;
#endif
       recover() }
  :: killed
#endif
  od
}
