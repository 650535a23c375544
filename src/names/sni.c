#include "names/sni.h"

#include <string.h>

/* The normal form of one byte of a label; '\0' when it may not stand there. */
static char normal_byte(char byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return (char)(byte - 'A' + 'a');
    if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '_')
        return byte;
    return '\0';
}

bool name_normalise(char *out, size_t out_size, const char *in, size_t length)
{
    size_t label_length = 0;

    if (length > 0 && in[length - 1] == '.')
        length--;
    if (length == 0 || length > NAME_LENGTH_MAX || length >= out_size)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (in[i] == '.') {
            if (label_length == 0)
                return false;
            label_length = 0;
            out[i] = '.';
            continue;
        }
        out[i] = normal_byte(in[i]);
        if (out[i] == '\0' || ++label_length > NAME_LABEL_MAX)
            return false;
    }
    out[length] = '\0';
    return label_length > 0;
}

bool name_pattern_normalise(char *out, size_t out_size, const char *in, size_t length)
{
    if (length < 2 || in[0] != '*' || in[1] != '.')
        return name_normalise(out, out_size, in, length);
    if (out_size < 2 || !name_normalise(out + 2, out_size - 2, in + 2, length - 2))
        return false;
    if (strlen(out + 2) + 2 > NAME_LENGTH_MAX)
        return false;
    out[0] = '*';
    out[1] = '.';
    return true;
}
