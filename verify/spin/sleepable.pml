/*
 * The sleepable grace period: lock and unlock counts per CPU, two generations.
 *
 *   reader   idx = gen; lock[idx][cpu]++; p = ptr; use p; unlock[idx][other cpu]++
 *   updater  ptr = new; BARRIER; wait(1 - gen); gen = 1 - gen; wait(1 - gen); BARRIER; free the old object
 *   wait(i)  until: sum all unlock[i]; BARRIER; sum all lock[i]; the sums are equal
 *
 * BARRIER is a membarrier. A reader's five instructions are performed as in reader.inc: whenever what they depend on has
 * been performed, across sections too. An increment is one instruction here: a restartable sequence is the only writer of
 * its CPU's word, and the CPU sees its own stores, so being late is all that can happen to it. The reader may migrate at
 * any moment, with nothing flushed: lock and unlock pick any CPU each. (The real scheduler runs a barrier; we do not need it.)
 *
 * Readers are plain by default: neither the lock nor the unlock is ordered with anything but by data and coherence.
 *
 * -D LOCKS_FIRST        twin: each attempt sums the locks before the unlocks
 * -D ONE_WAIT           twin: flip and wait for the other index, without waiting for the inactive one first
 * -D NO_MIDDLE          twin: no barrier between the sums, so that the updater's loads come in any order
 * -D LOCAL_MIDDLE       the barrier between the sums is the updater's own fence only; twin with plain readers
 * -D EXIT_RELEASE       the unlock comes after everything before it in the program
 * -D NO_LEADING         twin: the first barrier is a local fence
 * -D LOCAL_TRAILING     the last barrier is a local fence
 * -D FENCED             no membarrier at all: readers lock with a full fence after it and unlock with release
 * -D NO_READER_FENCE    twin of FENCED: the readers' fence is missing
 */
#ifndef READERS
#define READERS 2
#endif
#ifndef SECTIONS
#define SECTIONS 2
#endif
#ifndef OTHERS
#define OTHERS SECTIONS  /* sections of every reader but the first */
#endif
#ifndef PERIODS
#define PERIODS 2
#endif
#ifdef NO_READER_FENCE
#undef FENCED
#define EXIT_RELEASE
#define LOCAL_LEADING
#define LOCAL_MIDDLE
#define LOCAL_TRAILING
#endif
#ifdef FENCED
#define EXIT_RELEASE
#define LOCAL_LEADING
#define LOCAL_MIDDLE
#define LOCAL_TRAILING
#endif
#ifdef NO_LEADING
#define LOCAL_LEADING
#endif

#define LOAD_GEN 0
#define LOCK     1
#define LOAD_PTR 2
#define ACCESS   3
#define UNLOCK   4
#define LENGTH   5

#define BIT(s, i)  (1 << ((s) * LENGTH + (i)))
#define HAS(s, i)  ((done[r] & BIT(s, i)) != 0)
#define FIRST(s)   ((s) == 0)
#define PREV(s)    ((s) == 0 -> 0 : (s) - 1)
#define MINE(s)    (r == 0 || (s) < OTHERS)
#define ALL(r)     (r == 0 -> BIT(SECTIONS, 0) - 1 : BIT(OTHERS, 0) - 1)
#define AT_BOUNDARY(r)  ((done[r] & (done[r] + 1)) == 0)

bit gen = 0;
byte ptr = 0;
byte freed = 0;
byte locks[4];           /* [2 * index + cpu] */
byte unlocks[4];
short done[READERS];

byte pending_ptr = 0;
byte pending_gen = 0;    /* 1 + the value */

active proctype UpdaterStoreBuffer() {
end:
  do
  :: atomic { pending_ptr != 0 -> ptr = pending_ptr; pending_ptr = 0 }
  :: atomic { pending_gen != 0 -> gen = pending_gen - 1; pending_gen = 0 }
  od
}

#define STORES_DRAINED  (pending_ptr == 0 && pending_gen == 0)

#ifdef FENCED
#define MAY_LOAD_GEN(s)  (FIRST(s) || HAS(PREV(s), LOCK))
#define MAY_LOAD_PTR(s)  HAS(s, LOCK)
#else
#define MAY_LOAD_GEN(s)  (FIRST(s) || HAS(PREV(s), LOAD_GEN))
#define MAY_LOAD_PTR(s)  (FIRST(s) || HAS(PREV(s), LOAD_PTR))
#endif
#define MAY_ACCESS(s)    HAS(s, LOAD_PTR)
#ifdef EXIT_RELEASE
#define MAY_LOCK(s)      HAS(s, LOAD_GEN)
#define MAY_UNLOCK(s)    (HAS(s, LOCK) && HAS(s, ACCESS) && (FIRST(s) || HAS(PREV(s), UNLOCK)))
#else
#define MAY_LOCK(s)      HAS(s, LOAD_GEN)
#define MAY_UNLOCK(s)    HAS(s, LOAD_GEN)
#endif

