/*
 * config.h: the effective configuration, as plain data.
 *
 * For: everything that the operator can say, after defaults and inheritance. Built by the master, immutable afterwards;
 * workers inherit it by fork. Not for: anything opened, loaded or resolved (no file of it has been read here).
 *
 * Ownership: every pointer belongs to the struct config; config_clear() frees all.
 * Syntax and meaning of the keywords: hitch.conf(5) of hitch 1.8, and halter.conf(5) for the new ones.
 *
 *     struct config config;
 *     config_init(&config);
 *     config_parse_text(&config, "hitch.conf", text, length, &errors);      conf/parse.h, for each --config
 *     config_cli_apply(&cli, &config, &errors);                             conf/cli.h
 *     config_finish(&config, &errors);
 *     if (error_any(&errors)) ...                                           all faults of all steps
 *     config_clear(&config);
 *
 * Invariant: before config_finish() frontends and certificates hold only what stands in their own blocks; after it,
 * every field has its effective value.
 */
#ifndef HALTER_CONF_CONFIG_H
#define HALTER_CONF_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum tls_version_bit {
    TLS_VERSION_1_0 = 1u << 0,
    TLS_VERSION_1_1 = 1u << 1,
    TLS_VERSION_1_2 = 1u << 2,
    TLS_VERSION_1_3 = 1u << 3,
};

enum client_verify {
    CLIENT_VERIFY_NONE,
    CLIENT_VERIFY_OPTIONAL,
    CLIENT_VERIFY_REQUIRED,
};

/* What is written to the backend before the client's bytes. At most one of them. */
enum announce {
    ANNOUNCE_NOTHING,
    ANNOUNCE_IP,          /* write-ip: family octet and raw address */
    ANNOUNCE_PROXY_V1,    /* write-proxy-v1 */
    ANNOUNCE_PROXY_V2,    /* write-proxy-v2, write-proxy */
    ANNOUNCE_PROXY_PROXY, /* proxy-proxy: pass the client's own PROXY header on */
};

enum { ANNOUNCE_COUNT = ANNOUNCE_PROXY_PROXY + 1 };

struct keyword; /* conf/keyword.h */

/* Which keywords the operator gave in one scope, and where. One without a mark has its default or is inherited. */
struct conf_mark {
    const struct keyword *keyword;
    struct place place; /* place.file is owned by the config */
};

struct conf_marks {
    struct conf_mark *items;
    size_t count;
};

/* The settings of one TLS server: global, or as a frontend has them after inheritance. */
struct conf_tls {
    unsigned versions;  /* set of enum tls_version_bit, never 0 */
    char *ciphers;      /* TLS <= 1.2, OpenSSL syntax; never NULL */
    char *ciphersuites; /* TLS 1.3; NULL: the library's default */
    char *ecdh_curve;   /* group list; NULL: halter's default */
    bool prefer_server_ciphers;
    enum client_verify client_verify;
    char *client_verify_ca; /* PEM bundle; NULL */
    bool sni_nomatch_abort;
};

/* HTTP mode, of binaries that have it: global, or as a frontend has it after inheritance. */
struct conf_http {
    bool on;
    char *add;               /* comma list of the fields that every request gets; NULL: none */
    char *strip;             /* comma list of further fields that clients may not send; NULL: none */
    char *trusted;           /* comma list of addresses and prefixes whose X-Forwarded-For is kept; NULL: none */
    unsigned max_head_bytes; /* request line and fields */
    unsigned max_fields;
    bool plain_redirect; /* plain HTTP on this port is answered with a redirect to https, not with a 400 */
};

struct conf_pem {
    struct place place;   /* where it was configured; place.file is owned by the config */
    char *cert;           /* path; NULL only when inline_pem is set */
    char *private_key;    /* path; NULL: the key is in cert */
    char *ocsp_resp_file; /* path; NULL */
    bool ocsp_verify_staple;
    enum client_verify client_verify; /* after inheritance from the frontend or the global setting */
    char *client_verify_ca;
    bool client_verify_is_own; /* client-verify stands in this pem-file block itself */
    char *inline_pem;          /* certificate and key as text in memory (halter demo); NULL */
    struct conf_marks marks;
};

struct conf_frontend {
    struct place place;
    char *host; /* NULL: all addresses ("*"); else a name or numeric address without brackets */
    char *port; /* decimal port or service text as given; "0": any free port */
    struct conf_tls tls;
    struct conf_http http;
    struct conf_pem *pems; /* own certificates, in order; the last is the default */
    size_t pem_count;
    bool match_global_certs; /* look in the global certificates too */
    struct conf_marks marks;
};

struct conf_backend {
    struct place place;
    char *host; /* name or numeric address; NULL when path is set */
    char *port;
    char *path; /* unix socket; NULL */
};

enum { WORKERS_AUTO = 0 };

