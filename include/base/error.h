/*
 * error.h: what the operator must be told.
 *
 * For: mistakes in the configuration and missing or faulty files. One struct error collects all of them, so that one
 * run shows every fault. Not for: network weather (enum io), nor our own bugs (CHECK).
 *
 *     struct error errors = ERROR_INIT;
 *     if (config_parse(&config, name, text, length, &errors) < 0)
 *         error_print_all(...);
 *     error_clear(&errors);
 *
 * Invariant: a function that returns -1 has added at least one fault and has changed nothing else.
 * Ownership: the texts belong to the struct error.
 */
#ifndef HALTER_BASE_ERROR_H
#define HALTER_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* Where in the operator's input something stands. line and col count from 1; 0 means unknown. */
struct place {
    const char *file; /* borrowed; "-" for standard input, "command line" for argv; NULL: nowhere in particular */
    unsigned line;
    unsigned col;
};

enum fault_kind {
    FAULT_ERROR,   /* the input cannot be used */
    FAULT_WARNING, /* it can be used, but probably not as meant */
};

struct fault {
    enum fault_kind kind;
    char *text; /* one line: "file:line:col: text", without "error:" and without a newline */
};

struct error {
    struct fault *faults;
    size_t count;
    size_t capacity;
    size_t error_count; /* how many of the faults are FAULT_ERROR */
};

#define ERROR_INIT {NULL, 0, 0, 0}

void error_init(struct error *error);
void error_clear(struct error *error);

/* Adds a fault. place may be NULL. Always returns -1, so that `return error_add(...)` reads well. */
int error_add(struct error *error, const struct place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a warning; never makes error_any() true. */
void error_warn(struct error *error, const struct place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* True when at least one FAULT_ERROR has been added. */
bool error_any(const struct error *error);

#endif
