/*
 * demo.h: `halter demo`: halter with a certificate made on the spot in front of a small HTTP server of its own.
 *
 *     demo_run -> [ fork: demo_backend_run ]
 *              -> master_run -> load_demo_config, print_invitation
 *
 * Needs no file, no network but the loopback interface, no privileges; started as root, it gives them up.
 */
#ifndef HALTER_SRC_MAIN_DEMO_H
#define HALTER_SRC_MAIN_DEMO_H

/* argv[0] is "demo", options follow. Runs until it is told to stop; returns the exit status of the process. */
int demo_run(int argc, char *const argv[]) __attribute__((warn_unused_result));

#endif
