// SPDX-License-Identifier: Apache-2.0
/*
 * Tracepoints of LTTng-UST, compiled in. Runs within lttng.sh, which has the session daemon.
 *
 *   trace.event  measure=cpu threads=N event=two-ints|long-string mode=overwrite|discard pace=N burst=N pause=MS
 *   trace.sustained: the same, by default without pauses
 *   trace.event  measure=disabled threads=N event=two-ints|long-string pace=N
 *
 * A round is pace events in each thread for each of its milliseconds, in batches of 1,024. After each burst events
 * a thread sleeps, which is not timed; burst=0 is none.
 */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "harness.h"
#include "tracepoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define STRINGS 64

struct tracer {
  CACHE_ALIGNED uint64_t cpu, wall, sum;
};

static struct tracer *tracers;
static int threads, event;
static bool disabled, discard;
static long pace, burst, pause_ms;
static char strings[STRINGS][16];
static int64_t events; /* of a thread in the present round */

static uint64_t cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void attach(void) {
}

static inline uint64_t next(uint64_t sum, int64_t i) {
  return (sum << 5 | sum >> 59) ^ (uint64_t)i;
}

/* The fields depend on each other, so that the loop of a tracepoint that does nothing is still a loop. */
static uint64_t trace_two_ints(uint64_t sum, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) {
    sum = next(sum, i);
    lttng_ust_tracepoint(quiesce_bench, two_ints, (int32_t)i, (int32_t)sum);
  }
  return sum;
}

static uint64_t trace_long_string(uint64_t sum, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) {
    sum = next(sum, i);
    lttng_ust_tracepoint(quiesce_bench, long_string, (int64_t)sum, strings[i % STRINGS]);
  }
  return sum;
}

static void pause_between_bursts(void) {
  struct timespec rest = {.tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000};
  nanosleep(&rest, NULL);
}

static void trace(int index) {
  struct tracer *t = &tracers[index];
  int64_t step = burst > 0 ? burst : events;
  t->cpu = t->wall = 0;
  t->sum = 1;
  for (int64_t from = 0; from < events; from += step) {
    int64_t to = from + step < events ? from + step : events;
    if (from > 0)
      pause_between_bursts();
    uint64_t wall = now_ns(), cpu = cpu_ns();
    t->sum = event == 0 ? trace_two_ints(t->sum, from, to) : trace_long_string(t->sum, from, to);
    t->cpu += cpu_ns() - cpu;
    t->wall += now_ns() - wall;
  }
}

/* One line of the script's output, or nothing. */
static long script(const char *verb) {
  char command[4096], line[64] = "";
  const char *path = getenv("QUIESCE_LTTNG");
  int length = snprintf(command, sizeof command, "exec sh '%s' %s ust:quiesce_bench:%s %s", path, verb,
                        event == 0 ? "two_ints" : "long_string", discard ? "discard" : "overwrite");
  if (length >= (int)sizeof command)
    broken("The path %s is too long.", path);
  FILE *output = popen(command, "r");
  if (output == NULL)
    broken("Cannot start %s.", path);
  if (fgets(line, sizeof line, output) == NULL)
    line[0] = '\0';
  int status = pclose(output);
  if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    exit(1); /* it has said why */
  return atol(line);
}

static void round_of(long millis) {
  double cpu = 0, wall = 0;

  events = (pace * millis + BATCH - 1) / BATCH * BATCH;
  if (!disabled)
    script("begin");
  team_begin();
  team_end();
  for (int i = 0; i < threads; i++) {
    cpu += (double)tracers[i].cpu;
    wall += (double)tracers[i].wall;
  }
  double all = (double)events * threads;
  if (disabled) {
    result("ns=%.5f wall=%.5f events=%.0f", cpu / all, wall / all, all);
    return;
  }
  double kept = (double)script("end");
  if (kept < 1 || (discard && kept > all)) /* buffers that are overwritten outlive rounds */
    broken("Of %.0f events a reader gets back %.0f.", all, kept);
  if (discard)
    result("ns=%.4f wall=%.4f events=%.0f kept=%.0f lost=%.0f", cpu / kept, wall / kept, all, kept, all - kept);
  else
    result("ns=%.4f wall=%.4f events=%.0f kept=%.0f", cpu / all, wall / all, all, kept);
}

int main(int argc, char **argv) {
  arguments(argc, argv, "trace.event|trace.sustained");
  threads = (int)argument_number("threads", 1, 1, 1024);
  disabled = argument_choice("measure", "cpu|disabled") == 1;
  event = argument_choice("event", "two-ints|long-string");
  discard = argument_choice("mode", "overwrite|discard") == 1;
  pace = argument_number("pace", 8000, 1, 1000000);
  burst = argument_number("burst", 0, 0, 1 << 30) / BATCH * BATCH;
  pause_ms = argument_number("pause", 50, 0, 10000);
  arguments_end();
  if (getenv("QUIESCE_LTTNG") == NULL)
    unavailable("Start it with bench/native/lttng.sh run, which has a session daemon for it.");
  tracers = aligned_alloc(CACHE_LINE, sizeof *tracers * (size_t)threads);
  if (tracers == NULL)
    broken("No memory for %d threads.", threads);
  for (int i = 0; i < STRINGS; i++)
    snprintf(strings[i], sizeof strings[i], "bench%d", 1000 + i);
  team_create(threads, attach, trace);
  serve(round_of);
}
