#include "http_site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

static const char *const addition_fields[HTTP_ADDITION_COUNT] = {
#define X(name, field) [HTTP_ADD_##name] = field,
    HTTP_ADDITIONS(X)
#undef X
};

/* The next word of a list parted by commas and blanks; NULL at its end. *list moves behind it. */
static const char *next_word(const char **list, size_t *length)
{
    static const char separators[] = ", \t";

    *list += strspn(*list, separators);
    *length = strcspn(*list, separators);
    const char *word = *list;
    *list += *length;
    return *length > 0 ? word : NULL;
}

static void parse_additions(struct filter_site *site, const char *list, const struct place *place, struct error *errors)
{
    const char *word;
    size_t length;

    if (list != NULL && strcmp(list, "none") == 0)
        return;
    while (list != NULL && (word = next_word(&list, &length)) != NULL) {
        int found = -1;

        for (int i = 0; i < HTTP_ADDITION_COUNT; i++)
            if (strlen(addition_fields[i]) == length && strncasecmp(addition_fields[i], word, length) == 0)
                found = i;
        if (found >= 0) {
            site->add |= 1u << found;
            if (!http_names_add(&site->strip, word, length))
                (void)error_add(errors, place, "http-add: \"%.*s\" cannot be removed from requests", (int)length, word);
            continue;
        }
        struct strbuf known = STRBUF_INIT;
        for (int i = 0; i < HTTP_ADDITION_COUNT; i++)
            strbuf_addf(&known, "%s%s", i > 0 ? ", " : "", addition_fields[i]);
        (void)error_add(errors, place, "http-add: nothing is known of \"%.*s\"; there are %s", (int)length, word,
                        known.data);
        strbuf_clear(&known);
    }
}

static bool parse_prefix(struct http_prefix *prefix, const char *word, size_t length)
{
    const char *slash = memchr(word, '/', length);
    size_t host_length = slash != NULL ? (size_t)(slash - word) : length;

    memset(prefix, 0, sizeof *prefix);
    if (!addr_parse_host(&prefix->addr, word, host_length))
        return false;
    unsigned most = (unsigned)addr_size(&prefix->addr) * 8;
    prefix->bits = most;
    if (slash == NULL)
        return true;
    size_t digits = length - host_length - 1;
    if (digits == 0 || digits > 3)
        return false;
    prefix->bits = 0;
    for (size_t i = 0; i < digits; i++) {
        char digit = slash[1 + i];

        if (digit < '0' || digit > '9')
            return false;
        prefix->bits = prefix->bits * 10 + (unsigned)(digit - '0');
    }
    return prefix->bits <= most;
}

/* ::ffff:192.0.2.0/120 is 192.0.2.0/24: clients that came by IPv4 are known as such (RFC 4291, section 2.5.5.2). */
static void unmap(struct http_prefix *prefix)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    if (prefix->addr.family != ADDR_IPV6 || prefix->bits < 96 || memcmp(prefix->addr.bytes, mapped, sizeof mapped) != 0)
        return;
    prefix->addr.family = ADDR_IPV4;
    memmove(prefix->addr.bytes, prefix->addr.bytes + sizeof mapped, 4);
    prefix->bits -= 96;
}

static void parse_trusted(struct filter_site *site, const char *list, const struct place *place, struct error *errors)
{
    const char *word;
    size_t length;

    while (list != NULL && (word = next_word(&list, &length)) != NULL) {
        struct http_prefix prefix;

        if (!parse_prefix(&prefix, word, length)) {
            (void)error_add(errors, place,
                            "http-trusted: \"%.*s\" is no address and no prefix; they look like 192.0.2.1, "
                            "192.0.2.0/24 or 2001:db8::/32",
                            (int)length, word);
            continue;
        }
        unmap(&prefix);
        site->trusted = mem_resize(site->trusted, site->trusted_count + 1, sizeof *site->trusted);
        site->trusted[site->trusted_count++] = prefix;
    }
}

static struct filter_site *new_redirect_site(const struct config *config)
{
    struct filter_site *site = mem_new(1, sizeof *site);
    const char *port = config->frontends[0].port;

    site->is_redirect = true;
    site->head_max_bytes = config->http.max_head_bytes;
    http_names_init(&site->strip);
    bool is_number = strspn(port, "0123456789") == strlen(port) && strlen(port) <= 5;

    if (is_number && strcmp(port, "443") != 0 && strcmp(port, "0") != 0)
        snprintf(site->https_port, sizeof site->https_port, ":%s", port);
    return site;
}

struct filter_site *http_site_new(const struct config *config, size_t frontend, struct error *errors)
{
    if (frontend == config->frontend_count)
        return new_redirect_site(config);
    const struct conf_http *http = &config->frontends[frontend].http;
    const struct place *place = &config->frontends[frontend].place;
    struct filter_site *site = mem_new(1, sizeof *site);
    size_t faults_before = errors->error_count;

    site->head_max_bytes = http->max_head_bytes;
    site->fields_max = http->max_fields;
    site->plain_redirect = http->plain_redirect;
    http_names_init(&site->strip);
    int result = http_names_parse(&site->strip, HTTP_NAMES_STRIP_DEFAULT, place, errors);
    if (http->strip != NULL)
        result |= http_names_parse(&site->strip, http->strip, place, errors);
    parse_additions(site, http->add, place, errors);
    parse_trusted(site, http->trusted, place, errors);
    if (result == 0 && errors->error_count == faults_before)
        return site;
    http_site_free(site);
    return NULL;
}

