/*
 * check.h: CHECK(cond), for our own bugs only.
 *
 * Always compiled in. A false condition reports and aborts this process; the master replaces a worker that died so.
 * Not for: anything that a client, a backend, the kernel or the operator can cause. No work inside CHECK.
 */
#ifndef HALTER_BASE_CHECK_H
#define HALTER_BASE_CHECK_H

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (__builtin_expect(!(condition), 0))                                                                         \
            check_failed(__FILE__, __LINE__, #condition);                                                              \
    } while (0)

/* Reports and aborts. The default reporter writes one line to standard error. */
void check_failed(const char *file, int line, const char *condition) __attribute__((noreturn, cold));

/* Called with one line of text, without newline, before the abort; must not return to the failed code by longjmp. */
typedef void check_reporter(const char *line);

void check_set_reporter(check_reporter *reporter);

#endif
