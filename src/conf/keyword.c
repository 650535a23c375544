#include "conf/keyword.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "conf/config.h"
#include "text.h"

#define TOP(field) (int)offsetof(struct config, field)
#define FRONTEND(field) (int)offsetof(struct conf_frontend, field)
#define PEM(field) (int)offsetof(struct conf_pem, field)
#define NO KEYWORD_NOT_HERE

#define HITCH KEYWORD_HITCH_OPTION

enum {
    NUMBER_MAX = 2147483647,
    SECONDS_MAX = 31536000, /* a year */
    KEEPALIVE_MAX = 32767,  /* the kernel's limit of TCP_KEEPIDLE */
    WORKERS_MAX = 1024,
    LOG_LEVEL_MAX = 3,
};

#define DEFAULT_CIPHERS                                                                                                \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"                                                       \
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"                                                       \
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"

/* What most rows have in common. */
#define OPTION_LETTER(has_arg, shown_arg, short_name)                                                                  \
    .arg = KEYWORD_ARG_##has_arg, .arg_name = shown_arg, .letter = short_name
#define OPTION(has_arg, shown_arg) OPTION_LETTER(has_arg, shown_arg, 0)
#define SWITCH .arg = KEYWORD_ARG_OPTIONAL, .arg_name = "on|off"
#define SECONDS(text) .type = KEYWORD_UINT, .max = SECONDS_MAX, .default_text = text, .example = text
#define NUMBER(text) .type = KEYWORD_UINT, .max = NUMBER_MAX, .default_text = text, .example = text
#define ON_RELOAD .change = KEYWORD_CHANGE_WORKERS
#define ON_RESTART .change = KEYWORD_CHANGE_RESTART
#define AT_ONCE .change = KEYWORD_CHANGE_NOTHING
#define LATER(note) .support = KEYWORD_LATER, .support_note = note
#define LATER_IGNORED(note) .support = KEYWORD_LATER_IGNORED, .support_note = note