#define COUNT(word, s)  word[2 * index[s]]++ :: word[2 * index[s] + 1]++

/* The index is needed by lock and unlock, in either order: clear it after the later one. */
#define FORGET(s, i)    if :: HAS(s, i) -> index[s] = 0 :: else fi

#define SECTION(s) \
  :: atomic { MINE(s) && !HAS(s, LOAD_GEN) && MAY_LOAD_GEN(s) -> index[s] = gen;                               done[r] = done[r] | BIT(s, LOAD_GEN) } \
  :: atomic { !HAS(s, LOCK)     && MAY_LOCK(s)     -> if :: COUNT(locks, s) fi; FORGET(s, UNLOCK);  done[r] = done[r] | BIT(s, LOCK) } \
  :: atomic { MINE(s) && !HAS(s, LOAD_PTR) && MAY_LOAD_PTR(s) -> object[s] = ptr;                              done[r] = done[r] | BIT(s, LOAD_PTR) } \
  :: atomic { !HAS(s, ACCESS)   && MAY_ACCESS(s)   -> assert((freed & (1 << object[s])) == 0); object[s] = 0; done[r] = done[r] | BIT(s, ACCESS) } \
  :: atomic { !HAS(s, UNLOCK)   && MAY_UNLOCK(s)   -> if :: COUNT(unlocks, s) fi; FORGET(s, LOCK);  done[r] = done[r] | BIT(s, UNLOCK) }

active [READERS] proctype Reader() {
  byte r = _pid - 1;       /* process 0 is the updater's store buffer */
  bit index[SECTIONS];
  byte object[SECTIONS];
  do
  SECTION(0)
#if SECTIONS > 1
  SECTION(1)
#endif
#if SECTIONS > 2
  SECTION(2)
#endif
  :: done[r] == ALL(r) -> break
  od
}

inline membarrier() {
  STORES_DRAINED;
  i = 0;
  do
  :: atomic { i < READERS && AT_BOUNDARY(i) -> i++ }
  :: atomic { i == READERS -> i = 0; break }
  od
}

#ifdef LOCAL_LEADING
#define LEADING   STORES_DRAINED
#else
#define LEADING   membarrier()
#endif
#ifdef LOCAL_MIDDLE
#define MIDDLE    STORES_DRAINED
#else
#define MIDDLE    membarrier()
#endif
#ifdef LOCAL_TRAILING
#define TRAILING  STORES_DRAINED
#else
#define TRAILING  membarrier()
#endif

#define SUM_UNLOCKS(x)  balance = balance + unlocks[2 * (x)]; balance = balance + unlocks[2 * (x) + 1]
#define SUM_LOCKS(x)    balance = balance - locks[2 * (x)];   balance = balance - locks[2 * (x) + 1]

/* One signed balance instead of two sums: fewer states, the same comparison. */
inline wait(x) {
  do
  ::
#ifdef LOCKS_FIRST
     SUM_LOCKS(x);
     MIDDLE;
     SUM_UNLOCKS(x);
#else
#ifdef NO_MIDDLE
     do
     :: atomic { (read & 1) == 0 -> balance = balance + unlocks[2 * (x)];     read = read | 1 }
     :: atomic { (read & 2) == 0 -> balance = balance + unlocks[2 * (x) + 1]; read = read | 2 }
     :: atomic { (read & 4) == 0 -> balance = balance - locks[2 * (x)];       read = read | 4 }
     :: atomic { (read & 8) == 0 -> balance = balance - locks[2 * (x) + 1];   read = read | 8 }
     :: atomic { read == 15 -> read = 0; break }
     od;
#else
     SUM_UNLOCKS(x);
     MIDDLE;
     SUM_LOCKS(x);
#endif
#endif
     if
     :: atomic { balance != 0 -> balance = 0 }
     :: balance == 0 -> break
     fi
  od
}

active proctype Updater() {
  byte i = 0;
  byte period = 0;
  bit current = 0;
  short balance = 0;
#ifdef NO_MIDDLE
  byte read = 0;
#endif
  do
  :: period < PERIODS ->
     pending_ptr = period + 1;
     LEADING;
#ifndef ONE_WAIT
     wait(1 - current);
#endif
     atomic { current = 1 - current; pending_gen = 1 + current };
     wait(1 - current);
     TRAILING;
     atomic { freed = freed | (1 << period); period++ }
  :: period == PERIODS -> break
  od
}
