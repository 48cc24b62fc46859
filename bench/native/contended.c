// SPDX-License-Identifier: Apache-2.0
/*
 * Locks that exclude: those of the C library, or with -DCONCURRENCY_KIT those of Concurrency Kit, inlined.
 *
 *   locks.uncontended  threads=1 measure=pair lock=NAME
 *   locks.contended    threads=N steps=N measure=throughput|wait lock=NAME
 */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifdef CONCURRENCY_KIT
#include <ck_spinlock.h>
#endif

/* --- Waits: a histogram with three significant digits ------------------------------------------------ */

#define HALF 1024
#define BUCKETS (36 * HALF)

static size_t bucket(uint64_t value) {
  if (value < 2 * HALF)
    return (size_t)value;
  int shift = 63 - __builtin_clzll(value) - 10;
  size_t index = (size_t)shift * HALF + (size_t)(value >> shift);
  return index < BUCKETS ? index : BUCKETS - 1;
}

/* The greatest value of a bucket. */
static uint64_t bucket_top(size_t index) {
  if (index < 2 * HALF)
    return index;
  size_t shift = index / HALF - 1;
  return ((uint64_t)(index - shift * HALF) + 1) * ((uint64_t)1 << shift) - 1;
}

/* --- What the lock guards, and each thread's own ------------------------------------------------------- */

#define STEPS_OUTSIDE 2

/* What is not counted at the start of a round: until every thread had the CPU. */
#define RAMP_MS 20
#define RAMP_MS_PER_THREAD 2

static CACHE_ALIGNED struct {
  uint64_t count;
  uint64_t state;
} guarded = {0, 1};
static CACHE_ALIGNED int steps;
static int thread_count;

/* When counting began; 0: not yet. */
static CACHE_ALIGNED _Atomic uint64_t begun;

static inline bool counting(void) {
  return atomic_load_explicit(&begun, memory_order_relaxed) != 0;
}

struct worker {
  CACHE_ALIGNED uint64_t start;
  uint64_t end;
  uint64_t sections; /* those that count */
  uint64_t all;
  uint64_t outside; /* keeps the work alive */
  uint64_t longest;
  uint32_t *waits;
};
static struct worker *workers;

static inline uint64_t busy_work(uint64_t x, int times) {
  for (int i = 0; i < times; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

static inline void work(void) {
  guarded.state = busy_work(guarded.state, steps);
  guarded.count++;
}

/* --- The loops, once for each lock --------------------------------------------------------------------- */

/* A lock has NAME_PLACE, what a thread brings to it, and NAME_LOCK and NAME_UNLOCK, given the place. */
#define LOOPS(NAME)                                                                                          \
  static void pairs_##NAME(int index) {                                                                      \
    struct worker *w = &workers[index];                                                                      \
    NAME##_PLACE(index);                                                                                     \
    uint64_t batches = 0;                                                                                    \
    w->start = now_ns();                                                                                     \
    do {                                                                                                     \
      for (int i = 0; i < BATCH; i++) {                                                                      \
        NAME##_LOCK();                                                                                       \
        guarded.count++;                                                                                     \
        NAME##_UNLOCK();                                                                                     \
      }                                                                                                      \
      batches++;                                                                                             \
    } while (!team_stopped());                                                                               \
    w->end = now_ns();                                                                                       \
    w->sections = w->all = batches * BATCH;                                                                  \
  }                                                                                                          \
  static void sections_##NAME(int index) {                                                                   \
    struct worker *w = &workers[index];                                                                      \
    NAME##_PLACE(index);                                                                                     \
    uint64_t sections = 0, skipped = 0, outside = (uint64_t)index + 1;                                       \
    do {                                                                                                     \
      NAME##_LOCK();                                                                                         \
      work();                                                                                                \
      NAME##_UNLOCK();                                                                                       \
      outside = busy_work(outside, STEPS_OUTSIDE);                                                           \
      sections++;                                                                                            \
      if (skipped == 0 && counting())                                                                        \
        skipped = sections;                                                                                  \
    } while (!team_stopped());                                                                               \
    w->end = now_ns();                                                                                       \
    w->sections = skipped == 0 ? 0 : sections - skipped;                                                     \
    w->all = sections;                                                                                       \
    w->outside = outside;                                                                                    \
  }                                                                                                          \
  static void timed_##NAME(int index) {                                                                      \
    struct worker *w = &workers[index];                                                                      \
    NAME##_PLACE(index);                                                                                     \
    uint64_t sections = 0, skipped = 0, outside = (uint64_t)index + 1, longest = 0;                          \
    memset(w->waits, 0, BUCKETS * sizeof *w->waits);                                                         \
    do {                                                                                                     \
      uint64_t before = now_ns();                                                                            \
      NAME##_LOCK();                                                                                         \
      uint64_t waited = now_ns() - before;                                                                   \
      work();                                                                                                \
      NAME##_UNLOCK();                                                                                       \
      if (skipped != 0) {                                                                                    \
        w->waits[bucket(waited)]++;                                                                          \
        longest = waited > longest ? waited : longest;                                                       \
      }                                                                                                      \
      outside = busy_work(outside, STEPS_OUTSIDE);                                                           \
      sections++;                                                                                            \
      if (skipped == 0 && counting())                                                                        \
        skipped = sections;                                                                                  \
    } while (!team_stopped());                                                                               \
    w->end = now_ns();                                                                                       \
    w->sections = skipped == 0 ? 0 : sections - skipped;                                                     \
    w->all = sections;                                                                                       \
    w->outside = outside;                                                                                    \
    w->longest = longest;                                                                                    \
  }

