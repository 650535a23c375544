#include "hostport.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

const char *port_check(const char *text, bool may_be_zero)
{
    enum { PORT_MAX = 65535, SERVICE_LENGTH_MAX = 15 /* RFC 6335, section 5.1 */ };
    bool has_letter = false;
    unsigned number = 0;

    if (*text == '\0')
        return "the port is missing";
    for (const char *p = text; *p != '\0'; p++) {
        if (is_letter(*p))
            has_letter = true;
        else if (is_digit(*p) && number <= PORT_MAX)
            number = number * 10 + (unsigned)(*p - '0');
        else if (!is_digit(*p) && *p != '-')
            return "the port must be a number or the name of a service";
    }
    if (has_letter)
        return strlen(text) <= SERVICE_LENGTH_MAX ? NULL : "the port must be a number or the name of a service";
    if (strchr(text, '-') != NULL || number > PORT_MAX || (number == 0 && !may_be_zero))
        return may_be_zero ? "the port must be from 0 to 65535" : "the port must be from 1 to 65535";
    return NULL;
}

/* Finds the end of the host, and where the port begins. */
static const char *split(const char *text, const char **host, size_t *host_length, const char **port)
{
    const char *end;

    *host = text;
    if (*text == '[') {
        *host = text + 1;
        end = strchr(text, ']');
        if (end == NULL)
            return "']' is missing";
        *host_length = (size_t)(end - *host);
        if (end[1] != ':')
            return end[1] == '\0' ? "the port is missing" : "a ':' must follow the ']'";
        *port = end + 2;
        return NULL;
    }
    size_t plain = strcspn(text, "+");
    const char *comma = memchr(text, ',', plain);
    const char *colon = memchr(text, ':', plain);

    end = comma != NULL ? comma : colon;
    if (end == NULL)
        return "the port is missing";
    if (comma == NULL && memchr(colon + 1, ':', plain - (size_t)(colon + 1 - text)) != NULL)
        return "an IPv6 address must stand in brackets";
    *host_length = (size_t)(end - text);
    *port = end + 1;
    return NULL;
}

const char *host_check(const char *host, size_t length, unsigned flags)
{
    enum { HOST_LENGTH_MAX = 255 };

    if (length == 0)
        return (flags & HOSTPORT_WILDCARD) != 0 ? "the host is missing; '*' is for all addresses"
                                                : "the host is missing";
    if (length > HOST_LENGTH_MAX)
        return "the host is too long";
    for (size_t i = 0; i < length; i++) {
        if (strchr("[]+/\\ \t,", host[i]) != NULL || (host[i] == '*' && length > 1))
            return "the host has a character that no name or address has";
    }
    if (length == 1 && *host == '*' && (flags & HOSTPORT_WILDCARD) == 0)
        return "'*' is not an address to connect to";
    return NULL;
}

const char *hostport_parse(struct hostport *out, const char *text, unsigned flags)
{
    const char *host = NULL, *port = NULL, *plus = NULL, *problem;
    size_t host_length = 0;

    memset(out, 0, sizeof *out);
    problem = split(text, &host, &host_length, &port);
    if (problem != NULL)
        return problem;
    problem = host_check(host, host_length, flags);
    if (problem != NULL)
        return problem;
    if ((flags & HOSTPORT_CERT) != 0)
        plus = strchr(port, '+');
    out->port = plus == NULL ? mem_strdup(port) : mem_strndup(port, (size_t)(plus - port));
    problem = port_check(out->port, (flags & HOSTPORT_ZERO) != 0);
    if (problem == NULL && plus != NULL && plus[1] == '\0')
        problem = "the certificate is missing after the '+'";
    if (problem != NULL) {
        hostport_clear(out);
        return problem;
    }
    if (host_length != 1 || *host != '*')
        out->host = mem_strndup(host, host_length);
    if (plus != NULL)
        out->cert = mem_strdup(plus + 1);
    return NULL;
}

void hostport_clear(struct hostport *hostport)
{
    free(hostport->host);
    free(hostport->port);
    free(hostport->cert);
    memset(hostport, 0, sizeof *hostport);
}
