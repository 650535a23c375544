#include "proxy/proxy_parse.h"

#include <string.h>

#include "proxy/proxy_v1.h"
#include "proxy/proxy_v2.h"
#include "proxy_wire.h"

/* Version 1, section 2.1 */

static const uint8_t v1_prefix[] = {'P', 'R', 'O', 'X', 'Y', ' '};

struct cursor {
    const char *next;
    size_t left;
};

/* The text up to the next blank, or to the end for the last field. False when it is empty or the blank is missing. */
static bool take_field(struct cursor *cursor, bool is_last, const char **field, size_t *length)
{
    const char *blank = memchr(cursor->next, ' ', cursor->left);

    if ((blank == NULL) != is_last)
        return false;
    *field = cursor->next;
    *length = is_last ? cursor->left : (size_t)(blank - cursor->next);
    if (*length == 0)
        return false;

    size_t taken = *length + (is_last ? 0 : 1);

    cursor->next += taken;
    cursor->left -= taken;
    return true;
}

static bool take_host(struct cursor *cursor, enum addr_family family, struct addr *addr)
{
    const char *field;
    size_t length;
    char canonical[ADDR_TEXT_MAX];

    if (!take_field(cursor, false, &field, &length))
        return false;
    if (!addr_parse_host(addr, field, length) || addr->family != family)
        return false;
    if (family != ADDR_IPV4)
        return memchr(field, '%', length) == NULL && field[0] != '[';
    /* no leading zeroes: an IPv4 address has but one spelling */
    addr_host_text(addr, canonical);
    return strlen(canonical) == length && memcmp(canonical, field, length) == 0;
}

static bool take_port(struct cursor *cursor, bool is_last, uint16_t *port)
{
    const char *field;
    size_t length;
    unsigned value = 0;

    if (!take_field(cursor, is_last, &field, &length))
        return false;
    if (length > 5 || (length > 1 && field[0] == '0'))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (field[i] < '0' || field[i] > '9')
            return false;
        value = value * 10 + (unsigned)(field[i] - '0');
    }
    if (value > UINT16_MAX)
        return false;
    *port = (uint16_t)value;
    return true;
}

static bool starts_with(const struct cursor *cursor, const char *word)
{
    return cursor->left >= strlen(word) && memcmp(cursor->next, word, strlen(word)) == 0;
}

/* line: what stands between "PROXY " and CRLF. */
static bool parse_v1_line(const char *line, size_t length, struct proxy_header *header)
{
    struct cursor cursor = {line, length};
    enum addr_family family;

    if (starts_with(&cursor, "UNKNOWN")) {
        header->is_local = true;
        return length == strlen("UNKNOWN") || line[strlen("UNKNOWN")] == ' ';
    }
    if (starts_with(&cursor, "TCP4 "))
        family = ADDR_IPV4;
    else if (starts_with(&cursor, "TCP6 "))
        family = ADDR_IPV6;
    else
        return false;
    cursor.next += strlen("TCPn ");
    cursor.left -= strlen("TCPn ");
    return take_host(&cursor, family, &header->source) && take_host(&cursor, family, &header->destination) &&
           take_port(&cursor, false, &header->source.port) && take_port(&cursor, true, &header->destination.port);
}

static enum proxy_parse_result parse_v1(const uint8_t *bytes, size_t length, struct proxy_header *header)
{
    size_t end = sizeof v1_prefix;
    size_t visible = length < PROXY_V1_MAX ? length : PROXY_V1_MAX;

    while (end < visible && bytes[end] != '\r' && bytes[end] != '\n')
        end++;
    if (end < visible && bytes[end] == '\n')
        return PROXY_MALFORMED;
    if (end + 1 >= visible)
        return visible == PROXY_V1_MAX ? PROXY_MALFORMED : PROXY_NEED_MORE;
    if (bytes[end + 1] != '\n')
        return PROXY_MALFORMED;

    header->version = 1;
    header->length = end + 2;
    if (!parse_v1_line((const char *)bytes + sizeof v1_prefix, end - sizeof v1_prefix, header))
        return PROXY_MALFORMED;
    return PROXY_DONE;
}

/* Version 2, section 2.2 */

static uint16_t read_u16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void read_addresses(const uint8_t *block, enum addr_family family, struct proxy_header *header)
{
    header->source.family = family;
    header->destination.family = family;

    size_t size = addr_size(&header->source);

    memcpy(header->source.bytes, block, size);
    memcpy(header->destination.bytes, block + size, size);
    header->source.port = read_u16(block + 2 * size);
    header->destination.port = read_u16(block + 2 * size + 2);
}

