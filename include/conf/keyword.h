/*
 * keyword.h: the one table of everything that the operator can say.
 *
 * One row per keyword. From the row come: parsing of files and of the command line, defaults, inheritance,
 * --print-config, --help, and the check of the manual. Not for: the values themselves (conf/config.h), nor how text
 * becomes a value (src/conf/value.h).
 *
 *     for (size_t i = 0; i < keyword_count(); i++)
 *         use(keyword_at(i)->name, keyword_at(i)->help);
 *
 * Invariants: names, aliases and letters are unique; `name = example` is valid where the keyword may stand; the rows of
 * one group stand together.
 */
#ifndef HALTER_CONF_KEYWORD_H
#define HALTER_CONF_KEYWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* X(name, word): the kinds of value, and the word for it in the table's text. */
#define KEYWORD_TYPES(X)                                                                                               \
    X(BOOL, "switch")            /* bool */                                                                            \
    X(UINT, "number")            /* unsigned */                                                                        \
    X(INT, "number")             /* int */                                                                             \
    X(WORKERS, "number or auto") /* unsigned */                                                                        \
    X(STRING, "text")            /* char *; "" leaves it alone */                                                      \
    X(PATH, "path")              /* char *; "" leaves it alone */                                                      \
    X(PATH_OR_NONE, "path")      /* char *; "" makes it NULL */                                                        \
    X(DIRECTORY, "path")         /* char * with a '/' at the end; "" makes it NULL */                                  \
    X(STRING_OR_AUTO, "text")    /* char *; "auto" makes it NULL */                                                    \
    X(ALPN, "list")              /* char *, normalised */                                                              \
    X(FACILITY, "word")          /* char *, one of syslog's facilities */                                              \
    X(PROTOCOLS, "list")         /* set of enum tls_version_bit */                                                     \
    X(PROTOCOLS_TLS, "switch")   /* the same, all of TLS 1.0 to 1.3 */                                                 \
    X(PROTOCOLS_SSL, "switch")   /* the same, and SSLv3 once upon a time */                                            \
    X(CLIENT_VERIFY, "word")     /* enum client_verify */                                                              \
    X(QUIET, "switch")           /* the log level 0 or 1 */                                                            \
    X(FRONTEND, "endpoint")      /* adds a struct conf_frontend */                                                     \
    X(BACKEND, "endpoint")       /* struct conf_backend */                                                             \
    X(REDIRECT, "endpoint")      /* struct conf_backend; "" makes it nothing */                                        \
    X(PEM_FILE, "path")          /* adds a struct conf_pem */                                                          \
    X(HOST, "host")              /* char *; NULL for all addresses */                                                  \
    X(PORT, "port")              /* char * */                                                                          \
    X(ENDPOINT, "endpoint")      /* char *, text as given */                                                           \
    X(ENDPOINT_LIST, "endpoint") /* char **, text as given; adds one */                                                \
    X(IGNORED, "number")         /* accepted, means nothing */                                                         \
    X(ACTION, "-")               /* command line only: does not end up in the configuration */

enum keyword_type {
#define X(name, word) KEYWORD_##name,
    KEYWORD_TYPES(X)
#undef X
};

/* X(name, heading of --help) */
#define KEYWORD_GROUPS(X)                                                                                              \
    X(CONFIGURATION, "Configuration")                                                                                  \
    X(SOCKETS, "Sockets")                                                                                              \
    X(TIMEOUTS, "Timeouts")                                                                                            \
    X(TLS, "TLS")                                                                                                      \
    X(BACKEND_INFO, "What the backend is told")                                                                        \
    X(HTTP, "HTTP mode (only in halter-http and halter-http-jem)")                                                     \
    X(PERFORMANCE, "Performance")                                                                                      \
    X(SECURITY, "Security")                                                                                            \
    X(LOGGING, "Logging")                                                                                              \
    X(PROCESS, "Process")                                                                                              \
    X(OCSP, "OCSP stapling")                                                                                           \
    X(CACHE, "Shared session cache")

enum keyword_group {
#define X(name, heading) KEYWORD_GROUP_##name,
    KEYWORD_GROUPS(X)
#undef X
};

