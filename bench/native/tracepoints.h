// SPDX-License-Identifier: Apache-2.0
/* The events of lttng-ust: included several times by LTTng's headers. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER quiesce_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./tracepoints.h"

#if !defined(QUIESCE_BENCH_TRACEPOINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define QUIESCE_BENCH_TRACEPOINTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(quiesce_bench, two_ints, LTTNG_UST_TP_ARGS(int32_t, a, int32_t, b),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int32_t, a, a)
                                                   lttng_ust_field_integer(int32_t, b, b)))

LTTNG_UST_TRACEPOINT_EVENT(quiesce_bench, long_string, LTTNG_UST_TP_ARGS(int64_t, a, const char *, text),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int64_t, a, a)
                                                   lttng_ust_field_string(text, text)))

#endif

#include <lttng/tracepoint-event.h>