void http_site_free(struct filter_site *site)
{
    if (site == NULL)
        return;
    http_names_clear(&site->strip);
    free(site->trusted);
    free(site);
}

static bool is_within(const struct http_prefix *prefix, const struct addr *addr)
{
    unsigned whole = prefix->bits / 8;
    unsigned rest = prefix->bits % 8;

    if (addr->family != prefix->addr.family || memcmp(addr->bytes, prefix->addr.bytes, whole) != 0)
        return false;
    return rest == 0 || ((addr->bytes[whole] ^ prefix->addr.bytes[whole]) >> (8 - rest)) == 0;
}

bool http_site_trusts(const struct filter_site *site, const struct addr *source)
{
    for (size_t i = 0; i < site->trusted_count; i++)
        if (is_within(&site->trusted[i], source))
            return true;
    return false;
}

static void add_line(struct strbuf *lines, enum http_addition addition, const char *value)
{
    strbuf_addf(lines, "%s: %s\r\n", addition_fields[addition], value);
}

/* A PEM text in one line: its line ends as %0A, and all that a URI would not have as it is, likewise. */
static void add_escaped(struct strbuf *lines, enum http_addition addition, const char *value)
{
    strbuf_addf(lines, "%s: ", addition_fields[addition]);
    for (; *value != '\0'; value++) {
        unsigned char byte = (unsigned char)*value;

        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-')
            strbuf_add(lines, value, 1);
        else
            strbuf_addf(lines, "%%%02X", byte);
    }
    strbuf_adds(lines, "\r\n");
}

/* What a client has said must not end the line that it is quoted in. */
static void add_quoted(struct strbuf *lines, enum http_addition addition, const char *value)
{
    strbuf_addf(lines, "%s: ", addition_fields[addition]);
    for (; *value != '\0'; value++)
        strbuf_addf(lines, "%c", *value >= ' ' && *value < 0x7f ? *value : '?');
    strbuf_adds(lines, "\r\n");
}

void http_site_render(const struct filter_site *site, const struct filter_client *client, struct strbuf *lines)
{
    bool has_tls = client->facts.version != NULL;
    const char *scheme = has_tls ? "https" : "http";
    char host[ADDR_TEXT_MAX];

    addr_host_text(&client->source, host);
    for (unsigned i = 0; i < HTTP_ADDITION_COUNT; i++) {
        if ((site->add & 1u << i) == 0)
            continue;
        switch ((enum http_addition)i) {
        case HTTP_ADD_FORWARDED_FOR:
            if (!http_site_trusts(site, &client->source)) /* else it is added to what the request has */
                add_line(lines, HTTP_ADD_FORWARDED_FOR, host);
            break;
        case HTTP_ADD_FORWARDED_PROTO:
            add_line(lines, HTTP_ADD_FORWARDED_PROTO, scheme);
            break;
        case HTTP_ADD_FORWARDED_PORT:
            strbuf_addf(lines, "%s: %u\r\n", addition_fields[i], (unsigned)client->destination.port);
            break;
        case HTTP_ADD_REAL_IP:
            add_line(lines, HTTP_ADD_REAL_IP, host);
            break;
        case HTTP_ADD_FORWARDED: /* RFC 7239, section 4: an IPv6 address is in brackets, and then in quotes */
            if (client->source.family == ADDR_IPV6)
                strbuf_addf(lines, "Forwarded: for=\"[%s]\";proto=%s\r\n", host, scheme);
            else
                strbuf_addf(lines, "Forwarded: for=%s;proto=%s\r\n", host, scheme);
            break;
        case HTTP_ADD_TLS_VERSION:
            if (has_tls)
                add_line(lines, HTTP_ADD_TLS_VERSION, client->facts.version);
            break;
        case HTTP_ADD_TLS_CIPHER:
            if (has_tls)
                add_line(lines, HTTP_ADD_TLS_CIPHER, client->facts.cipher);
            break;
        case HTTP_ADD_TLS_SNI:
            if (client->facts.sni != NULL)
                add_quoted(lines, HTTP_ADD_TLS_SNI, client->facts.sni);
            break;
        case HTTP_ADD_CLIENT_SUBJECT:
            if (client->cert.subject != NULL)
                add_quoted(lines, HTTP_ADD_CLIENT_SUBJECT, client->cert.subject);
            break;
        case HTTP_ADD_CLIENT_SERIAL:
            if (client->cert.serial != NULL)
                add_quoted(lines, HTTP_ADD_CLIENT_SERIAL, client->cert.serial);
            break;
        case HTTP_ADD_CLIENT_FINGERPRINT:
            if (client->cert.fingerprint != NULL)
                add_line(lines, HTTP_ADD_CLIENT_FINGERPRINT, client->cert.fingerprint);
            break;
        case HTTP_ADD_CLIENT_CERT:
            if (client->cert.pem != NULL)
                add_escaped(lines, HTTP_ADD_CLIENT_CERT, client->cert.pem);
            break;
        case HTTP_ADD_FORWARDED_HOST: /* depends on the request */
        case HTTP_ADDITION_COUNT:
            break;
        }
    }
}
