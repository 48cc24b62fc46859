/*
 * A row of the tracer's ring that is being made when its CPU has its first event (NOT_READY), beside other threads that
 * want the same row, a consumer, and the end of the session.
 *
 *   reserve   closed? ended or failed: no record. Not ready: prepare, and again. Open: offset behind a record
 *   prepare   mutex; still not ready? space and zeros, unit by unit; take NOT_READY back; or add FAILED
 *   consume   closed: not ready or failed? offset; read the records
 *   end       add ENDED; consume; mutex; close the file
 *
 * The bits of closed change by compare-and-set. The step from the look at closed to the offset is another model's
 * (trace_end.pml): a row that was found open stays made.
 *
 * Claims: no record is stored where no space was reserved, and none is zeroed; who looks behind the end finds the row
 * closed; nobody writes to the file's number after it was closed, as it may be another file's by then.
 *
 * -D OPEN_FIRST      twin: the row is opened before its space is there
 * -D NO_LOOK_AGAIN   twin: who waited for the mutex does not look again
 * -D OPEN_STORE      twin: NOT_READY is taken back by a load and a store
 * -D FAILED_OPENS    twin: a row is opened although there was no space for it
 * -D CLOSE_ANYWAY    twin: the file is closed without the mutex
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#define UNITS     3
#define NOT_READY 2
#define ENDED     4
#define FAILED    8

#define NO_SPACE  255
#define SELF      _pid

byte closed = NOT_READY;
byte unit[UNITS] = NO_SPACE;
byte offset = 0;
bool mutex = false;
bool file = true;             /* is open */

inline lock() {
  atomic { !mutex -> mutex = true }
}

inline unlock() {
  mutex = false
}

inline open_row() {
#ifdef OPEN_STORE
  seen = closed;
  closed = seen & ~NOT_READY
#else
  closed = closed & ~NOT_READY
#endif
}

active [PRODUCERS] proctype Producer() {
  byte n = 0;
  byte seen, i;
  bool space;
  do
  :: n < 2 ->
reserve:
     seen = closed;
     if
     :: (seen & (ENDED | FAILED)) != 0 -> break
     :: (seen & (ENDED | FAILED)) == 0 && (seen & NOT_READY) != 0 ->
        lock();
        seen = closed;
#ifndef NO_LOOK_AGAIN
        if
        :: (seen & NOT_READY) == 0 -> unlock(); goto reserve
        :: (seen & NOT_READY) != 0
        fi;
#endif
#ifdef OPEN_FIRST
        open_row();
#endif
        space = true;
        do
        :: i < UNITS ->
           if
           :: !file -> space = false; break    /* the library's own look */
           :: file
           :: space = false; break             /* no space */
           fi;
           atomic {
             assert(file);
             assert(unit[i] == NO_SPACE || unit[i] == 0);
             unit[i] = 0;
             i++ }
        :: i == UNITS -> break
        od;
        i = 0;
        if
        :: space ->
#ifndef OPEN_FIRST
           open_row()
#else
           skip
#endif
#ifdef FAILED_OPENS
        :: !space -> open_row()
#else
        :: !space -> closed = closed | FAILED
#endif
        fi;
        unlock();
        goto reserve
     :: seen == 0
     fi;
     atomic {
       if
       :: offset < UNITS ->
          assert(unit[offset] != NO_SPACE);
          unit[offset] = SELF + 1;
          offset++
       :: else -> break
       fi };
     atomic { n++; seen = 0 }
  :: n == 2 -> break
  od;
  atomic { n = 0; seen = 0; i = 0; space = false }
}

active proctype Consumer() {
  byte seen, o, i;
  bool last;
  do
  :: seen = closed;
     o = 0;
     if
     :: (seen & (NOT_READY | FAILED)) == 0 -> o = offset
     :: (seen & (NOT_READY | FAILED)) != 0
     fi;
     do
     :: i < o -> assert(unit[i] > 0 && unit[i] <= PRODUCERS); i++
     :: i >= o -> break
     od;
     if
     :: last -> break
     :: !last -> atomic { closed = closed | ENDED; last = true }
     :: !last
     fi
  od;
#ifndef CLOSE_ANYWAY
  lock();
#endif
  file = false;
#ifndef CLOSE_ANYWAY
  unlock();
#endif
  assert((closed & ENDED) != 0)
}
