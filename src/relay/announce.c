#include "announce.h"

#include <string.h>

#include "os/sock.h"
#include "proxy/proxy_ip.h"
#include "proxy/proxy_v1.h"
#include "proxy/proxy_v2.h"

static void find_addresses(const struct relay *relay, struct addr *source, struct addr *destination)
{
    struct endpoint local;

    endpoint_to_addr(&relay->peer, source);
    sock_local(relay->client.fd, &local);
    memset(destination, 0, sizeof *destination);
    if (local.length > 0)
        endpoint_to_addr(&local, destination);
}

static uint8_t client_bits(const struct tls_facts *facts)
{
    unsigned bits = PROXY_CLIENT_SSL;

    if (facts->client_cert)
        bits |= facts->resumed ? PROXY_CLIENT_CERT_SESS : PROXY_CLIENT_CERT_CONN | PROXY_CLIENT_CERT_SESS;
    return (uint8_t)bits;
}

static size_t write_v2(const struct relay *relay, uint8_t *buffer, size_t size, const struct addr *source,
                       const struct addr *destination)
{
    const struct config *config = relay->env->config;
    struct tls_facts facts;

    struct tls_client_cert cert = {NULL, NULL, NULL, NULL};

    tls_conn_facts(relay->client.tls, &facts);
    if (config->proxy_client_cert && facts.client_cert)
        tls_conn_client_cert(relay->client.tls, &cert);
    struct proxy_v2_info info = {
        .source = *source,
        .destination = *destination,
        .alpn = facts.alpn,
        .alpn_length = facts.alpn_length,
        .authority = config->proxy_authority ? facts.sni : NULL,
        .client_cert_pem = cert.pem,
        .client_cert_pem_length = cert.pem != NULL ? strlen(cert.pem) : 0,
        .has_ssl = config->proxy_tlv,
        .ssl_client = client_bits(&facts),
        .ssl_verify = facts.client_cert ? facts.verify_result : PROXY_V2_VERIFY_NO_CERT,
        .ssl_version = facts.version,
        .ssl_cipher = facts.cipher,
        .ssl_group = config->proxy_group && facts.group[0] != '\0' ? facts.group : NULL,
    };
    size_t length = proxy_v2_write(buffer, size, &info);
    tls_client_cert_clear(&cert);
    return length;
}

size_t announce_write(const struct relay *relay, uint8_t *buffer, size_t size)
{
    struct addr source;
    struct addr destination;

    switch (relay->env->config->announce) {
    case ANNOUNCE_NOTHING:
    case ANNOUNCE_PROXY_PROXY: /* refused by config_finish() until it is supported */
        return 0;
    case ANNOUNCE_IP:
        endpoint_to_addr(&relay->peer, &source);
        return proxy_ip_write(buffer, size, &source);
    case ANNOUNCE_PROXY_V1:
        find_addresses(relay, &source, &destination);
        return proxy_v1_write(buffer, size, &source, &destination);
    case ANNOUNCE_PROXY_V2:
        find_addresses(relay, &source, &destination);
        return write_v2(relay, buffer, size, &source, &destination);
    }
    return 0;
}
