#include "name_hash.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_round(struct sip *sip)
{
    sip->v0 += sip->v1;
    sip->v1 = rotate(sip->v1, 13) ^ sip->v0;
    sip->v0 = rotate(sip->v0, 32);
    sip->v2 += sip->v3;
    sip->v3 = rotate(sip->v3, 16) ^ sip->v2;
    sip->v0 += sip->v3;
    sip->v3 = rotate(sip->v3, 21) ^ sip->v0;
    sip->v2 += sip->v1;
    sip->v1 = rotate(sip->v1, 17) ^ sip->v2;
    sip->v2 = rotate(sip->v2, 32);
}

/* Up to eight bytes, little-endian on any machine. */
static uint64_t load(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;

    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void compress(struct sip *sip, uint64_t word)
{
    sip->v3 ^= word;
    sip_round(sip);
    sip->v0 ^= word;
}

uint64_t name_hash(const struct name_seed *seed, const char *bytes, size_t length)
{
    const unsigned char *next = (const unsigned char *)bytes;
    struct sip sip = {
        .v0 = seed->words[0] ^ UINT64_C(0x736f6d6570736575),
        .v1 = seed->words[1] ^ UINT64_C(0x646f72616e646f6d),
        .v2 = seed->words[0] ^ UINT64_C(0x6c7967656e657261),
        .v3 = seed->words[1] ^ UINT64_C(0x7465646279746573),
    };
    size_t left = length;

    for (; left >= 8; left -= 8, next += 8)
        compress(&sip, load(next, 8));
    compress(&sip, load(next, left) | (uint64_t)(length & 0xff) << 56);
    sip.v2 ^= 0xff;
    sip_round(&sip);
    sip_round(&sip);
    sip_round(&sip);
    return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}
