/*===- RunClock.h - which runs are known to be short ----------------------===*
 *
 * A signal of the user can end a run that another thread makes, which costs
 * some 50 us: too much for a short one. A run is known to be short if one of as
 * many bytes of inputs was.
 *
 *===----------------------------------------------------------------------===*/

#ifndef SINTER_BINDINGS_PYTHON_RUNCLOCK_H
#define SINTER_BINDINGS_PYTHON_RUNCLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

typedef struct {
  /* Runs of fewer bytes are short. */
  _Atomic size_t bytes;
} run_clock;

static inline void clock_start(run_clock *clock) {
  atomic_init(&clock->bytes, 0);
}

/** In nanoseconds. */
static inline int64_t clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int clock_knows_short(run_clock *clock, size_t bytes) {
  return bytes < atomic_load_explicit(&clock->bytes, memory_order_relaxed);
}

/** A run of BYTES took NANOSECONDS. */
static inline void clock_tell(run_clock *clock, size_t bytes,
                              int64_t nanoseconds) {
  /* What a user feels. */
  const int is_short = nanoseconds < 50000000;
  if (is_short == clock_knows_short(clock, bytes))
    return;
  const size_t bound = is_short && bytes < SIZE_MAX ? bytes + 1 : bytes;
  atomic_store_explicit(&clock->bytes, bound, memory_order_relaxed);
}

#endif /* SINTER_BINDINGS_PYTHON_RUNCLOCK_H */
