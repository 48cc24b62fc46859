/*
 * How an enqueuer wakes the callback worker: one futex word, no mutex.
 *
 *   worker    forever: take the whole queue and run it; word = word - 1; barrier;
 *                      if the queue is still empty, wait while word is -1; otherwise word = 0
 *   enqueuer  add to the queue; barrier; if word is -1 { word = 0; wake }
 *
 * The queue is a count of callbacks: what matters here is only whether the worker can see one. An enqueuer's stores
 * linger in its store buffer until a barrier, or until they drain by themselves, in any order. So does the worker's
 * store of 0, and its decrement if the barrier after it is missing. The kernel's wait compares the word and falls asleep in one step and
 * may end for no reason (SPURIOUS times); its wake begins with a full barrier.
 *
 * Claims: the worker does not sleep for ever beside a callback; the word is 0 or -1, nothing else; the worker goes
 * round with nothing to do at most once for each store of 0 and each spurious return (so it sleeps, rather than spins).
 *
 * -D NEVER_ARMED         twin: the worker does not decrement (the first patch)
 * -D NO_ENQUEUE_BARRIER  twin: the word is read before the callback is visible
 * -D NO_WORKER_BARRIER   twin: the queue is read before the decrement is visible
 * -D LOOK_FIRST          twin: the worker's last look comes before its decrement
 * -D WAKE_FIRST          twin: the enqueuer wakes, then stores 0
 * -D ADD_ONE             twin: the enqueuer adds 1 to the word instead of storing 0
 * -D WAIT_ONCE           twin: the worker takes every return from the kernel for a wake-up
 * -D NOT_RESET           twin: the worker leaves the word at -1 when it found work without waiting
 */
#ifndef ENQUEUERS
#define ENQUEUERS 2
#endif
#ifndef CALLBACKS
#define CALLBACKS 2           /* by each enqueuer */
#endif
#ifndef SPURIOUS
#define SPURIOUS 2
#endif

short word = 0;
byte queue = 0;
byte left = ENQUEUERS;        /* enqueuers that have not finished */
bool asleep = false;
byte spurious = SPURIOUS;
byte stored_zero = 0;         /* times that an enqueuer stored 0 */
byte idle = 0;                /* times that the worker found nothing to run */

/* store buffers */
byte adding[ENQUEUERS];
bool zeroing[ENQUEUERS];
bool arming = false;
bool resetting = false;

#define CHECK_WORD  assert(word == 0 || word == -1)

active [ENQUEUERS] proctype Enqueuer() {
  byte e = _pid;
  short seen;
  byte n = 0;
  do
  :: n < CALLBACKS ->
     n++;
     adding[e] = 1;
#ifndef NO_ENQUEUE_BARRIER
     adding[e] == 0;
#endif
     seen = word;
     if
     :: seen == -1 ->
        seen = 0;
#ifdef WAKE_FIRST
        adding[e] == 0;
        asleep = false;
        zeroing[e] = true;
#else
#ifdef ADD_ONE
        atomic { word++; CHECK_WORD; stored_zero++ }
#else
        zeroing[e] = true;
#endif
        (!zeroing[e] && adding[e] == 0);     /* the call into the kernel is a barrier */
        asleep = false;                      /* wake */
#endif
     :: else -> seen = 0
     fi
  :: n == CALLBACKS -> break
  od;
  (!zeroing[e] && adding[e] == 0);
  left--
}

#define DRAIN(e) \
  :: atomic { adding[e] != 0 -> queue++; adding[e] = 0 } \
  :: atomic { zeroing[e] -> word = 0; zeroing[e] = false; stored_zero++ }

active proctype StoreBuffers() {
end:
  do
  DRAIN(0)
#if ENQUEUERS > 1
  DRAIN(1)
#endif
#if ENQUEUERS > 2
  DRAIN(2)
#endif
  :: atomic { resetting && !arming -> word = 0; resetting = false }
#ifdef NO_WORKER_BARRIER
  :: atomic { arming -> arming = false; word--; CHECK_WORD }
#endif
  od
}

#ifdef NO_WORKER_BARRIER
#define ARM  atomic { !resetting && !arming -> arming = true }
#else
#define ARM  atomic { !resetting -> word--; CHECK_WORD }
#endif

active proctype Worker() {
  bool nothing;
  do
  :: atomic {
       if
       :: queue == 0 -> idle++; assert(idle <= 1 + stored_zero + SPURIOUS - spurious)
       :: else -> queue = 0
       fi
     }
#ifdef LOOK_FIRST
     nothing = (queue == 0);
     ARM;
#else
#ifndef NEVER_ARMED
     ARM;
#endif
     nothing = (queue == 0);
#endif
     if
     :: nothing ->
#ifdef NO_WORKER_BARRIER
        !arming;                     /* the kernel's comparison comes after it all the same */
#endif
        do
        :: atomic { word == -1 -> asleep = true }
end_asleep:
           !asleep
#ifdef WAIT_ONCE
           -> break
#endif
        :: else -> break
        od
     :: else ->
#ifndef NOT_RESET
        resetting = true
#endif
     fi;
     nothing = false
  od
}

active proctype Kernel() {
end:
  do
  :: atomic { asleep && spurious > 0 -> spurious--; asleep = false }
  od
}

/* Nobody is left to wake the worker, and there is something to run. */
active proctype LostWakeUp() {
end:
  atomic { left == 0 && asleep && queue > 0 -> assert(queue == 0) }
}
