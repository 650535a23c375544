/*
 * prepare.h: all that a configuration needs and that can fail, done before anything is changed.
 *
 * The first of the two phases of start and reload: read and check the configuration, look up users, resolve names, load
 * certificates. Every fault of every step is reported. No socket is bound here, so `halter -t` is just this.
 */
#ifndef HALTER_MASTER_PREPARE_H
#define HALTER_MASTER_PREPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "conf/config.h"
#include "master/listeners.h"
#include "os/pidfile.h"
#include "os/privilege.h"
#include "os/resolve.h"
#include "relay/filter.h"
#include "tls/tls_server.h"

/*
 * Fills an initialised config up to and with config_finish(), which is called also when there were faults before it (the
 * files that the rest names are then still checked). 0, or -1 with all faults added.
 */
typedef int load_config_function(void *arg, struct config *config, struct error *errors);

enum prepare_purpose {
    PREPARE_RUN,
    PREPARE_TEST, /* what only matters when running (not being root ...) is a warning */
};

struct prepared {
    struct config config;
    struct tls_server *server;
    struct resolved backends;
    struct listen_wanted *addresses; /* in order of the frontends */
    size_t address_count;
    const struct filter_ops *filter_ops; /* NULL: built without HTTP */
    struct filter_site **filter_sites;   /* for each frontend; NULL entries where it needs none */
    size_t filter_site_count;            /* one more than frontends: the last is that of http-redirect */
    struct privileges who;
    unsigned worker_count;
};

struct prepare_options {
    load_config_function *load;
    void *arg;
    const struct tls_ticket_keys *keys;
    const struct filter_ops *filter_ops; /* NULL: built without HTTP */
    enum prepare_purpose purpose;
    struct pidfile *pidfile; /* to be locked as the configuration says; NULL: that was done before, or is not wanted */
};

/*
 * NULL with all faults added when there is one; errors may hold warnings in either case. *log_is_faulty tells that the
 * log file cannot be opened: hitch's exit status for it is 2.
 */
struct prepared *prepared_new(const struct prepare_options *options, bool *log_is_faulty, struct error *errors)
    __attribute__((warn_unused_result));
void prepared_free(struct prepared *prepared); /* NULL is fine */

#endif
