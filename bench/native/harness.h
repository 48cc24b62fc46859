// SPDX-License-Identifier: Apache-2.0
/*
 * What every native peer shares: its arguments, the line protocol on stdin and stdout, a team of threads
 * that is blocked between rounds, and order statistics. README.md beside this file states the protocol.
 */
#ifndef QUIESCE_BENCH_HARNESS_H
#define QUIESCE_BENCH_HARNESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Two 64-byte lines: processors that prefetch in pairs must not couple neighbours. */
#define CACHE_LINE 128
#define CACHE_ALIGNED __attribute__((aligned(CACHE_LINE)))

/* Iterations between two looks at the stop flag, so that the look costs nothing per iteration. */
#define BATCH 1024

#define PRINTF_LIKE __attribute__((format(printf, 1, 2)))

/* --- Arguments: EXPERIMENT key=value ... ------------------------------------------------------------- */

/* Takes the command line and returns the position of EXPERIMENT in allowed ("a|b|c"). */
int arguments(int argc, char **argv, const char *allowed);

/* The position of the key's value in allowed; 0, the first one, when the key is absent. */
int argument_choice(const char *key, const char *allowed);

long argument_number(const char *key, long fallback, long low, long high);

/* Every key that nobody has asked for by now is an error. */
void arguments_end(void);

/* --- Endings ----------------------------------------------------------------------------------------- */

/* One sentence on stderr, exit 2. */
_Noreturn void bad_usage(const char *format, ...) PRINTF_LIKE;

/* One sentence on stderr, exit 1: the machine refused something that should work. */
_Noreturn void broken(const char *format, ...) PRINTF_LIKE;

/* The line "unavailable SENTENCE" on stdout, exit 0: this machine cannot run the experiment. */
_Noreturn void unavailable(const char *format, ...) PRINTF_LIKE;

/* --- Protocol ---------------------------------------------------------------------------------------- */

/* Says "ready", then runs one round per "round MILLIS" line until "quit" or the end of input; never returns. */
_Noreturn void serve(void (*round)(long millis));

/* Prints "result ..." and flushes. */
void result(const char *format, ...) PRINTF_LIKE;

/* --- Time -------------------------------------------------------------------------------------------- */

static inline uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t after_ms(long millis) {
  return now_ns() + (uint64_t)millis * 1000000u;
}

void sleep_until(uint64_t ns);

/*
 * Sleeps 30 to 40 ms, so that whoever serves the next request is asleep. The spread keeps the caller from
 * falling into step with a worker that polls every 10 ms, where each sample would hit the same phase.
 */
void settle(void);

/* --- Samples ----------------------------------------------------------------------------------------- */

/* The last `limit` of `count` values; the sum is over all of them. */
struct samples {
  uint64_t *values;
  size_t limit;
  size_t count;
  double sum;
};

void samples_create(struct samples *s, size_t limit);

static inline void samples_clear(struct samples *s) {
  s->count = 0;
  s->sum = 0;
}

static inline void samples_add(struct samples *s, uint64_t value) {
  s->values[s->count % s->limit] = value;
  s->count++;
  s->sum += (double)value;
}

void samples_sort(struct samples *s);

/* The value below which a fraction p of the sorted samples lies. */
double samples_at(const struct samples *s, double p);

/* --- Team -------------------------------------------------------------------------------------------- */

extern struct stop_flag {
  CACHE_ALIGNED atomic_int set;
} team_stop_flag;

static inline bool team_stopped(void) {
  return atomic_load_explicit(&team_stop_flag.set, memory_order_relaxed) != 0;
}

/* Starts the threads, each of which runs attach() once and body(index) once per round. */
void team_create(int size, void (*attach)(void), void (*body)(int index));

/* Lets the bodies go. */
void team_begin(void);

/* A body says that it is in its loop; the caller of team_await waits until all of them have said so. */
void team_running(void);
void team_await(void);

/* Raises the stop flag and waits until every body has returned. */
void team_end(void);

#endif
