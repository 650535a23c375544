#include "os/listen.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/resolve.h"

static int option_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;

    assert_int_equal(getsockopt(fd, level, name, &value, &length), 0);
    return value;
}

/* One endpoint is both what is wanted and what came of it, and the next slot is bound to that. */
static void bind_in_place(const char *host)
{
    struct endpoint endpoint, first;

    assert_true(resolve_numeric(host, 0, &endpoint));
    int family = endpoint.sa.any.sa_family;
    int a = listen_bind(&endpoint, true, &endpoint);
    if (a < 0 && family == AF_INET6)
        skip();
    assert_true(a >= 0);
    assert_int_equal(endpoint.sa.any.sa_family, family);
    assert_true(endpoint_port(&endpoint) > 0);
    first = endpoint;
    int b = listen_bind(&endpoint, true, &endpoint);
    assert_true(b >= 0);
    assert_true(endpoint_equal(&endpoint, &first));
    close(a);
    close(b);
}

static void test_bind_in_place(void **state)
{
    (void)state;
    if (!listen_can_share())
        skip();
    bind_in_place("127.0.0.1");
}

static void test_bind_in_place_ipv6(void **state)
{
    (void)state;
    if (!listen_can_share())
        skip();
    bind_in_place("::1");
}

static void test_failed_bind_leaves_the_endpoint(void **state)
{
    (void)state;
    struct endpoint endpoint, before;

    assert_true(resolve_numeric("192.0.2.1", 7, &endpoint));
    before = endpoint;
    assert_int_equal(listen_bind(&endpoint, false, &endpoint), -1);
    assert_true(endpoint_equal(&endpoint, &before));
}

/* As at a reload: options that are given again replace those before. */
static void test_options_of_a_listening_socket_change(void **state)
{
    (void)state;
    struct listen_options options = {.backlog = 8, .keepalive_s = 77, .recv_bufsize = 20000, .send_bufsize = -1};
    struct endpoint endpoint;

    assert_true(resolve_numeric("127.0.0.1", 0, &endpoint));
    int fd = listen_bind(&endpoint, false, &endpoint);
    assert_true(fd >= 0);
    assert_int_equal(listen_start(fd, &options), 0);
    assert_true(option_of(fd, SOL_SOCKET, SO_KEEPALIVE) != 0);
    assert_true(option_of(fd, SOL_SOCKET, SO_RCVBUF) >= 20000);
    assert_true(option_of(fd, IPPROTO_TCP, TCP_NODELAY) != 0);
#ifdef TCP_KEEPIDLE
    assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 77);
#endif
    options.keepalive_s = 0;
    assert_int_equal(listen_start(fd, &options), 0);
    assert_int_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
    options.keepalive_s = 5;
    assert_int_equal(listen_start(fd, &options), 0);
    assert_true(option_of(fd, SOL_SOCKET, SO_KEEPALIVE) != 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bind_in_place),
        cmocka_unit_test(test_bind_in_place_ipv6),
        cmocka_unit_test(test_failed_bind_leaves_the_endpoint),
        cmocka_unit_test(test_options_of_a_listening_socket_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
