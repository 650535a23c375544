#include "master/listeners.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/resolve.h"

static const struct listen_options options = {.backlog = 8, .recv_bufsize = -1, .send_bufsize = -1};

static struct listen_wanted wanted_of(const char *host, uint16_t port, size_t frontend)
{
    struct listen_wanted wanted = {.frontend = frontend};

    assert_true(resolve_numeric(host, port, &wanted.endpoint));
    return wanted;
}

static struct listener listener_of(const char *host, uint16_t wanted_port, uint16_t bound_port)
{
    struct listener listener = {.fds = NULL};

    assert_true(resolve_numeric(host, wanted_port, &listener.wanted));
    assert_true(resolve_numeric(host, bound_port, &listener.bound));
    return listener;
}

static void test_match(void **state)
{
    (void)state;
    struct listener a = listener_of("127.0.0.1", 443, 443), b = listener_of("127.0.0.1", 0, 5001);
    struct listener c = listener_of("127.0.0.1", 0, 5002), d = listener_of("::1", 443, 443);
    struct listener *items[] = {&a, &b, &c, &d};
    struct listeners live = {.items = items, .count = 4};
    struct listen_wanted wanted[] = {
        wanted_of("::1", 443, 0),        /* the same */
        wanted_of("127.0.0.1", 0, 1),    /* any port: the first of those chosen before */
        wanted_of("127.0.0.1", 5002, 2), /* by number what had been any port */
        wanted_of("127.0.0.1", 8443, 3), /* new */
        wanted_of("127.0.0.2", 443, 4),  /* new */
        wanted_of("127.0.0.1", 5002, 5), /* each only once */
    };
    static const long expected[] = {3, 1, 2, LISTENER_NEW, LISTENER_NEW, LISTENER_NEW};
    long match[6];

    listeners_match(&live, wanted, 6, match);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(match[i], expected[i]);
}

static void test_match_nothing(void **state)
{
    (void)state;
    struct listeners live = {0};
    struct listen_wanted wanted = wanted_of("127.0.0.1", 1, 0);
    long match = 7;

    listeners_match(&live, &wanted, 1, &match);
    assert_int_equal(match, LISTENER_NEW);
    listeners_match(&live, NULL, 0, NULL);
}

static bool is_listening(int fd)
{
    int value = 0;
    socklen_t length = sizeof value;

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value != 0;
}

static struct listeners_plan build(const struct listeners *live, const struct listen_wanted *wanted, size_t count,
                                   unsigned slots)
{
    struct listeners_plan plan;
    struct error errors = ERROR_INIT;

    assert_int_equal(listeners_plan_build(&plan, live, wanted, count, slots, &errors), 0);
    assert_int_equal(listeners_plan_start(&plan, &options, &errors), 0);
    return plan;
}

/* All slots of a frontend with port 0 share the port that the kernel chose, in both families. */
static void test_port_zero(void **state)
{
    (void)state;
    struct listeners live = {0};
    struct listen_wanted wanted[] = {wanted_of("127.0.0.1", 0, 0), wanted_of("::1", 0, 0)};

    wanted[1].optional = true;
    struct listeners_plan plan = build(&live, wanted, 2, 3);
    uint16_t port = endpoint_port(&plan.bindings[0].listener->bound);
    assert_true(port > 0);
    for (size_t i = 0; i < plan.count; i++) {
        const struct listener *listener = plan.bindings[i].listener;

        assert_int_equal(endpoint_port(&listener->bound), port);
        assert_int_equal(listener->fd_count, listener->is_shared ? 1 : 3);
        for (size_t slot = 0; slot < listener->fd_count; slot++)
            assert_true(is_listening(listener->fds[slot]));
    }
    char text[ENDPOINT_TEXT_MAX];
    assert_true(strncmp(endpoint_text(&plan.bindings[0].listener->bound, text), "127.0.0.1:", 10) == 0);
    listeners_plan_abandon(&plan);
}

static size_t served(const struct listeners_plan *plan, unsigned workers, int *fds)
{
    size_t total = 0;

    for (unsigned i = 0; i < workers; i++) {
        size_t count;
        struct worker_listener *list = listeners_of_worker(plan, i, workers, &count);

        assert_true(count > 0);
        for (size_t k = 0; k < count; k++)
            fds[total++] = list[k].fd;
        free(list);
    }
    return total;
}

