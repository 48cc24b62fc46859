// SPDX-License-Identifier: Apache-2.0
/*
 * rcu.read: every thread enters a read section, follows one shared pointer, adds up what it finds and leaves.
 * The includer writes the loop; the bookkeeping is the same for every way of protecting the pointer.
 */
#ifndef QUIESCE_BENCH_READING_H
#define QUIESCE_BENCH_READING_H

#include "harness.h"

#include <stdlib.h>

struct item {
  uint64_t value;
};

struct reader {
  CACHE_ALIGNED uint64_t start;
  uint64_t end;
  uint64_t iterations;
  uint64_t sum; /* keeps the reads alive */
};

static struct reader *readers;
static int reader_count;

static void readers_create(int count) {
  reader_count = count;
  readers = aligned_alloc(CACHE_LINE, (size_t)(count + 1) * sizeof *readers);
  if (readers == NULL)
    broken("No memory for %d readers.", count);
}

static void reading_warm_up(void) {
  team_begin();
  sleep_until(after_ms(100));
  team_end();
}

/* Wall time is from the first thread's start to the last one's end, so lateness of any of them counts. */
static void reading_round(long millis) {
  uint64_t until = after_ms(millis);
  team_begin();
  sleep_until(until);
  team_end();

  uint64_t start = UINT64_MAX, end = 0, iterations = 0;
  for (int i = 0; i < reader_count; i++) {
    const struct reader *r = &readers[i];
    start = r->start < start ? r->start : start;
    end = r->end > end ? r->end : end;
    iterations += r->iterations;
    if (r->sum != r->iterations)
      broken("Reader %d saw a value that nobody wrote.", i);
  }
  result("ns=%.4f", (double)(end - start) * reader_count / (double)iterations);
}

#endif
