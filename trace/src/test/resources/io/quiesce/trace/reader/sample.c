/* A program with LTTng-UST tracepoints of many types, for the test of the reader. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "sample.h"
#include <time.h>

int main(void) {
  const uint16_t numbers[] = {1, 2, 65535, 4, 5};
  for (int n = 0; n < 1000; n++) {
    lttng_ust_tracepoint(quiesce_sample, all, n, n % 3 ? "ab\"c\n" : "xyz", numbers, n % 6);
    if (n % 10 == 0) {
      lttng_ust_tracepoint(quiesce_sample, empty);
    }
    if (n % 400 == 0) {
      /* Longer than a compact header's time can tell. */
      struct timespec pause = {0, 150000000};
      nanosleep(&pause, 0);
    }
  }
  return 0;
}