typedef void (*body)(int);
struct loops {
  body pairs, sections, timed;
};
#define LOOPS_OF(NAME) {pairs_##NAME, sections_##NAME, timed_##NAME}

#ifdef CONCURRENCY_KIT

#define LOCKS "mcs|clh|ticket"

static CACHE_ALIGNED ck_spinlock_mcs_t mcs = CK_SPINLOCK_MCS_INITIALIZER;
#define MCS_PLACE(index) CACHE_ALIGNED ck_spinlock_mcs_context_t place
#define MCS_LOCK() ck_spinlock_mcs_lock(&mcs, &place)
#define MCS_UNLOCK() ck_spinlock_mcs_unlock(&mcs, &place)
LOOPS(MCS)

/* A thread leaves with the node of its predecessor, for good. */
struct clh_node {
  CACHE_ALIGNED ck_spinlock_clh_t node;
};
static CACHE_ALIGNED ck_spinlock_clh_t *clh;
static ck_spinlock_clh_t **clh_own;
#define CLH_PLACE(index) ck_spinlock_clh_t **place = &clh_own[(index)*CACHE_LINE / (int)sizeof *clh_own]
#define CLH_LOCK() ck_spinlock_clh_lock(&clh, *place)
#define CLH_UNLOCK() ck_spinlock_clh_unlock(place)
LOOPS(CLH)

static CACHE_ALIGNED ck_spinlock_ticket_t ticket = CK_SPINLOCK_TICKET_INITIALIZER;
#define TICKET_PLACE(index) (void)(index)
#define TICKET_LOCK() ck_spinlock_ticket_lock(&ticket)
#define TICKET_UNLOCK() ck_spinlock_ticket_unlock(&ticket)
LOOPS(TICKET)

static const struct loops all_loops[] = {LOOPS_OF(MCS), LOOPS_OF(CLH), LOOPS_OF(TICKET)};

static void locks_create(int threads) {
  struct clh_node *nodes = aligned_alloc(CACHE_LINE, (size_t)(threads + 1) * sizeof *nodes);
  clh_own = aligned_alloc(CACHE_LINE, (size_t)threads * CACHE_LINE);
  if (nodes == NULL || clh_own == NULL)
    broken("No memory for the nodes of %d threads.", threads);
  ck_spinlock_clh_init(&clh, &nodes[threads].node);
  for (int i = 0; i < threads; i++)
    clh_own[i * CACHE_LINE / (int)sizeof *clh_own] = &nodes[i].node;
}

#else

#define LOCKS "mutex|spin"

static CACHE_ALIGNED pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#define MUTEX_PLACE(index) (void)(index)
#define MUTEX_LOCK() pthread_mutex_lock(&mutex)
#define MUTEX_UNLOCK() pthread_mutex_unlock(&mutex)
LOOPS(MUTEX)