/* Where a record can stand. */
enum keyword_scope {
    SCOPE_TOP,
    SCOPE_FRONTEND,
    SCOPE_PEM,
};

enum { SCOPE_COUNT = 3, KEYWORD_NOT_HERE = -1 };

enum keyword_arg {
    KEYWORD_NO_OPTION,    /* no command line form */
    KEYWORD_ARG_NONE,     /* --name */
    KEYWORD_ARG_OPTIONAL, /* --name or --name=value; the letter takes none */
    KEYWORD_ARG_REQUIRED, /* --name=value, --name value, -n value, -nvalue */
};

/* What a running halter must do when the value has changed. */
enum keyword_change {
    KEYWORD_CHANGE_NOTHING, /* the master alone takes it up */
    KEYWORD_CHANGE_WORKERS, /* a reload (new workers) takes it up */
    KEYWORD_CHANGE_RESTART, /* only a restart does */
};

/* Does the program do yet what the keyword says? Matters only for a value other than the default. */
enum keyword_support {
    KEYWORD_SUPPORTED,
    KEYWORD_LATER,         /* error "not supported yet" */
    KEYWORD_LATER_IGNORED, /* warning: it is only an optimisation, or hitch itself goes on without */
    KEYWORD_NEVER,         /* error, with the reason */
};

enum keyword_flag {
    KEYWORD_HITCH_OPTION = 1u << 0, /* hitch has this long option: an abbreviation prefers it */
    KEYWORD_LAX = 1u << 1,          /* hitch ignores a wrong argument of this option */
    KEYWORD_CLAMP = 1u << 2,        /* more than max is a warning, and means max */
    KEYWORD_HIDDEN = 1u << 3,       /* not in --help */
    KEYWORD_REPEATS = 1u << 4,      /* each record adds one */
};

struct keyword {
    const char *name;
    const char *alias; /* another spelling of it, in files and as an option; NULL */
    enum keyword_group group;
    enum keyword_type type;
    int at[SCOPE_COUNT]; /* offset in struct config, conf_frontend, conf_pem; KEYWORD_NOT_HERE */
    const char *same_as; /* the keyword that this is another form of, which has value, mark and print; NULL */
    enum keyword_arg arg;
    char letter; /* 0: none */
    const char *arg_name;
    int64_t min; /* numbers */
    int64_t max;
    const char *default_text; /* as in a file, without quotes; "" is unset; NULL: no default */
    const char *example;      /* likewise */
    enum keyword_change change;
    enum keyword_support support;
    const char *support_note; /* "why, and what happens instead"; NULL */
    unsigned flags;           /* set of enum keyword_flag */
    const char *help;         /* one line, without the default */
};

size_t keyword_count(void);
const struct keyword *keyword_at(size_t index); /* index < keyword_count() */

/* By name or alias, exactly; NULL when there is none. */
const struct keyword *keyword_find(const char *name, size_t length);

/* The row that holds the value: keyword itself, or the one that it is the same as. */
const struct keyword *keyword_holder(const struct keyword *keyword);

bool keyword_is_option(const struct keyword *keyword);

/* The keyword or alias most like word among those that may stand in scope; NULL when none is like it. */
const char *keyword_suggest(const char *word, size_t length, enum keyword_scope scope);

/* The option name (without "--") most like word; NULL when none is like it. */
const char *keyword_suggest_option(const char *word, size_t length);

/* "at the top level, in a frontend block or in a pem-file block", as far as it applies. */
void keyword_scopes_print(const struct keyword *keyword, struct strbuf *out);

const char *keyword_type_text(enum keyword_type type);
const char *keyword_group_text(enum keyword_group group);
const char *keyword_change_text(enum keyword_change change);

/*
 * The table as text, one line per keyword, fields separated by tabs:
 * name, alias, where ("top,frontend,pem"), type, default, option ("-b, --backend=ADDRESS"), change, support, help.
 * For checking the manual against it.
 */
void keyword_table_print(struct strbuf *out);

/* One line "name: note" for each keyword whose capability comes later. For the README. */
void keyword_later_print(struct strbuf *out);

#endif
