// SPDX-License-Identifier: Apache-2.0
/*
 * The userspace RCU library of the distribution, one program per flavour (-DFLAVOUR_MEMB, _MB, _QSBR or _BP),
 * its read side inlined as its authors recommend for speed.
 *
 *   rcu.read         threads=N section=full|bare
 *   rcu.synchronize  readers=N
 *   rcu.call         measure=enqueue|throughput|idle-latency|idle-barrier
 *                    worker=default|percpu|percpu-pinned|rt|rt-pinned  batch=N
 *
 * Only the qsbr flavour notices rcu_quiescent_state, rcu_thread_online and rcu_thread_offline; elsewhere they
 * are empty. A thread is offline whenever it blocks, or no grace period would end meanwhile.
 */
#define _GNU_SOURCE
#define _LGPL_SOURCE
#define URCU_API_MAP

/*
 * Releases before 0.15.5 fence with mfence, which some processors make several times slower than a locked
 * instruction. This gives an older library the reader of a newer one, so that nobody wins by the age of a package.
 */
#if defined(LOCKED_FENCE) && defined(__x86_64__)
#define cmm_smp_mb() __asm__ __volatile__("lock; addl $0,-4(%%rsp)" ::: "memory", "cc")
#endif

#if defined(FLAVOUR_MEMB)
#include <urcu/urcu-memb.h>
#elif defined(FLAVOUR_MB)
#include <urcu/urcu-mb.h>
#elif defined(FLAVOUR_QSBR)
#include <urcu/urcu-qsbr.h>
#elif defined(FLAVOUR_BP)
#include <urcu/urcu-bp.h>
#else
#error "Define FLAVOUR_MEMB, FLAVOUR_MB, FLAVOUR_QSBR or FLAVOUR_BP."
#endif

#include "reading.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>

static struct item first = {1};
static CACHE_ALIGNED struct item *shared = &first;

static struct samples samples;

static void attach(void) {
  rcu_register_thread();
  rcu_thread_offline();
}

/* --- rcu.read ---------------------------------------------------------------------------------------- */

static void read_full(int index) {
  struct reader *r = &readers[index];
  uint64_t sum = 0, batches = 0;

  rcu_thread_online();
  r->start = now_ns();
  do {
    for (int i = 0; i < BATCH; i++) {
      rcu_read_lock();
      sum += rcu_dereference(shared)->value;
      rcu_read_unlock();
    }
    rcu_quiescent_state();
    batches++;
  } while (!team_stopped());
  r->end = now_ns();
  rcu_thread_offline();
  r->iterations = batches * BATCH;
  r->sum = sum;
}

static void read_bare(int index) {
  struct reader *r = &readers[index];
  uint64_t sum = 0, batches = 0;

  r->start = now_ns();
  do {
    for (int i = 0; i < BATCH; i++)
      sum += rcu_dereference(shared)->value;
    batches++;
  } while (!team_stopped());
  r->end = now_ns();
  r->iterations = batches * BATCH;
  r->sum = sum;
}

/* --- rcu.synchronize --------------------------------------------------------------------------------- */

/* Reads without a pause; in qsbr a quiescent state every 1,024 sections, the rate of the library's own tests. */
static void disturb(int index) {
  struct reader *r = &readers[index];
  uint64_t sum = 0;

  rcu_thread_online();
  team_running();
  do {
    for (int i = 0; i < BATCH; i++) {
      rcu_read_lock();
      sum += rcu_dereference(shared)->value;
      rcu_read_unlock();
    }
    rcu_quiescent_state();
  } while (!team_stopped());
  rcu_thread_offline();
  r->sum = sum;
}

static void synchronize_for(long millis) {
  samples_clear(&samples);
  team_begin();
  team_await();
  rcu_thread_online();
  uint64_t until = after_ms(millis), from, to = now_ns();
  do {
    from = to;
    synchronize_rcu();
    to = now_ns();
    samples_add(&samples, to - from);
  } while (to < until);
  rcu_thread_offline();
  team_end();
}

static void synchronize_round(long millis) {
  synchronize_for(millis);
  samples_sort(&samples);
  result("ns=%.0f p99=%.0f mean=%.1f samples=%zu", samples_at(&samples, 0.5), samples_at(&samples, 0.99),
         samples.sum / (double)samples.count, samples.count);
}

/* --- rcu.call ---------------------------------------------------------------------------------------- */

enum measure { ENQUEUE, THROUGHPUT, IDLE_LATENCY, IDLE_BARRIER };
enum worker { DEFAULT, PERCPU, PERCPU_PINNED, RT, RT_PINNED };

struct deferred {
  struct rcu_head head;
  uint64_t runs;
};

static enum measure measure;
static enum worker worker;
static struct deferred *deferred;
static long batch;
static uint64_t batches_run;

static bool worker_polls(void) {
  return worker == RT || worker == RT_PINNED;
}

