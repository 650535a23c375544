/*
 * histogram.h: durations, kept so that any percentile can be told to within 1.6 %.
 *
 * For: latencies of the load generator. Not for: anything beyond 2^40 ns (18 minutes), which is counted as that.
 * Values below 64 ns are exact; above, each power of two has 64 equal buckets.
 */
#ifndef HALTER_BENCH_HISTOGRAM_H
#define HALTER_BENCH_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_SUB_BITS = 6, HISTOGRAM_SUB = 1 << HISTOGRAM_SUB_BITS, HISTOGRAM_POWERS = 40 - HISTOGRAM_SUB_BITS };

struct histogram {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t max_ns;
    uint32_t buckets[(HISTOGRAM_POWERS + 1) * HISTOGRAM_SUB];
};

static inline void histogram_add(struct histogram *h, uint64_t ns)
{
    uint64_t capped = ns < (uint64_t)1 << 40 ? ns : ((uint64_t)1 << 40) - 1;
    int power = capped < HISTOGRAM_SUB ? 0 : 63 - __builtin_clzll(capped) - HISTOGRAM_SUB_BITS;

    /* power 0 covers the values below 128 in steps of 1, hence two runs of buckets */
    h->buckets[(power > 0 ? power : 0) * HISTOGRAM_SUB + (int)(capped >> power)]++;
    h->count++;
    h->sum_ns += ns;
    if (ns > h->max_ns)
        h->max_ns = ns;
}

/* The upper end of the bucket in which the part-th (0 to 1) of all values lies; 0 when there is none. */
static inline uint64_t histogram_at(const struct histogram *h, double part)
{
    uint64_t wanted = (uint64_t)(part * (double)h->count);
    uint64_t seen = 0;

    for (int i = 0; i < (HISTOGRAM_POWERS + 1) * HISTOGRAM_SUB; i++) {
        seen += h->buckets[i];
        if (seen > wanted || (seen == h->count && seen > 0)) {
            int power = i < 2 * HISTOGRAM_SUB ? 0 : i / HISTOGRAM_SUB - 1;
            uint64_t low = (uint64_t)(i - power * HISTOGRAM_SUB) << power;
            uint64_t end = low + ((uint64_t)1 << power) - 1;

            return end < h->max_ns ? end : h->max_ns;
        }
    }
    return h->max_ns;
}

#endif
