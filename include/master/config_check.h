/*
 * config_check.h: does the file system agree with the configuration?
 *
 * For what config_finish() cannot know, being pure: chroot, backend socket, user and group, log file. Certificates are
 * not looked at here: tls_server_new() reads them and reports each by itself.
 */
#ifndef HALTER_MASTER_CONFIG_CHECK_H
#define HALTER_MASTER_CONFIG_CHECK_H

#include "base/error.h"
#include "conf/config.h"
#include "os/privilege.h"

/* All faults are added; 0 or -1. *who gets user and group as numbers. Opens nothing for good, changes nothing. */
int config_check(const struct config *config, struct privileges *who, struct error *errors)
    __attribute__((warn_unused_result));

/* Where keyword was given; a place without a file when it was not. */
struct place config_check_place(const struct config *config, const char *keyword);

#endif
