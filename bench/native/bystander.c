// SPDX-License-Identifier: Apache-2.0
/*
 * The innocent neighbour: one thread that computes on 16 KiB, shares nothing with anybody and makes no system
 * call within a round. How far its rate falls beside a process that issues barriers is what barriers cost others.
 *
 *   barrier.bystander  cpu=N (pin to that CPU; absent: wherever the scheduler likes)
 */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#define WORDS 2048 /* a power of two; 16 KiB stay in a first-level cache */

static CACHE_ALIGNED uint64_t table[WORDS];
static volatile uint64_t sink;

/* An xorshift walk: each step loads and stores a word that depends on the step before. */
static uint64_t compute(uint64_t state) {
  for (int i = 0; i < BATCH; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    table[state & (WORDS - 1)] += state;
    state += table[(state >> 32) & (WORDS - 1)] | 1;
  }
  return state;
}

static double rate_for(long millis) {
  uint64_t state = 88172645463325252u, batches = 0;
  uint64_t from = now_ns(), until = from + (uint64_t)millis * 1000000u, to;
  do {
    for (int i = 0; i < 16; i++) /* some 50 us between two looks at the clock */
      state = compute(state);
    batches += 16;
    to = now_ns();
  } while (to < until);
  sink = state;
  return (double)(batches * BATCH) * 1e9 / (double)(to - from);
}

static void bystander_round(long millis) {
  result("rate=%.0f", rate_for(millis));
}

int main(int argc, char **argv) {
  arguments(argc, argv, "barrier.bystander");
  long cpu = argument_number("cpu", -1, -1, CPU_SETSIZE - 1);
  arguments_end();
  if (cpu >= 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
      unavailable("CPU %ld refuses this process (%s); choose one that `taskset -p $$` lists.", cpu, strerror(errno));
  }
  rate_for(100);
  serve(bystander_round);
}