static CACHE_ALIGNED pthread_spinlock_t spin;
#define SPIN_PLACE(index) (void)(index)
#define SPIN_LOCK() pthread_spin_lock(&spin)
#define SPIN_UNLOCK() pthread_spin_unlock(&spin)
LOOPS(SPIN)

static const struct loops all_loops[] = {LOOPS_OF(MUTEX), LOOPS_OF(SPIN)};

static void locks_create(int threads) {
  (void)threads;
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
}

#endif

/* --- Rounds ---------------------------------------------------------------------------------------------- */

enum { PAIR, THROUGHPUT, WAIT };
static int measure;
static uint64_t counted;

static void attach(void) {
}

static void workers_create(int count) {
  thread_count = count;
  workers = aligned_alloc(CACHE_LINE, (size_t)count * sizeof *workers);
  if (workers == NULL)
    broken("No memory for %d threads.", count);
  memset(workers, 0, (size_t)count * sizeof *workers);
  for (int i = 0; measure == WAIT && i < count; i++) {
    workers[i].waits = calloc(BUCKETS, sizeof *workers[i].waits);
    if (workers[i].waits == NULL)
      broken("No memory for the waits of %d threads.", count);
  }
}

static void tell_waits(double rate) {
  uint64_t sections = 0, longest = 1, seen = 0, p999 = 1;
  for (int i = 0; i < thread_count; i++) {
    sections += workers[i].sections;
    longest = workers[i].longest > longest ? workers[i].longest : longest;
  }
  uint64_t wanted = sections - sections / 1000;
  for (size_t b = 0; b < BUCKETS && seen < wanted; b++) {
    for (int i = 0; i < thread_count; i++)
      seen += workers[i].waits[b];
    p999 = bucket_top(b);
  }
  p999 = p999 > longest ? longest : p999;
  result("p999=%.1f longest=%.1f sections=%.1f", (double)(p999 < 1 ? 1 : p999), (double)longest, rate);
}

static void run(long millis) {
  atomic_store(&begun, 0);
  team_begin();
  if (measure != PAIR)
    sleep_until(after_ms(RAMP_MS + RAMP_MS_PER_THREAD * thread_count));
  atomic_store(&begun, now_ns());
  sleep_until(after_ms(millis));
  team_end();
  for (int i = 0; i < thread_count; i++)
    counted += workers[i].all;
}

static void round_of_sections(long millis) {
  uint64_t start = UINT64_MAX, end = 0, sections = 0, most = 0, least = UINT64_MAX;
  run(millis);
  for (int i = 0; i < thread_count; i++) {
    const struct worker *w = &workers[i];
    uint64_t from = measure == PAIR ? w->start : begun;
    start = from < start ? from : start;
    end = w->end > end ? w->end : end;
    most = w->sections > most ? w->sections : most;
    least = w->sections < least ? w->sections : least;
    sections += w->sections;
  }
  sections = sections == 0 ? 1 : sections; /* no rate is 0 */
  if (guarded.count != counted)
    broken("There were %llu sections, but %llu excluded each other.", (unsigned long long)counted,
           (unsigned long long)guarded.count);
  double wall = (double)(end - start), rate = (double)sections * 1e9 / wall;
  if (measure == PAIR)
    result("ns=%.4f", wall / (double)sections);
  else if (measure == THROUGHPUT)
    result("rate=%.3f fairness=%.4f", rate, (double)(most == 0 ? 1 : most) / (double)(least == 0 ? 1 : least));
  else
    tell_waits(rate);
}

int main(int argc, char **argv) {
  arguments(argc, argv, "locks.uncontended|locks.contended");
  measure = argument_choice("measure", "pair|throughput|wait");
  int lock = argument_choice("lock", LOCKS);
  int threads = (int)argument_number("threads", 1, 1, 4096);
  steps = (int)argument_number("steps", 0, 0, 1000000000);
  arguments_end();
  if (measure == PAIR && threads != 1)
    bad_usage("Pairs are those of one thread, not of %d.", threads);
  locks_create(threads);
  workers_create(threads);
  const struct loops *loops = &all_loops[lock];
  team_create(threads, attach,
              measure == PAIR         ? loops->pairs
              : measure == THROUGHPUT ? loops->sections
                                      : loops->timed);
  run(50);
  serve(round_of_sections);
}