static bool tlvs_are_whole(struct proxy_tlv_iterator tlvs)
{
    struct proxy_tlv tlv;
    struct proxy_ssl ssl;

    while (proxy_tlv_next(&tlvs, &tlv))
        if (tlv.type == PROXY_TLV_SSL && !proxy_ssl_view(&tlv, &ssl))
            return false;
    return tlvs.left == 0;
}

/* The address block and the TLVs of the PROXY command. */
static bool parse_v2_block(const uint8_t *block, size_t length, uint8_t family_byte, struct proxy_header *header)
{
    unsigned family = family_byte >> 4;
    unsigned transport = family_byte & 0xf;
    size_t addresses_size;

    if (family > PROXY_WIRE_FAMILY_UNIX || transport > PROXY_WIRE_TRANSPORT_DGRAM)
        return false;
    if (family == PROXY_WIRE_FAMILY_UNSPEC || transport == PROXY_WIRE_TRANSPORT_UNSPEC) {
        header->is_local = true; /* where addresses end and TLVs begin is not known: all of it is skipped */
        return true;
    }
    if (family == PROXY_WIRE_FAMILY_INET)
        addresses_size = PROXY_WIRE_INET_SIZE;
    else if (family == PROXY_WIRE_FAMILY_INET6)
        addresses_size = PROXY_WIRE_INET6_SIZE;
    else
        addresses_size = PROXY_WIRE_UNIX_SIZE;
    if (length < addresses_size)
        return false;
    if (family_byte == PROXY_WIRE_TCP4)
        read_addresses(block, ADDR_IPV4, header);
    else if (family_byte == PROXY_WIRE_TCP6)
        read_addresses(block, ADDR_IPV6, header);
    header->tlvs = proxy_tlv_iterate(block + addresses_size, length - addresses_size);
    return tlvs_are_whole(header->tlvs);
}

/* The head, checked as far as it is there, so that a refusal does not wait for bytes that change nothing. */
static enum proxy_parse_result check_v2_head(const uint8_t *bytes, size_t length, size_t limit)
{
    if (length > PROXY_WIRE_COMMAND_AT) {
        uint8_t command = bytes[PROXY_WIRE_COMMAND_AT];

        if (command != (PROXY_WIRE_VERSION_2 | PROXY_WIRE_LOCAL) &&
            command != (PROXY_WIRE_VERSION_2 | PROXY_WIRE_PROXY))
            return PROXY_MALFORMED;
    }
    if (length < PROXY_V2_HEAD_SIZE)
        return PROXY_NEED_MORE;

    size_t total = PROXY_V2_HEAD_SIZE + (size_t)read_u16(bytes + PROXY_WIRE_LENGTH_AT);

    if (total > limit)
        return PROXY_MALFORMED;
    return length < total ? PROXY_NEED_MORE : PROXY_DONE;
}

static enum proxy_parse_result parse_v2(const uint8_t *bytes, size_t length, size_t limit, struct proxy_header *header)
{
    enum proxy_parse_result head = check_v2_head(bytes, length, limit);

    if (head != PROXY_DONE)
        return head;

    size_t block_length = read_u16(bytes + PROXY_WIRE_LENGTH_AT);

    header->version = 2;
    header->length = PROXY_V2_HEAD_SIZE + block_length;
    if (bytes[PROXY_WIRE_COMMAND_AT] == (PROXY_WIRE_VERSION_2 | PROXY_WIRE_LOCAL)) {
        header->is_local = true;
        return PROXY_DONE;
    }
    if (!parse_v2_block(bytes + PROXY_V2_HEAD_SIZE, block_length, bytes[PROXY_WIRE_FAMILY_AT], header))
        return PROXY_MALFORMED;
    return PROXY_DONE;
}

/* As many bytes as both have are equal. */
static bool prefix_matches(const uint8_t *bytes, size_t length, const uint8_t *prefix, size_t prefix_length)
{
    return memcmp(bytes, prefix, length < prefix_length ? length : prefix_length) == 0;
}

enum proxy_parse_result proxy_parse(const uint8_t *bytes, size_t length, size_t limit, struct proxy_header *header)
{
    memset(header, 0, sizeof *header);
    header->tlvs = proxy_tlv_iterate(bytes, 0);
    if (length == 0)
        return PROXY_NEED_MORE;
    if (prefix_matches(bytes, length, v1_prefix, sizeof v1_prefix))
        return length < sizeof v1_prefix ? PROXY_NEED_MORE : parse_v1(bytes, length, header);
    if (prefix_matches(bytes, length, proxy_v2_signature, PROXY_V2_SIGNATURE_SIZE))
        return length < PROXY_V2_SIGNATURE_SIZE ? PROXY_NEED_MORE : parse_v2(bytes, length, limit, header);
    return PROXY_NOT_PROXY;
}