struct config {
    /* listening, relaying */
    struct conf_frontend *frontends; /* at least one after config_finish() */
    size_t frontend_count;
    struct conf_backend backend;
    struct conf_backend
        http_redirect;          /* where plain HTTP is sent to https; port NULL: nowhere, host NULL: all addresses */
    unsigned backend_refresh_s; /* 0: never */
    unsigned backend_connect_timeout_s; /* 0: none */
    unsigned ssl_handshake_timeout_s;   /* from accept to the end of the handshake; 0: none */
    unsigned first_data_timeout_s;      /* from accept to the first plaintext in either direction; 0: none */
    unsigned idle_timeout_s;            /* neither direction moved a byte; 0: none */
    unsigned half_close_timeout_s;      /* as idle, once the backend has ended; 0: none */
    unsigned close_timeout_s;           /* for the peer's close_notify and FIN after ours; 0 is taken as 1 */
    unsigned drain_timeout_s;           /* how long old workers finish their connections; 0: no limit */
    int backlog;                        /* listen(2) */
    unsigned keepalive_s;               /* TCP_KEEPIDLE on both sides; 0: off */
    int recv_bufsize;                   /* SO_RCVBUF of client sockets, bytes; -1: the kernel's */
    int send_bufsize;
    bool tcp_fastopen;
    enum announce announce;               /* set by config_finish() from announce_wanted */
    bool announce_wanted[ANNOUNCE_COUNT]; /* write-ip, write-proxy-v1, ... as the operator switched them */
    bool proxy_tlv;                       /* SSL TLV (0x20) in PROXY v2 */
    bool proxy_authority;                 /* AUTHORITY TLV (0x02) */
    bool proxy_group;       /* GROUP TLV (0x26) inside the SSL TLV; no keyword yet, set by `halter demo` */
    bool proxy_client_cert; /* TLV 0xe0 with the client's certificate as PEM */

    /* TLS */
    struct conf_tls tls;   /* the global settings, from which frontends inherit */
    struct conf_http http; /* likewise */
    struct conf_pem *pems; /* global certificates, in order; the last is the default */
    size_t pem_count;
    char *pem_dir; /* with a trailing '/'; NULL */
    char *pem_dir_glob;
    bool client_mode;  /* --client */
    char *alpn_protos; /* normalised "h2,http/1.1"; NULL */
    char *ssl_engine;
    char *ocsp_dir; /* NULL: stapling by directory is off */
    bool ocsp_verify_staple;
    unsigned ocsp_resp_tmo_s;
    unsigned ocsp_connect_tmo_s;
    unsigned ocsp_refresh_interval_s;
    unsigned session_cache; /* shared session cache entries; 0: off */
    char *shared_cache_listen;
    char *shared_cache_if;
    char **shared_cache_peers;
    size_t shared_cache_peer_count;

    /* process */
    unsigned workers; /* WORKERS_AUTO or a count */
    char *chroot_dir;
    char *user;
    char *group;
    bool daemon;
    char *pidfile;
    char *dbg_listen; /* file to write the bound addresses to */

    /* log */
    unsigned log_level; /* 0 silence, 1 errors and notices, 2 info, 3 one line for each connection */
    char *log_filename;
    bool syslog;
    char *syslog_facility;

    /* how it was made */
    struct conf_marks marks;
    bool is_faulty;    /* a record was in error: what is missing now may have stood there */
    char **file_names; /* all place.file point here */
    size_t file_name_count;
};

/* All defaults; no frontend, no certificate. */
void config_init(struct config *config);
void config_clear(struct config *config);

/*
 * Makes what was parsed effective: the default frontend, inheritance into frontends and certificates, announce; then
 * checks all that can be checked without the file system. To be called once, after the last file and the command line.
 * Returns 0, or -1 with all faults added; the config is then fit for config_clear() only. Warnings may be added in
 * either case.
 */
int config_finish(struct config *config, struct error *error) __attribute__((warn_unused_result));

/* A place whose file name lives as long as config. */
struct place config_place(struct config *config, const char *file, unsigned line, unsigned col);

/* Adds an empty certificate at the end; frontend NULL: a global one. Owned by config; valid until the next is added. */
struct conf_pem *config_pem_add(struct config *config, struct conf_frontend *frontend, const struct place *place);

/* Adds a frontend. host NULL: all addresses. Owned by config; valid until the next is added. */
struct conf_frontend *config_frontend_add(struct config *config, const char *host, const char *port,
                                          const struct place *place);

/* True when both say the same host and port; nothing is resolved. */
bool conf_frontend_is_same(const struct conf_frontend *a, const struct conf_frontend *b);

void conf_pem_clear(struct conf_pem *pem);
void conf_frontend_clear(struct conf_frontend *frontend);

/* Where keyword was given; NULL when it was not. Borrowed until the next conf_marks_set(). */
const struct place *conf_marks_find(const struct conf_marks *marks, const struct keyword *keyword);

/* Notes that keyword was given at place, in place of an earlier mark. place->file must live as long as the config. */
void conf_marks_set(struct conf_marks *marks, const struct keyword *keyword, const struct place *place);

#endif
