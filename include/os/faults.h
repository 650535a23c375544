/*
 * faults.h: shows the operator the faults of a struct error, each once.
 */
#ifndef HALTER_OS_FAULTS_H
#define HALTER_OS_FAULTS_H

#include "base/error.h"

/* "halter: error: file:line:col: text" (or "halter: warning: ...") for each, on standard error. */
void faults_print(const struct error *errors);

/* One log event "event=fault" (or "event=warning") for each. */
void faults_log(const struct error *errors);

#endif