/* Reload with the same address: the sockets stay; more workers get more of them, fewer workers serve all of them. */
static void test_keep_grow_and_shrink(void **state)
{
    (void)state;
    struct listeners live = {0};
    struct listen_wanted wanted = wanted_of("127.0.0.1", 0, 0);
    int fds[16];

    struct listeners_plan first = build(&live, &wanted, 1, 2);
    listeners_plan_finish(&first, &live, &options);
    const struct listener *listener = live.items[0];
    if (listener->is_shared)
        skip();
    int old_fds[] = {listener->fds[0], listener->fds[1]};
    listeners_plan_clear(&first);

    struct listeners_plan grown = build(&live, &wanted, 1, 4);
    assert_ptr_equal(grown.bindings[0].listener, listener);
    assert_int_equal(listener->fd_count, 4);
    assert_int_equal(listener->fds[0], old_fds[0]);
    assert_int_equal(listener->fds[1], old_fds[1]);
    assert_int_equal(served(&grown, 4, fds), 4);
    listeners_plan_finish(&grown, &live, &options);
    assert_int_equal(live.retired_count, 0);
    listeners_plan_clear(&grown);

    struct listeners_plan shrunk = build(&live, &wanted, 1, 1);
    assert_int_equal(listener->fd_count, 4);
    assert_int_equal(served(&shrunk, 1, fds), 4);
    assert_int_equal(served(&shrunk, 3, fds), 4); /* three of four slots plus one taken over */
    listeners_plan_finish(&shrunk, &live, &options);
    listeners_plan_clear(&shrunk);

    listeners_retire(&live);
    listeners_close_retired(&live);
    assert_int_equal(fcntl(old_fds[0], F_GETFD), -1);
}

static void test_abandon_keeps_what_was_there(void **state)
{
    (void)state;
    struct listeners live = {0};
    struct listen_wanted wanted[] = {wanted_of("127.0.0.1", 0, 0), wanted_of("127.0.0.2", 0, 1)};

    struct listeners_plan first = build(&live, wanted, 1, 1);
    listeners_plan_finish(&first, &live, &options);
    listeners_plan_clear(&first);
    const struct listener *listener = live.items[0];
    int fd = listener->fds[0];

    struct listeners_plan second = build(&live, wanted, 2, 3);
    int new_fd = second.bindings[1].listener->fds[0];
    listeners_plan_abandon(&second);
    assert_int_equal(listener->fd_count, 1);
    assert_true(is_listening(fd));
    assert_int_equal(fcntl(new_fd, F_GETFD), -1);
    assert_int_equal(live.count, 1);

    listeners_retire(&live);
    listeners_close_retired(&live);
}

static int keepalive_of(int fd)
{
    int value = -1;
    socklen_t length = sizeof value;

    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &length), 0);
    return value != 0;
}

/* Sockets that stay get new options when the plan is carried out, and none when it is given up. */
static void test_options_of_kept_sockets(void **state)
{
    (void)state;
    struct listeners live = {0};
    struct listen_options with = options;
    struct listen_wanted wanted = wanted_of("127.0.0.1", 0, 0);
    struct error errors = ERROR_INIT;
    struct listeners_plan plan;

    with.keepalive_s = 50;
    struct listeners_plan first = build(&live, &wanted, 1, 1);
    listeners_plan_finish(&first, &live, &options);
    listeners_plan_clear(&first);
    int fd = live.items[0]->fds[0];

    for (int carry_out = 0; carry_out < 2; carry_out++) {
        assert_int_equal(listeners_plan_build(&plan, &live, &wanted, 1, 1, &errors), 0);
        assert_int_equal(listeners_plan_start(&plan, &with, &errors), 0);
        assert_int_equal(keepalive_of(fd), 0);
        if (carry_out == 0) {
            listeners_plan_abandon(&plan);
            assert_int_equal(keepalive_of(fd), 0);
        }
    }
    listeners_plan_finish(&plan, &live, &with);
    listeners_plan_clear(&plan);
    assert_int_equal(keepalive_of(fd), 1);

    struct listeners_plan last = build(&live, &wanted, 1, 1);
    listeners_plan_finish(&last, &live, &options);
    listeners_plan_clear(&last);
    assert_int_equal(keepalive_of(fd), 0);
    listeners_retire(&live);
    listeners_close_retired(&live);
}