/* One worker for each CPU that this process may use: the calling thread is never on another. */
static void workers_start(void) {
  bool pinned = worker == PERCPU_PINNED || worker == RT_PINNED;
  cpu_set_t allowed;

  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    broken("Cannot read the CPU set of this process: %s.", strerror(errno));
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &allowed))
      continue;
    struct call_rcu_data *data = create_call_rcu_data(worker_polls() ? URCU_CALL_RCU_RT : 0, pinned ? cpu : -1);
    if (data == NULL || set_cpu_call_rcu_data(cpu, data) != 0)
      broken("Cannot give CPU %d a call_rcu worker: %s.", cpu, strerror(errno));
    if (pinned) {
      /* The library pins too, but some releases only after hundreds of grace periods. */
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      pthread_setaffinity_np(get_call_rcu_thread(data), sizeof one, &one);
    }
  }
}

static void count_run(struct rcu_head *head) {
  caa_container_of(head, struct deferred, head)->runs++;
}

static void enqueue_batch(void) {
  for (long i = 0; i < batch; i++) {
    call_rcu(&deferred[i].head, count_run);
    if (i % BATCH == BATCH - 1)
      rcu_quiescent_state(); /* or no worker could run anything before the last call */
  }
}

static void check_batch(void) {
  batches_run++;
  for (long i = 0; i < batch; i++)
    if (deferred[i].runs != batches_run)
      broken("Callback %ld ran %lu times, not %lu.", i, deferred[i].runs, batches_run);
}

static void batches_round(long millis) {
  uint64_t until = after_ms(millis);
  do {
    uint64_t from = now_ns();
    enqueue_batch();
    uint64_t enqueued = now_ns();
    rcu_barrier();
    uint64_t ran = now_ns();
    samples_add(&samples, (measure == ENQUEUE ? enqueued : ran) - from);
    check_batch();
  } while (now_ns() < until);
}

static sem_t idle_done;
static uint64_t idle_ran;

static void stamp_run(struct rcu_head *head) {
  (void)head;
  idle_ran = now_ns();
  sem_post(&idle_done);
}

static uint64_t idle_latency(void) {
  uint64_t from = now_ns();
  call_rcu(&deferred[0].head, stamp_run);
  rcu_thread_offline();
  while (sem_wait(&idle_done) != 0) {
  }
  rcu_thread_online();
  return idle_ran - from;
}

static uint64_t idle_barrier(void) {
  uint64_t from = now_ns();
  rcu_barrier();
  return now_ns() - from;
}

static void idle_round(long millis) {
  uint64_t until = after_ms(millis);
  do {
    rcu_thread_offline();
    settle();
    rcu_thread_online();
    samples_add(&samples, measure == IDLE_LATENCY ? idle_latency() : idle_barrier());
  } while (now_ns() < until || samples.count < 5);
}

/* Polling workers live only inside a round, since the process must be idle between rounds. */
static void call_round(long millis) {
  samples_clear(&samples);
  rcu_thread_online();
  if (worker_polls())
    workers_start();
  if (measure == ENQUEUE || measure == THROUGHPUT)
    batches_round(millis);
  else
    idle_round(millis);
  rcu_barrier();
  if (worker_polls())
    free_all_cpu_call_rcu_data();
  rcu_thread_offline();

  samples_sort(&samples);
  double median = samples_at(&samples, 0.5);
  if (measure == THROUGHPUT)
    result("rate=%.0f samples=%zu", (double)batch * 1e9 / median, samples.count);
  else
    result("ns=%.3f samples=%zu", measure == ENQUEUE ? median / (double)batch : median, samples.count);
}

static void call_create(void) {
  deferred = calloc((size_t)batch, sizeof *deferred);
  if (deferred == NULL || sem_init(&idle_done, 0, 0) != 0)
    broken("No memory for %ld callbacks.", batch);
  rcu_thread_online();
  if (worker == DEFAULT)
    get_default_call_rcu_data();
  else if (!worker_polls())
    workers_start();
  enqueue_batch(); /* also touches every page */
  rcu_barrier();
  check_batch();
  rcu_thread_offline();
}

/* ----------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
  enum { READ, SYNCHRONIZE, CALL } experiment = arguments(argc, argv, "rcu.read|rcu.synchronize|rcu.call");

  switch (experiment) {
  case READ: {
    int threads = (int)argument_number("threads", 1, 1, 4096);
    bool bare = argument_choice("section", "full|bare") == 1;
    arguments_end();
    readers_create(threads);
    team_create(threads, attach, bare ? read_bare : read_full);
    reading_warm_up();
    serve(reading_round);
  }
  case SYNCHRONIZE: {
    int threads = (int)argument_number("readers", 0, 0, 4096);
    arguments_end();
    samples_create(&samples, 1 << 20);
    attach();
    readers_create(threads);
    team_create(threads, attach, disturb);
    synchronize_for(100);
    serve(synchronize_round);
  }
  case CALL:
    measure = (enum measure)argument_choice("measure", "enqueue|throughput|idle-latency|idle-barrier");
    worker = (enum worker)argument_choice("worker", "default|percpu|percpu-pinned|rt|rt-pinned");
    batch = argument_number("batch", 1000000, 1, 100000000);
    arguments_end();
    samples_create(&samples, 1 << 16);
    attach();
    call_create();
    serve(call_round);
  }
}
