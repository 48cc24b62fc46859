// SPDX-License-Identifier: Apache-2.0
/*
 * What a memory barrier on all threads of a process costs its caller, by the way it is brought about.
 *
 *   barrier.cost  strategy=private|rseq|rseq-cpu|global|mprotect|affinity|syscall siblings=N
 *
 *   private   membarrier, private expedited: an interrupt to each CPU that runs this process
 *   rseq      the same, and running restartable sequences start over
 *   rseq-cpu  the same on one CPU: that of the first sibling, or without siblings the next one
 *   global    membarrier, not expedited: waits for the scheduler to pass everywhere
 *   mprotect  make a page writable, touch it, make it read-only: the address translations of the other CPUs must
 *             go. The cost only: where the processor broadcasts that itself, nobody is interrupted
 *   affinity  the caller visits every CPU that it may use
 *   syscall   a system call that does nothing: the floor
 */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/membarrier.h>

/* Values of the kernel's interface; its headers name them since 5.10 only. */
enum { RSEQ_BARRIER = 1 << 7, RSEQ_REGISTER = 1 << 8, ONE_CPU = 1 << 0 };

#define STRATEGIES "private|rseq|rseq-cpu|global|mprotect|affinity|syscall"
enum strategy { PRIVATE, RSEQ, RSEQ_CPU, GLOBAL, MPROTECT, AFFINITY, SYSCALL };

static struct samples samples;
static long siblings;
static cpu_set_t allowed;
static int allowed_list[CPU_SETSIZE], allowed_count;

static struct {
  CACHE_ALIGNED atomic_int cpu; /* of the first sibling */
} target;

static long membarrier(int command, unsigned flags, int cpu) {
  return syscall(__NR_membarrier, command, flags, cpu);
}

static void must(const char *what, long returned) {
  if (returned < 0)
    broken("%s failed: %s.", what, strerror(errno));
}

/* --- The strategies ---------------------------------------------------------------------------------- */

static void use_private(void) {
  must("membarrier", membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
}

static void use_rseq(void) {
  must("membarrier", membarrier(RSEQ_BARRIER, 0, 0));
}

static int next_cpu(void) {
  int own = sched_getcpu();
  for (int i = 0; i < allowed_count; i++)
    if (allowed_list[i] > own)
      return allowed_list[i];
  return allowed_list[0];
}

static void use_rseq_cpu(void) {
  int cpu = atomic_load_explicit(&target.cpu, memory_order_relaxed);
  must("membarrier", membarrier(RSEQ_BARRIER, ONE_CPU, cpu));
}

static void use_global(void) {
  must("membarrier", membarrier(MEMBARRIER_CMD_GLOBAL, 0, 0));
}

static volatile char *page;
static size_t page_size;

static void use_mprotect(void) {
  must("mprotect", mprotect((void *)page, page_size, PROT_READ | PROT_WRITE));
  page[0] = 1;
  must("mprotect", mprotect((void *)page, page_size, PROT_READ));
}

static void use_affinity(void) {
  cpu_set_t one;
  for (int i = 0; i < allowed_count; i++) {
    CPU_ZERO(&one);
    CPU_SET(allowed_list[i], &one);
    must("sched_setaffinity", sched_setaffinity(0, sizeof one, &one));
  }
  must("sched_setaffinity", sched_setaffinity(0, sizeof allowed, &allowed));
}

static void use_syscall(void) {
  syscall(__NR_getppid);
}

static void (*const use[])(void) = {use_private, use_rseq, use_rseq_cpu, use_global, use_mprotect, use_affinity, use_syscall};
static enum strategy strategy;

/* --- Siblings and rounds ----------------------------------------------------------------------------- */

static void attach(void) {
}

static void spin(int index) {
  volatile uint64_t n = 0;
  bool running = false;
  do {
    for (int i = 0; i < BATCH; i++)
      n++;
    if (index == 0) {
      int cpu = sched_getcpu();
      if (atomic_load_explicit(&target.cpu, memory_order_relaxed) != cpu)
        atomic_store_explicit(&target.cpu, cpu, memory_order_relaxed);
    }
    if (!running)
      team_running();
    running = true;
  } while (!team_stopped());
}

static void measure_for(long millis) {
  samples_clear(&samples);
  team_begin();
  team_await();
  if (siblings == 0)
    atomic_store(&target.cpu, next_cpu());
  uint64_t until = after_ms(millis), from, to = now_ns();
  do {
    from = to;
    use[strategy]();
    to = now_ns();
    samples_add(&samples, to - from);
  } while (to < until);
  team_end();
}

static void cost_round(long millis) {
  measure_for(millis);
  samples_sort(&samples);
  result("ns=%.0f mean=%.1f p99=%.0f samples=%zu", samples_at(&samples, 0.5), samples.sum / (double)samples.count,
         samples_at(&samples, 0.99), samples.count);
}

/* Registers before there are siblings: with one running it would wait for the scheduler, for milliseconds. */
static void prepare(int command, int registration, const char *cure) {
  long supported = membarrier(MEMBARRIER_CMD_QUERY, 0, 0);
  if (supported < 0)
    unavailable("This kernel or its seccomp filter refuses membarrier (%s); use Linux 4.14 or newer and allow the call.",
                strerror(errno));
  if ((supported & command) == 0)
    unavailable("This kernel offers no such barrier; %s.", cure);
  if (registration != 0)
    must("membarrier registration", membarrier(registration, 0, 0));
}

int main(int argc, char **argv) {
  arguments(argc, argv, "barrier.cost");
  strategy = (enum strategy)argument_choice("strategy", STRATEGIES);
  siblings = argument_number("siblings", 0, 0, 4096);
  arguments_end();

  must("sched_getaffinity", sched_getaffinity(0, sizeof allowed, &allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed))
      allowed_list[allowed_count++] = cpu;

  switch (strategy) {
  case PRIVATE:
    prepare(MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, "use Linux 4.14 or newer");
    break;
  case RSEQ:
  case RSEQ_CPU:
    prepare(RSEQ_BARRIER, RSEQ_REGISTER, "use Linux 5.10 or newer, built with CONFIG_RSEQ");
    break;
  case GLOBAL:
    prepare(MEMBARRIER_CMD_GLOBAL, 0, "boot without nohz_full");
    break;
  case MPROTECT:
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    page = mmap(NULL, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
      broken("No page to protect: %s.", strerror(errno));
    break;
  case AFFINITY:
  case SYSCALL:
    break;
  }
  samples_create(&samples, 1 << 20);
  team_create((int)siblings, attach, spin);
  measure_for(50);
  serve(cost_round);
}
