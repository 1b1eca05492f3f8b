/* The peer of the queue benchmarks: an indexed 4-ary heap of n clocks, in C.
 *
 *     gcc -O3 -march=native -o heap heap.c -lm
 *     heap CASE N
 *
 * Then for each number of events on a line of standard input, it fires that many and answers
 * with one line: events counted in the rows, CPU seconds of the event loop alone, simulated
 * time, clocks in the queue. Times are compared alone: clocks of equal times ring in any order.
 * Random numbers are xoshiro256++ (Blackman and Vigna 2021, doi:10.1145/3460772); log and exp
 * are libm's. Tables are in large pages where the system has them, as Tocsin's are.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ARITY = 4, ACTIVE = 1000, FIRST = 10, NOWHERE = -1 };
static const size_t PAGE = (size_t)2 << 20;
static const double NINE_DECADES = 20.72326583694641; /* 9 ln 10 */

typedef struct {
    double time;
    int64_t clock;
} Node;

static Node *heap;
static int32_t *place; /* of each clock in the heap, or NOWHERE */
static int64_t n_queued;
static int32_t *n_fired;
static double *mean_wait;
static uint64_t state[4] = {1, 2, 3, 4};

static void *table(int64_t n, size_t size) {
    size_t bytes = ((size_t)n * size + PAGE - 1) / PAGE * PAGE;
    void *memory = aligned_alloc(PAGE, bytes);
    if (!memory) {
        fprintf(stderr, "heap: out of memory\n");
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memset(memory, 0, bytes);
}

/* Random numbers. */

static inline uint64_t rotated(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t bits(void) {
    uint64_t result = rotated(state[0] + state[3], 23) + state[0], t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotated(state[3], 45);
    return result;
}

static inline double uniform(void) { return (double)(bits() >> 11) * 0x1.0p-53; }
static inline double exponential(void) { return -log(1.0 - uniform()); }
static inline double log_uniform(void) { return exp(NINE_DECADES * (uniform() - 0.5)); }
static inline double coin(double heads, double tails) { return bits() >> 63 ? heads : tails; }

/* The heap. */

static inline void put(int64_t at, Node node) {
    heap[at] = node;
    place[node.clock] = (int32_t)at;
}

static inline void sift_up(int64_t at, Node node) {
    while (at > 0) {
        int64_t above = (at - 1) / ARITY;
        if (heap[above].time <= node.time) break;
        put(at, heap[above]);
        at = above;
    }
    put(at, node);
}

static inline void sift_down(int64_t at, Node node) {
    for (;;) {
        int64_t child = ARITY * at + 1, end = child + ARITY, best = child;
        if (child >= n_queued) break;
        if (end > n_queued) end = n_queued;
        for (int64_t other = child + 1; other < end; other++)
            if (heap[other].time < heap[best].time) best = other;
        if (heap[best].time >= node.time) break;
        put(at, heap[best]);
        at = best;
    }
    put(at, node);
}

static inline void sift(int64_t at, Node node) {
    if (at > 0 && heap[(at - 1) / ARITY].time > node.time)
        sift_up(at, node);
    else
        sift_down(at, node);
}

/* Set the pending time of a clock; INFINITY takes it out. */
static inline void set(int64_t clock, double time) {
    int64_t at = place[clock];
    Node node = {time, clock};
    if (time < INFINITY) {
        if (at == NOWHERE)
            sift_up(n_queued++, node);
        else
            sift(at, node);
    } else if (at != NOWHERE) {
        place[clock] = NOWHERE;
        n_queued--;
        if (at < n_queued) sift(at, heap[n_queued]);
    }
}

/* The cases: how each starts, and what an event does. */

enum Case { PHOLD, RATES, WAITS, BIMODAL_RATES, BIMODAL_WAITS, TIES, NEVER, GROWING, N_CASES };
static const char *const NAMES[N_CASES] = {"phold", "rates", "waits", "bimodal-rates",
                                           "bimodal-waits", "ties", "never", "growing"};

static inline double wait(enum Case which, int64_t clock) {
    switch (which) {
        case RATES:
        case BIMODAL_RATES: return mean_wait[clock] * exponential();
        case WAITS: return log_uniform();
        case BIMODAL_WAITS: return coin(1e-3, 1e3);
        case TIES: return 1.0;
        default: return exponential();
    }
}

static int64_t start(enum Case which, int64_t n) {
    int64_t n_active = which == NEVER ? ACTIVE : which == GROWING ? FIRST : n;
    for (int64_t i = 0; i < n; i++) {
        place[i] = NOWHERE;
        mean_wait[i] = which == RATES ? log_uniform() : i % 2 ? 1e6 : 1.0;
    }
    for (int64_t i = 0; i < n_active; i++) set(i, which == BIMODAL_WAITS ? 1e3 * uniform() : wait(which, i));
    return n_active;
}

/* Fire one event; inlined into one loop a case, as `which` is known there. */
static inline __attribute__((always_inline)) double fire(enum Case which, int64_t n, int64_t *n_rows) {
    int64_t clock = heap[0].clock;
    double now = heap[0].time;
    n_fired[clock]++;
    if (which == NEVER) {
        int64_t next = clock + ACTIVE;
        set(clock, INFINITY);
        set(next < n ? next : next - n, now + exponential());
        return now;
    }
    set(clock, now + wait(which, clock));
    if (which == GROWING && *n_rows < n) {
        int64_t born = (*n_rows)++;
        set(born, now + exponential());
    }
    return now;
}

static double cpu_seconds(void) {
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec;
}

static int64_t total_fired(int64_t n) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++) total += n_fired[i];
    return total;
}

#define LOOP(which) \
    case which: \
        for (int64_t k = 0; k < n_events; k++) now = fire(which, n, &n_rows); \
        break;

int main(int argc, char **argv) {
    int which = 0;
    int64_t n = argc == 3 ? strtoll(argv[2], NULL, 10) : 0, n_events;
    while (which < N_CASES && argc == 3 && strcmp(NAMES[which], argv[1]) != 0) which++;
    if (which == N_CASES || n < ACTIVE) {
        fprintf(stderr, "usage: heap CASE N, with N >= %d\n", ACTIVE);
        return 2;
    }
    heap = table(n, sizeof *heap);
    place = table(n, sizeof *place);
    n_fired = table(n, sizeof *n_fired);
    mean_wait = table(n, sizeof *mean_wait);
    int64_t n_rows = start(which, n);
    double now = 0.0;
    while (scanf("%" SCNd64, &n_events) == 1) {
        int64_t before = total_fired(n);
        double begun = cpu_seconds();
        switch (which) {
            LOOP(PHOLD)
            LOOP(RATES)
            LOOP(WAITS)
            LOOP(BIMODAL_RATES)
            LOOP(BIMODAL_WAITS)
            LOOP(TIES)
            LOOP(NEVER)
            LOOP(GROWING)
        }
        double spent = cpu_seconds() - begun;
        printf("%" PRId64 " %.9f %.17g %" PRId64 "\n", total_fired(n) - before, spent, now, n_queued);
        fflush(stdout);
    }
    return 0;
}