static void test_drop(void **state)
{
    (void)state;
    struct listeners live = {0};
    struct listen_wanted wanted[] = {wanted_of("127.0.0.1", 0, 0), wanted_of("127.0.0.2", 0, 1)};

    struct listeners_plan first = build(&live, wanted, 2, 1);
    listeners_plan_finish(&first, &live, &options);
    listeners_plan_clear(&first);
    int kept = live.items[1]->fds[0], dropped = live.items[0]->fds[0];

    struct listeners_plan second = build(&live, &wanted[1], 1, 1);
    listeners_plan_finish(&second, &live, &options);
    listeners_plan_clear(&second);
    assert_int_equal(live.count, 1);
    assert_int_equal(live.retired_count, 1);
    assert_true(is_listening(dropped)); /* until it is closed: its queue may still be read */
    listeners_close_retired(&live);
    assert_int_equal(fcntl(dropped, F_GETFD), -1);
    assert_true(is_listening(kept));

    listeners_retire(&live);
    listeners_close_retired(&live);
}

/* A shared bind would succeed beside another listening program of the same user: the probe tells. */
static void test_address_in_use(void **state)
{
    (void)state;
    struct listeners live = {0}, other = {0};
    struct listen_wanted wanted = wanted_of("127.0.0.1", 0, 0);
    struct error errors = ERROR_INIT;
    struct listeners_plan plan;

    struct listeners_plan foreign = build(&other, &wanted, 1, 2);
    struct listen_wanted same = wanted_of("127.0.0.1", endpoint_port(&foreign.bindings[0].listener->bound), 0);
    assert_int_equal(listeners_plan_build(&plan, &live, &same, 1, 2, &errors), -1);
    assert_int_equal(errors.error_count, 1);
    assert_non_null(strstr(errors.faults[0].text, "ss -ltnp"));
    assert_int_equal(plan.count, 0);
    error_clear(&errors);
    listeners_plan_abandon(&foreign);
}

/* All faults of all frontends in one run, and nothing left open. */
static void test_all_faults(void **state)
{
    (void)state;
    struct listeners live = {0};
    struct error errors = ERROR_INIT;
    struct listeners_plan plan;
    struct listen_wanted wanted[] = {
        wanted_of("192.0.2.1", 1, 0),
        wanted_of("127.0.0.1", 0, 1),
        wanted_of("2001:db8::1", 1, 2),
    };

    assert_int_equal(listeners_plan_build(&plan, &live, wanted, 3, 2, &errors), -1);
    assert_int_equal(errors.error_count, 2);
    error_clear(&errors);
}

static void test_addresses_ipv4_first(void **state)
{
    (void)state;
    struct listeners live = {0};
    struct listen_wanted wanted[] = {wanted_of("::1", 0, 0), wanted_of("127.0.0.1", 0, 1)};
    size_t count;

    wanted[0].optional = true;
    struct error errors = ERROR_INIT;
    struct listeners_plan plan;
    if (listeners_plan_build(&plan, &live, wanted, 2, 1, &errors) < 0) {
        error_clear(&errors); /* no IPv6 here */
        skip();
    }
    struct endpoint *addresses = listeners_addresses(&plan, &count);
    assert_int_equal(count, 2);
    assert_int_equal(addresses[0].sa.any.sa_family, AF_INET);
    free(addresses);
    listeners_plan_abandon(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_match_nothing),
        cmocka_unit_test(test_port_zero),
        cmocka_unit_test(test_keep_grow_and_shrink),
        cmocka_unit_test(test_abandon_keeps_what_was_there),
        cmocka_unit_test(test_options_of_kept_sockets),
        cmocka_unit_test(test_drop),
        cmocka_unit_test(test_address_in_use),
        cmocka_unit_test(test_all_faults),
        cmocka_unit_test(test_addresses_ipv4_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