/* clang-format off */
static const struct keyword keywords[] = {
    /* ---- Configuration: the command line alone ---- */
    {.name = "config", .group = KEYWORD_GROUP_CONFIGURATION, .type = KEYWORD_ACTION, .at = {NO, NO, NO},
     OPTION(REQUIRED, "FILE"), .flags = HITCH,
     .help = "read this configuration file, '-' for standard input; repeatable"},
    {.name = "test", .group = KEYWORD_GROUP_CONFIGURATION, .type = KEYWORD_ACTION, .at = {NO, NO, NO},
     OPTION_LETTER(NONE, NULL, 't'), .flags = HITCH,
     .help = "check the configuration and all certificates, say what is wrong, and exit"},
    {.name = "print-config", .group = KEYWORD_GROUP_CONFIGURATION, .type = KEYWORD_ACTION, .at = {NO, NO, NO},
     OPTION(NONE, NULL),
     .help = "print the effective configuration as a configuration file, and exit"},
    {.name = "version", .group = KEYWORD_GROUP_CONFIGURATION, .type = KEYWORD_ACTION, .at = {NO, NO, NO},
     OPTION_LETTER(NONE, NULL, 'V'), .flags = HITCH,
     .help = "print the versions of the program and its libraries, and exit"},
    {.name = "help", .group = KEYWORD_GROUP_CONFIGURATION, .type = KEYWORD_ACTION, .at = {NO, NO, NO},
     OPTION_LETTER(NONE, NULL, 'h'), .flags = HITCH, .help = "print this text, and exit"},

    /* ---- Sockets ---- */
    {.name = "frontend", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_FRONTEND, .at = {TOP(frontends), NO, NO},
     OPTION_LETTER(REQUIRED, "[HOST]:PORT[+CERT]", 'f'), .default_text = "[*]:8443", .example = "[*]:443",
     ON_RELOAD, .flags = HITCH | KEYWORD_REPEATS,
     .help = "listen there for TLS, '*' for all addresses; repeatable"},
    {.name = "host", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_HOST, .at = {NO, FRONTEND(host), NO},
     .default_text = "*", .example = "192.0.2.1", ON_RELOAD,
     .help = "name or address to listen on, '*' for all addresses"},
    {.name = "port", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_PORT, .at = {NO, FRONTEND(port), NO},
     .example = "443", ON_RELOAD, .help = "port to listen on; every frontend block needs one"},
    {.name = "backend", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_BACKEND, .at = {TOP(backend), NO, NO},
     OPTION_LETTER(REQUIRED, "[HOST]:PORT or /PATH", 'b'), .default_text = "[127.0.0.1]:8000",
     .example = "[127.0.0.1]:6086", ON_RELOAD, .flags = HITCH,
     .help = "connect there for each client: an address, or the path of a unix socket"},
    {.name = "backend-refresh", .alias = "backendrefresh", .group = KEYWORD_GROUP_SOCKETS, SECONDS("0"),
     .at = {TOP(backend_refresh_s), NO, NO}, OPTION_LETTER(REQUIRED, "SECS", 'R'), ON_RELOAD,
     LATER_IGNORED("names are resolved at start and at each reload"), .flags = HITCH | KEYWORD_CLAMP,
     .help = "resolve the backend's name again that often, 0 for never"},
    {.name = "client", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_BOOL, .at = {TOP(client_mode), NO, NO}, SWITCH,
     .default_text = "off", .example = "off", ON_RESTART, LATER(NULL), .flags = HITCH,
     .help = "the other way round: accept plaintext, speak TLS to the backend"},
    {.name = "backlog", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_INT, .min = -1, .max = NUMBER_MAX,
     .at = {TOP(backlog), NO, NO}, OPTION_LETTER(REQUIRED, "NUM", 'B'), .default_text = "100", .example = "1000",
     ON_RELOAD, .flags = HITCH,
     .help = "connections that may wait to be accepted; -1 for as many as the kernel allows"},
    {.name = "keepalive", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_UINT, .max = KEEPALIVE_MAX,
     .at = {TOP(keepalive_s), NO, NO}, OPTION_LETTER(REQUIRED, "SECS", 'k'), .default_text = "3600",
     .example = "3600", ON_RELOAD, .flags = HITCH | KEYWORD_CLAMP,
     .help = "idle time before TCP keep-alive probes, 0 for no probes"},
    {.name = "recv-bufsize", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_INT, .min = -1, .max = NUMBER_MAX,
     .at = {TOP(recv_bufsize), NO, NO}, OPTION(REQUIRED, "BYTES"), .default_text = "-1", .example = "65536", ON_RELOAD,
     .flags = HITCH, .help = "receive buffer of client sockets; -1 for the kernel's own choice"},
    {.name = "send-bufsize", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_INT, .min = -1, .max = NUMBER_MAX,
     .at = {TOP(send_bufsize), NO, NO}, OPTION(REQUIRED, "BYTES"), .default_text = "-1", .example = "65536", ON_RELOAD,
     .flags = HITCH, .help = "send buffer of client sockets; -1 for the kernel's own choice"},
    {.name = "tcp-fastopen", .alias = "enable-tcp-fastopen", .group = KEYWORD_GROUP_SOCKETS, .type = KEYWORD_BOOL,
     .at = {TOP(tcp_fastopen), NO, NO}, SWITCH, .default_text = "off", .example = "on", ON_RELOAD,
     LATER_IGNORED("connections work as usual, with one round trip more"), .flags = HITCH,
     .help = "accept TCP Fast Open from clients"},

    /* ---- Timeouts ---- */
    {.name = "backend-connect-timeout", .group = KEYWORD_GROUP_TIMEOUTS, SECONDS("30"),
     .at = {TOP(backend_connect_timeout_s), NO, NO}, OPTION(REQUIRED, "SECS"), ON_RELOAD,
     .flags = HITCH | KEYWORD_CLAMP, .help = "time for connecting to the backend, 0 for no limit"},
    {.name = "ssl-handshake-timeout", .group = KEYWORD_GROUP_TIMEOUTS, SECONDS("30"),
     .at = {TOP(ssl_handshake_timeout_s), NO, NO}, OPTION(REQUIRED, "SECS"), ON_RELOAD, .flags = HITCH | KEYWORD_CLAMP,
     .help = "time from accepting a client to the end of its handshake, 0 for no limit"},
    {.name = "first-data-timeout", .group = KEYWORD_GROUP_TIMEOUTS, SECONDS("60"),
     .at = {TOP(first_data_timeout_s), NO, NO}, OPTION(REQUIRED, "SECS"), ON_RELOAD, .flags = KEYWORD_CLAMP,
     .help = "time from accepting a client to the first byte of plaintext, 0 for no limit"},
    {.name = "idle-timeout", .group = KEYWORD_GROUP_TIMEOUTS, SECONDS("600"), .at = {TOP(idle_timeout_s), NO, NO},
     OPTION(REQUIRED, "SECS"), ON_RELOAD, .flags = KEYWORD_CLAMP,
     .help = "end a connection on which nothing has moved for that long, 0 for never"},
    {.name = "half-close-timeout", .group = KEYWORD_GROUP_TIMEOUTS, SECONDS("60"),
     .at = {TOP(half_close_timeout_s), NO, NO}, OPTION(REQUIRED, "SECS"), ON_RELOAD, .flags = KEYWORD_CLAMP,
     .help = "the same, once the backend has finished sending, 0 for never"},
    {.name = "close-timeout", .group = KEYWORD_GROUP_TIMEOUTS, SECONDS("5"), .at = {TOP(close_timeout_s), NO, NO},
     OPTION(REQUIRED, "SECS"), ON_RELOAD, .flags = KEYWORD_CLAMP,
     .help = "time for the client to answer our close_notify, at least 1"},
    {.name = "drain-timeout", .group = KEYWORD_GROUP_TIMEOUTS, SECONDS("300"), .at = {TOP(drain_timeout_s), NO, NO},
     OPTION(REQUIRED, "SECS"), ON_RELOAD, .flags = KEYWORD_CLAMP,
     .help = "time for old connections to finish after a reload or SIGQUIT, 0 for no limit"},

    /* ---- TLS ---- */
    {.name = "pem-file", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_PEM_FILE, .at = {TOP(pems), FRONTEND(pems), NO},
     OPTION(REQUIRED, "FILE"), .example = "/etc/halter/site.pem", ON_RELOAD, .flags = KEYWORD_REPEATS,
     .help = "certificate chain and key; repeatable, the last one is the default"},
    {.name = "cert", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_PATH, .at = {NO, NO, PEM(cert)},
     .example = "/etc/halter/site.pem", ON_RELOAD,
     .help = "certificate chain, and the key when it has no file of its own"},
    {.name = "private-key", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_PATH, .at = {NO, NO, PEM(private_key)},
     .default_text = "", .example = "/etc/halter/site.key", ON_RELOAD, .help = "file with the certificate's key"},
    {.name = "match-global-certs", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_BOOL,
     .at = {NO, FRONTEND(match_global_certs), NO}, .example = "on", ON_RELOAD,
     .help = "this frontend also uses the global certificates; on unless it has its own"},
    {.name = "pem-dir", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_DIRECTORY, .at = {TOP(pem_dir), NO, NO},
     OPTION(REQUIRED, "DIR"), .default_text = "", .example = "/etc/halter/cert.d/", ON_RELOAD,
     .help = "use every file of this directory as a pem-file, in alphabetical order"},
    {.name = "pem-dir-glob", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_PATH_OR_NONE,
     .at = {TOP(pem_dir_glob), NO, NO}, OPTION(REQUIRED, "PATTERN"), .default_text = "", .example = "*.pem", ON_RELOAD,
     .help = "only those files of pem-dir that match"},
    {.name = "sni-nomatch-abort", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_BOOL,
     .at = {TOP(tls.sni_nomatch_abort), FRONTEND(tls.sni_nomatch_abort), NO}, SWITCH, .default_text = "off",
     .example = "on", ON_RELOAD, .flags = HITCH,
     .help = "refuse clients that ask for a name without certificate (off: default certificate)"},
    {.name = "tls-protos", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_PROTOCOLS,
     .at = {TOP(tls.versions), FRONTEND(tls.versions), NO}, OPTION(REQUIRED, "LIST"), .default_text = "TLSv1.2 TLSv1.3",
     .example = "TLSv1.2 TLSv1.3", ON_RELOAD, .flags = HITCH,
     .help = "protocol versions, of TLSv1.0 TLSv1.1 TLSv1.2 TLSv1.3"},
    {.name = "tls", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_PROTOCOLS_TLS,
     .at = {TOP(tls.versions), FRONTEND(tls.versions), NO}, .same_as = "tls-protos", SWITCH, .example = "on", ON_RELOAD,
     .flags = HITCH, .help = "deprecated: all of TLSv1.0 to TLSv1.3"},
    {.name = "ssl", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_PROTOCOLS_SSL,
     .at = {TOP(tls.versions), FRONTEND(tls.versions), NO}, .same_as = "tls-protos", SWITCH, .example = "on", ON_RELOAD,
     .flags = HITCH, .help = "deprecated: as --tls; SSLv3 is not available"},
    {.name = "ciphers", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_STRING,
     .at = {TOP(tls.ciphers), FRONTEND(tls.ciphers), NO}, OPTION_LETTER(REQUIRED, "LIST", 'c'),
     .default_text = DEFAULT_CIPHERS, .example = "ECDHE+AESGCM:ECDHE+CHACHA20", ON_RELOAD, .flags = HITCH,
     .help = "ciphers of TLSv1.2 and older, in OpenSSL's syntax"},
    {.name = "ciphersuites", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_STRING,
     .at = {TOP(tls.ciphersuites), FRONTEND(tls.ciphersuites), NO}, OPTION(REQUIRED, "LIST"), .default_text = "",
     .example = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256", ON_RELOAD, .help = "ciphers of TLSv1.3"},
    {.name = "ecdh-curve", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_STRING_OR_AUTO,
     .at = {TOP(tls.ecdh_curve), FRONTEND(tls.ecdh_curve), NO}, OPTION(REQUIRED, "LIST"), .default_text = "auto",
     .example = "X25519:prime256v1", ON_RELOAD, .help = "groups for the key exchange, in order of preference"},
    {.name = "prefer-server-ciphers", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_BOOL,
     .at = {TOP(tls.prefer_server_ciphers), FRONTEND(tls.prefer_server_ciphers), NO},
     OPTION_LETTER(OPTIONAL, "on|off", 'O'), .default_text = "on", .example = "off", ON_RELOAD,
     .flags = HITCH | KEYWORD_LAX, .help = "our order of ciphers counts, not the client's"},
    {.name = "alpn-protos", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_ALPN, .at = {TOP(alpn_protos), NO, NO},
     OPTION(REQUIRED, "LIST"), .default_text = "", .example = "h2,http/1.1", ON_RELOAD, .flags = HITCH,
     .help = "protocols to offer by ALPN, in order of preference"},
    {.name = "client-verify", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_CLIENT_VERIFY,
     .at = {TOP(tls.client_verify), FRONTEND(tls.client_verify), PEM(client_verify)},
     OPTION(REQUIRED, "none|optional|required"), .default_text = "none", .example = "required", ON_RELOAD,
     .help = "ask clients for a certificate"},
    {.name = "client-verify-ca", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_PATH,
     .at = {TOP(tls.client_verify_ca), FRONTEND(tls.client_verify_ca), PEM(client_verify_ca)},
     OPTION(REQUIRED, "FILE"), .default_text = "", .example = "/etc/halter/client-ca.pem", ON_RELOAD,
     .help = "who may have signed the clients' certificates"},
    {.name = "ssl-engine", .group = KEYWORD_GROUP_TLS, .type = KEYWORD_STRING, .at = {TOP(ssl_engine), NO, NO},
     OPTION_LETTER(REQUIRED, "NAME", 'e'), .default_text = "", .example = "auto", ON_RESTART,
     .support = KEYWORD_NEVER, .support_note = "OpenSSL 4 has no engines", .flags = KEYWORD_HIDDEN,
     .help = "OpenSSL engine"},

    /* ---- What the backend is told ---- */
    {.name = "write-ip", .group = KEYWORD_GROUP_BACKEND_INFO, .type = KEYWORD_BOOL,
     .at = {TOP(announce_wanted[ANNOUNCE_IP]), NO, NO}, SWITCH, .default_text = "off", .example = "on", ON_RELOAD,
     .flags = HITCH, .help = "send the client's address first: one octet family, 4 or 16 octets address"},
    {.name = "write-proxy-v1", .group = KEYWORD_GROUP_BACKEND_INFO, .type = KEYWORD_BOOL,
     .at = {TOP(announce_wanted[ANNOUNCE_PROXY_V1]), NO, NO}, SWITCH, .default_text = "off", .example = "on", ON_RELOAD,
     .flags = HITCH, .help = "send a PROXY line (version 1) first"},
    {.name = "write-proxy-v2", .group = KEYWORD_GROUP_BACKEND_INFO, .type = KEYWORD_BOOL,
     .at = {TOP(announce_wanted[ANNOUNCE_PROXY_V2]), NO, NO}, SWITCH, .default_text = "off", .example = "on", ON_RELOAD,
     .flags = HITCH, .help = "send a PROXY header (version 2) first"},
    {.name = "write-proxy", .group = KEYWORD_GROUP_BACKEND_INFO, .type = KEYWORD_BOOL,
     .at = {TOP(announce_wanted[ANNOUNCE_PROXY_V2]), NO, NO}, .same_as = "write-proxy-v2", SWITCH, .example = "on",
     ON_RELOAD, .flags = HITCH, .help = "the same as write-proxy-v2"},
    {.name = "proxy-proxy", .group = KEYWORD_GROUP_BACKEND_INFO, .type = KEYWORD_BOOL,
     .at = {TOP(announce_wanted[ANNOUNCE_PROXY_PROXY]), NO, NO}, SWITCH, .default_text = "off", .example = "off",
     ON_RELOAD, LATER(NULL), .flags = HITCH, .help = "clients send a PROXY header before TLS: pass it on"},
    {.name = "proxy-tlv", .group = KEYWORD_GROUP_BACKEND_INFO, .type = KEYWORD_BOOL, .at = {TOP(proxy_tlv), NO, NO},
     SWITCH, .default_text = "on", .example = "off", ON_RELOAD,
     .help = "PROXY version 2 tells TLS version, cipher and client certificate"},
    {.name = "proxy-authority", .group = KEYWORD_GROUP_BACKEND_INFO, .type = KEYWORD_BOOL,
     .at = {TOP(proxy_authority), NO, NO}, SWITCH, .default_text = "on", .example = "off", ON_RELOAD,
     .help = "PROXY version 2 tells the name that the client asked for"},
    {.name = "proxy-client-cert", .group = KEYWORD_GROUP_BACKEND_INFO, .type = KEYWORD_BOOL,
     .at = {TOP(proxy_client_cert), NO, NO}, SWITCH, .default_text = "off", .example = "on", ON_RELOAD,
     .help = "PROXY version 2 carries the client's certificate"},

    /* ---- HTTP mode ---- */
    {.name = "http", .group = KEYWORD_GROUP_HTTP, .type = KEYWORD_BOOL, .at = {TOP(http.on), FRONTEND(http.on), NO},
     SWITCH, .default_text = "off", .example = "on", ON_RELOAD,
     .help = "rewrite the head of every request, and refuse what is not strictly HTTP/1"},
    {.name = "http-add", .group = KEYWORD_GROUP_HTTP, .type = KEYWORD_STRING,
     .at = {TOP(http.add), FRONTEND(http.add), NO}, OPTION(REQUIRED, "LIST"),
     .default_text = "x-forwarded-for,x-forwarded-proto", .example = "x-forwarded-for,x-forwarded-proto,x-real-ip",
     ON_RELOAD, .help = "fields that every request gets; what clients send under these names is removed"},
    {.name = "http-strip", .group = KEYWORD_GROUP_HTTP, .type = KEYWORD_STRING,
     .at = {TOP(http.strip), FRONTEND(http.strip), NO}, OPTION(REQUIRED, "LIST"), .default_text = "",
     .example = "x-internal-*,x-user", ON_RELOAD,
     .help = "further fields to remove, beside X-Forwarded-*, Forwarded and X-Real-IP; '*' ends a prefix"},
    {.name = "http-trusted", .group = KEYWORD_GROUP_HTTP, .type = KEYWORD_STRING,
     .at = {TOP(http.trusted), FRONTEND(http.trusted), NO}, OPTION(REQUIRED, "LIST"), .default_text = "",
     .example = "192.0.2.0/24,2001:db8::/32", ON_RELOAD,
     .help = "proxies before us, whose X-Forwarded-For is kept and added to"},
    {.name = "http-max-head", .group = KEYWORD_GROUP_HTTP, .type = KEYWORD_UINT, .min = 1024, .max = 65536,
     .at = {TOP(http.max_head_bytes), FRONTEND(http.max_head_bytes), NO}, OPTION(REQUIRED, "BYTES"),
     .default_text = "16384", .example = "32768", ON_RELOAD,
     .help = "longest head of a request; longer ones are answered 431"},
    {.name = "http-max-fields", .group = KEYWORD_GROUP_HTTP, .type = KEYWORD_UINT, .min = 1, .max = 512,
     .at = {TOP(http.max_fields), FRONTEND(http.max_fields), NO}, OPTION(REQUIRED, "NUM"), .default_text = "100",
     .example = "200", ON_RELOAD, .help = "most fields of a request; more are answered 431"},
    {.name = "http-redirect", .group = KEYWORD_GROUP_HTTP, .type = KEYWORD_REDIRECT, .at = {TOP(http_redirect), NO, NO},
     OPTION(REQUIRED, "[HOST]:PORT"), .default_text = "", .example = "[*]:80", ON_RELOAD,
     .help = "listen there for plain HTTP, and send it to https"},
    {.name = "http-plain-redirect", .group = KEYWORD_GROUP_HTTP, .type = KEYWORD_BOOL,
     .at = {TOP(http.plain_redirect), FRONTEND(http.plain_redirect), NO}, SWITCH, .default_text = "off",
     .example = "on", ON_RELOAD,
     .help = "send those who speak plain HTTP on the TLS port to https (off: tell them with a 400)"},

    /* ---- Performance ---- */
    {.name = "workers", .group = KEYWORD_GROUP_PERFORMANCE, .type = KEYWORD_WORKERS, .min = 1, .max = WORKERS_MAX,
     .at = {TOP(workers), NO, NO}, OPTION_LETTER(REQUIRED, "NUM|auto", 'n'), .default_text = "1", .example = "auto",
     ON_RELOAD, .flags = HITCH, .help = "worker processes; auto for one per core that we may use"},
    {.name = "ring-slots", .group = KEYWORD_GROUP_PERFORMANCE, .type = KEYWORD_IGNORED, .max = NUMBER_MAX,
     .at = {0, NO, NO}, .example = "0", AT_ONCE, .flags = KEYWORD_HIDDEN, .help = "accepted, without effect"},
    {.name = "ring-data-len", .group = KEYWORD_GROUP_PERFORMANCE, .type = KEYWORD_IGNORED, .max = NUMBER_MAX,
     .at = {0, NO, NO}, .example = "0", AT_ONCE, .flags = KEYWORD_HIDDEN, .help = "accepted, without effect"},

    /* ---- Security ---- */
    {.name = "chroot", .group = KEYWORD_GROUP_SECURITY, .type = KEYWORD_PATH, .at = {TOP(chroot_dir), NO, NO},
     OPTION_LETTER(REQUIRED, "DIR", 'r'), .default_text = "", .example = "/var/empty", ON_RELOAD, .flags = HITCH,
     .help = "root directory of the workers"},
    {.name = "user", .group = KEYWORD_GROUP_SECURITY, .type = KEYWORD_STRING, .at = {TOP(user), NO, NO},
     OPTION_LETTER(REQUIRED, "USER", 'u'), .default_text = "", .example = "nobody", ON_RELOAD, .flags = HITCH,
     .help = "user and group of the workers"},
    {.name = "group", .group = KEYWORD_GROUP_SECURITY, .type = KEYWORD_STRING, .at = {TOP(group), NO, NO},
     OPTION_LETTER(REQUIRED, "GROUP", 'g'), .default_text = "", .example = "nogroup", ON_RELOAD, .flags = HITCH,
     .help = "group of the workers, in place of the user's"},

    /* ---- Logging ---- */
    {.name = "log-level", .group = KEYWORD_GROUP_LOGGING, .type = KEYWORD_UINT, .max = LOG_LEVEL_MAX,
     .at = {TOP(log_level), NO, NO}, OPTION_LETTER(REQUIRED, "NUM", 'L'), .default_text = "1", .example = "2",
     ON_RELOAD, .flags = HITCH | KEYWORD_CLAMP, .help = "0 silence, 1 errors and notices, 2 more, 3 each connection"},
    {.name = "quiet", .group = KEYWORD_GROUP_LOGGING, .type = KEYWORD_QUIET, .at = {TOP(log_level), NO, NO},
     .same_as = "log-level", OPTION_LETTER(OPTIONAL, "on|off", 'q'), .example = "on", ON_RELOAD,
     .flags = HITCH | KEYWORD_LAX, .help = "deprecated: on is log-level 0, off is 1"},
    {.name = "log-filename", .group = KEYWORD_GROUP_LOGGING, .type = KEYWORD_PATH, .at = {TOP(log_filename), NO, NO},
     OPTION_LETTER(REQUIRED, "FILE", 'l'), .default_text = "", .example = "/var/log/halter.log", AT_ONCE,
     .flags = HITCH, .help = "log to this file in place of standard error"},
    {.name = "syslog", .group = KEYWORD_GROUP_LOGGING, .type = KEYWORD_BOOL, .at = {TOP(syslog), NO, NO},
     OPTION_LETTER(OPTIONAL, "on|off", 's'), .default_text = "off", .example = "on", AT_ONCE,
     .flags = HITCH | KEYWORD_LAX, .help = "log to syslog, too"},
    {.name = "syslog-facility", .group = KEYWORD_GROUP_LOGGING, .type = KEYWORD_FACILITY,
     .at = {TOP(syslog_facility), NO, NO}, OPTION(REQUIRED, "FACILITY"), .default_text = "daemon", .example = "local0",
     AT_ONCE, .flags = HITCH, .help = "as which facility"},

    /* ---- Process ---- */
    {.name = "daemon", .group = KEYWORD_GROUP_PROCESS, .type = KEYWORD_BOOL, .at = {TOP(daemon), NO, NO}, SWITCH,
     .default_text = "off", .example = "on", ON_RESTART, .flags = HITCH, .help = "go into the background"},
    {.name = "pidfile", .group = KEYWORD_GROUP_PROCESS, .type = KEYWORD_PATH, .at = {TOP(pidfile), NO, NO},
     OPTION_LETTER(REQUIRED, "FILE", 'p'), .default_text = "", .example = "/run/halter.pid", ON_RESTART,
     .flags = HITCH, .help = "write the process id there, and keep it locked"},
    {.name = "dbg-listen", .group = KEYWORD_GROUP_PROCESS, .type = KEYWORD_PATH, .at = {TOP(dbg_listen), NO, NO},
     OPTION(REQUIRED, "FILE"), .default_text = "", .example = "/run/halter.addresses", AT_ONCE,
     .flags = HITCH | KEYWORD_HIDDEN, .help = "write the addresses that we listen on there"},

    /* ---- OCSP stapling ---- */
    {.name = "ocsp-dir", .group = KEYWORD_GROUP_OCSP, .type = KEYWORD_PATH_OR_NONE, .at = {TOP(ocsp_dir), NO, NO},
     OPTION_LETTER(REQUIRED, "DIR", 'o'), .default_text = "", .example = "/var/lib/halter/", ON_RELOAD,
     LATER_IGNORED(NULL), .flags = HITCH, .help = "where OCSP responses are kept"},
    {.name = "ocsp-resp-file", .group = KEYWORD_GROUP_OCSP, .type = KEYWORD_PATH, .at = {NO, NO, PEM(ocsp_resp_file)},
     .default_text = "", .example = "/etc/halter/site.ocsp", ON_RELOAD, LATER(NULL),
     .help = "OCSP response for the certificate"},
    {.name = "ocsp-verify-staple", .group = KEYWORD_GROUP_OCSP, .type = KEYWORD_BOOL,
     .at = {TOP(ocsp_verify_staple), NO, PEM(ocsp_verify_staple)}, SWITCH, .default_text = "off", .example = "off",
     ON_RELOAD, LATER(NULL), .help = "verify OCSP responses before use"},
    {.name = "ocsp-resp-tmo", .group = KEYWORD_GROUP_OCSP, SECONDS("10"), .at = {TOP(ocsp_resp_tmo_s), NO, NO},
     OPTION(REQUIRED, "SECS"), ON_RELOAD, LATER_IGNORED(NULL), .flags = KEYWORD_CLAMP,
     .help = "time for an OCSP responder to answer"},
    {.name = "ocsp-connect-tmo", .group = KEYWORD_GROUP_OCSP, SECONDS("4"), .at = {TOP(ocsp_connect_tmo_s), NO, NO},
     OPTION(REQUIRED, "SECS"), ON_RELOAD, LATER_IGNORED(NULL), .flags = KEYWORD_CLAMP,
     .help = "time for connecting to an OCSP responder"},
    {.name = "ocsp-refresh-interval", .group = KEYWORD_GROUP_OCSP, SECONDS("1800"),
     .at = {TOP(ocsp_refresh_interval_s), NO, NO}, OPTION(REQUIRED, "SECS"), ON_RELOAD, LATER_IGNORED(NULL),
     .flags = KEYWORD_CLAMP, .help = "how often to ask when the response does not say"},

    /* ---- Shared session cache ---- */
    {.name = "session-cache", .alias = "shared-cache", .group = KEYWORD_GROUP_CACHE, NUMBER("0"),
     .at = {TOP(session_cache), NO, NO}, OPTION_LETTER(REQUIRED, "NUM", 'C'), ON_RELOAD,
     LATER("TLS tickets resume sessions on all workers"), .flags = HITCH,
     .help = "sessions to keep in a cache that all workers share"},
    {.name = "shared-cache-listen", .group = KEYWORD_GROUP_CACHE, .type = KEYWORD_ENDPOINT,
     .at = {TOP(shared_cache_listen), NO, NO}, OPTION_LETTER(REQUIRED, "[HOST]:PORT", 'U'), .default_text = "",
     .example = "[*]:9000", ON_RELOAD, LATER(NULL), .flags = HITCH,
     .help = "take cache updates from other hosts there"},
    {.name = "shared-cache-peer", .group = KEYWORD_GROUP_CACHE, .type = KEYWORD_ENDPOINT_LIST, .max = 15,
     .at = {TOP(shared_cache_peers), NO, NO}, OPTION_LETTER(REQUIRED, "[HOST]:PORT", 'P'),
     .example = "[192.0.2.7]:9000", ON_RELOAD, LATER(NULL), .flags = HITCH | KEYWORD_REPEATS,
     .help = "send cache updates there; repeatable"},
    {.name = "shared-cache-if", .group = KEYWORD_GROUP_CACHE, .type = KEYWORD_STRING,
     .at = {TOP(shared_cache_if), NO, NO}, OPTION_LETTER(REQUIRED, "IFACE[,TTL]", 'M'), .default_text = "",
     .example = "eth0,1", ON_RELOAD, LATER(NULL), .flags = HITCH,
     .help = "interface for multicast updates, '*' for any"},
};
/* clang-format on */

enum { KEYWORD_ROWS = sizeof keywords / sizeof keywords[0] };

size_t keyword_count(void)
{
    return KEYWORD_ROWS;
}

const struct keyword *keyword_at(size_t index)
{
    CHECK(index < KEYWORD_ROWS);
    return &keywords[index];
}

static bool is_word(const char *name, const char *word, size_t length)
{
    return name != NULL && strlen(name) == length && memcmp(name, word, length) == 0;
}

const struct keyword *keyword_find(const char *name, size_t length)
{
    for (size_t i = 0; i < KEYWORD_ROWS; i++) {
        if (is_word(keywords[i].name, name, length) || is_word(keywords[i].alias, name, length))
            return &keywords[i];
    }
    return NULL;
}

const struct keyword *keyword_holder(const struct keyword *keyword)
{
    if (keyword->same_as == NULL)
        return keyword;
    const struct keyword *holder = keyword_find(keyword->same_as, strlen(keyword->same_as));
    CHECK(holder != NULL);
    return holder;
}

bool keyword_is_option(const struct keyword *keyword)
{
    return keyword->arg != KEYWORD_NO_OPTION;
}

static void consider(const char *candidate, const char *word, size_t length, size_t *best, const char **found)
{
    if (candidate == NULL)
        return;
    size_t distance = text_distance(word, length, candidate);
    if (distance < *best) {
        *best = distance;
        *found = candidate;
    }
}

/* More edits than this are no slip of the fingers. */
static size_t patience(size_t length)
{
    return length < 3 ? 1 : length / 3 + 1;
}

const char *keyword_suggest(const char *word, size_t length, enum keyword_scope scope)
{
    const char *found = NULL;
    size_t best = patience(length) + 1;

    for (size_t i = 0; i < KEYWORD_ROWS; i++) {
        if (keywords[i].at[scope] == KEYWORD_NOT_HERE)
            continue;
        consider(keywords[i].name, word, length, &best, &found);
        consider(keywords[i].alias, word, length, &best, &found);
    }
    return found;
}

const char *keyword_suggest_option(const char *word, size_t length)
{
    const char *found = NULL;
    size_t best = patience(length) + 1;

    for (size_t i = 0; i < KEYWORD_ROWS; i++) {
        if (!keyword_is_option(&keywords[i]))
            continue;
        consider(keywords[i].name, word, length, &best, &found);
        consider(keywords[i].alias, word, length, &best, &found);
    }
    return found;
}

void keyword_scopes_print(const struct keyword *keyword, struct strbuf *out)
{
    static const char *const texts[SCOPE_COUNT] = {"at the top level", "in a frontend block", "in a pem-file block"};
    size_t last = 0, count = 0;

    for (size_t i = 0; i < SCOPE_COUNT; i++) {
        if (keyword->at[i] != KEYWORD_NOT_HERE)
            last = i;
    }
    for (size_t i = 0; i < SCOPE_COUNT; i++) {
        if (keyword->at[i] == KEYWORD_NOT_HERE)
            continue;
        if (count > 0)
            strbuf_adds(out, i == last ? " or " : ", ");
        strbuf_adds(out, texts[i]);
        count++;
    }
    if (count == 0)
        strbuf_adds(out, "on the command line");
}

const char *keyword_type_text(enum keyword_type type)
{
    switch (type) {
#define X(name, word)                                                                                                  \
    case KEYWORD_##name:                                                                                               \
        return word;
        KEYWORD_TYPES(X)
#undef X
    }
    CHECK(!"a type");
    return "";
}

const char *keyword_group_text(enum keyword_group group)
{
    switch (group) {
#define X(name, heading)                                                                                               \
    case KEYWORD_GROUP_##name:                                                                                         \
        return heading;
        KEYWORD_GROUPS(X)
#undef X
    }
    CHECK(!"a group");
    return "";
}

const char *keyword_change_text(enum keyword_change change)
{
    switch (change) {
    case KEYWORD_CHANGE_NOTHING:
        return "nothing";
    case KEYWORD_CHANGE_WORKERS:
        return "new workers";
    case KEYWORD_CHANGE_RESTART:
        return "restart";
    }
    CHECK(!"a change");
    return "";
}

static const char *support_text(enum keyword_support support)
{
    switch (support) {
    case KEYWORD_SUPPORTED:
        return "yes";
    case KEYWORD_LATER:
        return "not yet";
    case KEYWORD_LATER_IGNORED:
        return "not yet, ignored";
    case KEYWORD_NEVER:
        return "no";
    }
    CHECK(!"a support");
    return "";
}

static void print_option(const struct keyword *keyword, struct strbuf *out)
{
    if (!keyword_is_option(keyword))
        return;
    if (keyword->letter != 0)
        strbuf_addf(out, "-%c, ", keyword->letter);
    strbuf_addf(out, "--%s", keyword->name);
    if (keyword->arg == KEYWORD_ARG_REQUIRED)
        strbuf_addf(out, "=%s", keyword->arg_name);
    else if (keyword->arg == KEYWORD_ARG_OPTIONAL)
        strbuf_addf(out, "[=%s]", keyword->arg_name);
}

void keyword_table_print(struct strbuf *out)
{
    static const char *const scope_names[SCOPE_COUNT] = {"top", "frontend", "pem"};

    for (size_t i = 0; i < KEYWORD_ROWS; i++) {
        const struct keyword *k = &keywords[i];
        const char *comma = "";

        strbuf_addf(out, "%s\t%s\t", k->name, k->alias == NULL ? "" : k->alias);
        for (size_t s = 0; s < SCOPE_COUNT; s++) {
            if (k->at[s] != KEYWORD_NOT_HERE) {
                strbuf_addf(out, "%s%s", comma, scope_names[s]);
                comma = ",";
            }
        }
        strbuf_addf(out, "\t%s\t%s\t", keyword_type_text(k->type), k->default_text == NULL ? "" : k->default_text);
        print_option(k, out);
        strbuf_addf(out, "\t%s\t%s\t%s\n", keyword_change_text(k->change), support_text(k->support), k->help);
    }
}

void keyword_later_print(struct strbuf *out)
{
    for (size_t i = 0; i < KEYWORD_ROWS; i++) {
        const struct keyword *k = &keywords[i];

        if (k->support != KEYWORD_LATER && k->support != KEYWORD_LATER_IGNORED)
            continue;
        strbuf_addf(out, "%s: %s", k->name, k->support == KEYWORD_LATER ? "refused" : "ignored with a warning");
        if (k->support_note != NULL)
            strbuf_addf(out, " (%s)", k->support_note);
        strbuf_adds(out, "\n");
    }
}
