/* Tracepoints with fields of many types. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER quiesce_sample
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./sample.h"
#if !defined(SAMPLE_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SAMPLE_H
#include <lttng/tracepoint.h>
#include <stdint.h>
LTTNG_UST_TRACEPOINT_ENUM(quiesce_sample, colour, LTTNG_UST_TP_ENUM_VALUES(
 lttng_ust_field_enum_value("red", -1)
 lttng_ust_field_enum_range("green", 1, 5)
 lttng_ust_field_enum_auto("blue")))
LTTNG_UST_TRACEPOINT_EVENT(quiesce_sample, all,
 LTTNG_UST_TP_ARGS(int, n, const char *, text, const uint16_t *, numbers, size_t, length),
 LTTNG_UST_TP_FIELDS(
  lttng_ust_field_integer(int8_t, i8, n)
  lttng_ust_field_integer(uint64_t, u64, ~(uint64_t) n)
  lttng_ust_field_integer_hex(int, hex, n)
  lttng_ust_field_integer_network(uint32_t, net, n)
  lttng_ust_field_float(float, f, n / 8.0)
  lttng_ust_field_float(double, d, n / 4.0)
  lttng_ust_field_string(s, text)
  lttng_ust_field_array(uint16_t, fixed, numbers, 2)
  lttng_ust_field_sequence(uint16_t, some, numbers, size_t, length)
  lttng_ust_field_array_text(char, fixedtext, text, 3)
  lttng_ust_field_sequence_text(char, sometext, text, size_t, 2)
  lttng_ust_field_enum(quiesce_sample, colour, int, colour, n % 8 - 1)
 ))
LTTNG_UST_TRACEPOINT_EVENT(quiesce_sample, empty, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_LOGLEVEL(quiesce_sample, empty, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)
#endif
#include <lttng/tracepoint-event.h>
