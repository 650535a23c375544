#include "http_host.h"

#include <string.h>

#include "http_bytes.h"

enum { PORT_DIGITS_MAX = 5, PORT_MAX = 65535 };

static bool is_port(const uint8_t *digits, size_t length)
{
    unsigned port = 0;

    if (length > PORT_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        port = port * 10 + digits[i] - (unsigned)'0';
    }
    return port <= PORT_MAX;
}

/* "[...]" at the beginning; its length, 0 if it is not valid. */
static size_t literal_length(const uint8_t *bytes, size_t length)
{
    size_t i = 1;

    while (i < length && (http_byte_is(bytes[i], BYTE_HEX) || bytes[i] == ':' || bytes[i] == '.'))
        i++;
    return i > 2 && i < length && bytes[i] == ']' ? i + 1 : 0;
}

bool http_host_parse(struct http_host *host, const uint8_t *bytes, size_t length)
{
    size_t name = 0;

    if (length > 0 && bytes[0] == '[')
        name = literal_length(bytes, length);
    else
        while (name < length && http_byte_is(bytes[name], BYTE_HOST))
            name++;
    if (name == 0 || name > HTTP_HOST_MAX || (name < length && bytes[name] != ':'))
        return false;
    host->name = bytes;
    host->name_length = name;
    host->port = name < length ? bytes + name + 1 : NULL;
    host->port_length = name < length ? length - name - 1 : 0;
    return host->port == NULL || is_port(host->port, host->port_length);
}

bool http_host_is(const struct http_host *host, const char *name)
{
    size_t length = host->name_length;

    if (length > 1 && host->name[length - 1] == '.')
        length--;
    return http_bytes_are(host->name, length, name, strlen(name));
}
