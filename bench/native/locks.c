// SPDX-License-Identifier: Apache-2.0
/*
 * The read side of a POSIX read-write lock with its default attributes, in the loop of rcu.read.
 *
 *   rcu.read  threads=N section=full|bare
 */
#define _GNU_SOURCE
#include "reading.h"

#include <pthread.h>

static struct item first = {1};
static CACHE_ALIGNED struct item *volatile shared = &first;
static CACHE_ALIGNED pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void attach(void) {
}

static void read_full(int index) {
  struct reader *r = &readers[index];
  uint64_t sum = 0, batches = 0;

  r->start = now_ns();
  do {
    for (int i = 0; i < BATCH; i++) {
      pthread_rwlock_rdlock(&lock);
      sum += shared->value;
      pthread_rwlock_unlock(&lock);
    }
    batches++;
  } while (!team_stopped());
  r->end = now_ns();
  r->iterations = batches * BATCH;
  r->sum = sum;
}

static void read_bare(int index) {
  struct reader *r = &readers[index];
  uint64_t sum = 0, batches = 0;

  r->start = now_ns();
  do {
    for (int i = 0; i < BATCH; i++)
      sum += shared->value;
    batches++;
  } while (!team_stopped());
  r->end = now_ns();
  r->iterations = batches * BATCH;
  r->sum = sum;
}

int main(int argc, char **argv) {
  arguments(argc, argv, "rcu.read");
  int threads = (int)argument_number("threads", 1, 1, 4096);
  bool bare = argument_choice("section", "full|bare") == 1;
  arguments_end();
  readers_create(threads);
  team_create(threads, attach, bare ? read_bare : read_full);
  reading_warm_up();
  serve(reading_round);
}
