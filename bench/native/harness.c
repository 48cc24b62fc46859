// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- Endings ----------------------------------------------------------------------------------------- */

/*
 * _exit, not exit: threads of the team are still registered with the library under test, and its
 * destructors need not cope with that.
 */
static _Noreturn void end(int status) {
  fflush(stdout);
  fflush(stderr);
  _exit(status);
}

static void sentence(FILE *to, const char *prefix, const char *format, va_list rest) {
  fputs(prefix, to);
  vfprintf(to, format, rest);
  fputc('\n', to);
}

void bad_usage(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  sentence(stderr, "", format, rest);
  va_end(rest);
  end(2);
}

void broken(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  sentence(stderr, "", format, rest);
  va_end(rest);
  end(1);
}

void unavailable(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  sentence(stdout, "unavailable ", format, rest);
  va_end(rest);
  end(0);
}

/* --- Arguments --------------------------------------------------------------------------------------- */

static int argument_count;
static char **argument_list;
static unsigned long arguments_used; /* one bit for each */

static int position(const char *word, const char *allowed) {
  size_t length = strlen(word);
  int index = 0;
  for (const char *from = allowed;; index++) {
    size_t part = strcspn(from, "|");
    if (part == length && memcmp(from, word, part) == 0)
      return index;
    if (from[part] == '\0')
      return -1;
    from += part + 1;
  }
}

int arguments(int argc, char **argv, const char *allowed) {
  if (argc < 2)
    bad_usage("Give an experiment (%s), then key=value pairs.", allowed);
  int experiment = position(argv[1], allowed);
  if (experiment < 0)
    bad_usage("Unknown experiment '%s': this program runs %s.", argv[1], allowed);
  argument_count = argc - 2;
  argument_list = argv + 2;
  if (argument_count > (int)(8 * sizeof arguments_used))
    bad_usage("Too many arguments.");
  return experiment;
}

static const char *value_of(const char *key) {
  size_t length = strlen(key);
  const char *value = NULL;
  for (int i = 0; i < argument_count; i++) {
    const char *a = argument_list[i];
    if (strncmp(a, key, length) != 0 || a[length] != '=')
      continue;
    if (value != NULL)
      bad_usage("'%s' is given twice.", key);
    value = a + length + 1;
    arguments_used |= 1ul << i;
  }
  return value;
}

int argument_choice(const char *key, const char *allowed) {
  const char *value = value_of(key);
  if (value == NULL)
    return 0;
  int index = position(value, allowed);
  if (index < 0)
    bad_usage("'%s' cannot be '%s': choose from %s.", key, value, allowed);
  return index;
}

static bool parse_number(const char *text, long *number) {
  char *rest;
  errno = 0;
  *number = strtol(text, &rest, 10);
  return errno == 0 && rest != text && *rest == '\0';
}

long argument_number(const char *key, long fallback, long low, long high) {
  const char *value = value_of(key);
  if (value == NULL)
    return fallback;
  long number;
  if (!parse_number(value, &number) || number < low || number > high)
    bad_usage("'%s' must be a whole number from %ld to %ld, not '%s'.", key, low, high, value);
  return number;
}

void arguments_end(void) {
  for (int i = 0; i < argument_count; i++)
    if ((arguments_used >> i & 1) == 0)
      bad_usage("'%s' means nothing to this experiment.", argument_list[i]);
}

/* --- Protocol ---------------------------------------------------------------------------------------- */

void serve(void (*round)(long millis)) {
  char *line = NULL;
  size_t size = 0;
  ssize_t length;

  puts("ready");
  fflush(stdout);
  while ((length = getline(&line, &size, stdin)) > 0) {
    if (line[length - 1] == '\n')
      line[--length] = '\0';
    if (strcmp(line, "quit") == 0)
      break;
    long millis;
    if (strncmp(line, "round ", 6) != 0 || !parse_number(line + 6, &millis) || millis < 1 || millis > 3600000)
      bad_usage("Expected 'round MILLIS' or 'quit' on standard input, not '%s'.", line);
    round(millis);
  }
  end(0);
}

void result(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  sentence(stdout, "result ", format, rest);
  va_end(rest);
  fflush(stdout);
}

/* --- Time -------------------------------------------------------------------------------------------- */

void sleep_until(uint64_t ns) {
  struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
  }
}

void settle(void) {
  static uint32_t state = 2463534242u;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  sleep_until(now_ns() + 30000000u + state % 10000000u);
}

/* --- Samples ----------------------------------------------------------------------------------------- */

void samples_create(struct samples *s, size_t limit) {
  s->values = malloc(limit * sizeof *s->values);
  if (s->values == NULL)
    broken("No memory for %zu samples.", limit);
  memset(s->values, 0xff, limit * sizeof *s->values); /* no page faults inside a round */
  s->limit = limit;
  samples_clear(s);
}

static size_t samples_kept(const struct samples *s) {
  return s->count < s->limit ? s->count : s->limit;
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void samples_sort(struct samples *s) {
  qsort(s->values, samples_kept(s), sizeof *s->values, ascending);
}

double samples_at(const struct samples *s, double p) {
  size_t kept = samples_kept(s);
  return kept == 0 ? 0 : (double)s->values[(size_t)((double)(kept - 1) * p)];
}

/* --- Team -------------------------------------------------------------------------------------------- */

struct stop_flag team_stop_flag;

static struct {
  int size;
  void (*attach)(void);
  void (*body)(int);
  pthread_barrier_t start, finish; /* the members and the caller */
  atomic_int running;
} team;

static void *member(void *index) {
  team.attach();
  for (;;) {
    pthread_barrier_wait(&team.start);
    team.body((int)(intptr_t)index);
    pthread_barrier_wait(&team.finish);
  }
  return NULL;
}

void team_create(int size, void (*attach)(void), void (*body)(int index)) {
  team.size = size;
  team.attach = attach;
  team.body = body;
  if (size == 0)
    return;
  pthread_barrier_init(&team.start, NULL, (unsigned)size + 1);
  pthread_barrier_init(&team.finish, NULL, (unsigned)size + 1);
  for (int i = 0; i < size; i++) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, member, (void *)(intptr_t)i);
    if (error != 0)
      broken("Cannot start thread %d of %d: %s.", i + 1, size, strerror(error));
  }
}

void team_begin(void) {
  if (team.size == 0)
    return;
  atomic_store(&team.running, 0);
  atomic_store(&team_stop_flag.set, 0);
  pthread_barrier_wait(&team.start);
}

void team_running(void) {
  atomic_fetch_add(&team.running, 1);
}

void team_await(void) {
  while (atomic_load(&team.running) < team.size)
    sched_yield();
}

void team_end(void) {
  if (team.size == 0)
    return;
  atomic_store(&team_stop_flag.set, 1);
  pthread_barrier_wait(&team.finish);
}
