#include "http_plain.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http_site.h"

enum { TARGET_MAX = 2048, HOST_MAX = 259 }; /* a name of 253 bytes, ':' and a port */

struct view {
    const char *text;
    size_t length;
};

static const char refusal[] = "HTTP/1.1 400 Bad Request\r\n"
                              "Content-Type: text/plain\r\n"
                              "Content-Length: 73\r\n"
                              "Connection: close\r\n"
                              "\r\n"
                              "This port speaks HTTPS, and got plain HTTP: use an address with https://\n";

static const char no_redirect[] = "HTTP/1.1 400 Bad Request\r\n"
                                  "Content-Type: text/plain\r\n"
                                  "Content-Length: 73\r\n"
                                  "Connection: close\r\n"
                                  "\r\n"
                                  "This port only sends to https, and that request does not say which page.\n";

static bool is_visible(const struct view *view)
{
    for (size_t i = 0; i < view->length; i++)
        if (view->text[i] <= ' ' || view->text[i] >= 0x7f)
            return false;
    return view->length > 0;
}

/* Only what cannot lead anywhere else than the host that was asked for. */
static bool is_host(const struct view *host)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]";

    for (size_t i = 0; i < host->length; i++)
        if (memchr(allowed, host->text[i], sizeof allowed - 1) == NULL)
            return false;
    return host->length > 0 && host->length <= HOST_MAX;
}

/* The line from *text on, without its CR LF; false when it is not complete. *text moves behind it. */
static bool next_line(const char **text, const char *end, struct view *line)
{
    const char *stop = memmem(*text, (size_t)(end - *text), "\r\n", 2);

    if (stop == NULL)
        return false;
    line->text = *text;
    line->length = (size_t)(stop - *text);
    *text = stop + 2;
    return true;
}

static bool find_target(const struct view *line, struct view *target)
{
    const char *space = memchr(line->text, ' ', line->length);

    if (space == NULL)
        return false;
    size_t left = line->length - (size_t)(space - line->text) - 1;
    const char *last = memchr(space + 1, ' ', left);
    target->text = space + 1;
    target->length = last != NULL ? (size_t)(last - space) - 1 : 0;
    return last != NULL && target->length <= TARGET_MAX && is_visible(target) && target->text[0] == '/' &&
           (target->length == 1 || target->text[1] != '/');
}

static bool find_host(const char *text, const char *end, struct view *host)
{
    struct view line;

    while (next_line(&text, end, &line) && line.length > 0) {
        if (line.length < 5 || strncasecmp(line.text, "Host:", 5) != 0)
            continue;
        host->text = line.text + 5;
        host->length = line.length - 5;
        while (host->length > 0 && *host->text == ' ') {
            host->text++;
            host->length--;
        }
        return is_host(host);
    }
    return false;
}

/* On the port of http-redirect the client has named that port, or none; it is to come to the one of https. */
static void drop_port(struct view *host)
{
    const char *colon = memrchr(host->text, ':', host->length);

    if (colon != NULL && memchr(colon, ']', host->length - (size_t)(colon - host->text)) == NULL)
        host->length = (size_t)(colon - host->text);
}

static size_t write_redirect(const struct filter_site *site, const uint8_t *bytes, size_t length, uint8_t *buffer,
                             size_t size)
{
    const char *text = (const char *)bytes;
    const char *end = text + length;
    struct view line;
    struct view target;
    struct view host;

    if (!next_line(&text, end, &line) || !find_target(&line, &target) || !find_host(text, end, &host))
        return 0;
    if (site->is_redirect)
        drop_port(&host);
    int written = snprintf((char *)buffer, size,
                           "HTTP/1.1 308 Permanent Redirect\r\n"
                           "Location: https://%.*s%s%.*s\r\n"
                           "Content-Length: 0\r\n"
                           "Connection: close\r\n"
                           "\r\n",
                           (int)host.length, host.text, site->https_port, (int)target.length, target.text);
    return written > 0 && (size_t)written < size ? (size_t)written : 0;
}

const uint8_t *http_plain_answer(const struct filter_site *site, const uint8_t *bytes, size_t length, uint8_t *buffer,
                                 size_t size, size_t *answer_length)
{
    bool redirects = site->plain_redirect || site->is_redirect;

    *answer_length = redirects ? write_redirect(site, bytes, length, buffer, size) : 0;
    if (*answer_length > 0)
        return buffer;
    *answer_length = site->is_redirect ? sizeof no_redirect - 1 : sizeof refusal - 1;
    return (const uint8_t *)(site->is_redirect ? no_redirect : refusal);
}
