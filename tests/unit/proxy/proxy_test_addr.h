/*
 * proxy_test_addr.h: an address from text, for the tests of this room.
 */
#ifndef HALTER_TESTS_PROXY_TEST_ADDR_H
#define HALTER_TESTS_PROXY_TEST_ADDR_H

#include <string.h>

#include "base/addr.h"

static inline struct addr address(const char *host, uint16_t port)
{
    struct addr addr = {.port = port};

    assert_true(addr_parse_host(&addr, host, strlen(host)));
    return addr;
}

#endif
