#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "conf/parse.h"
#include "os/file.h"

enum { CONFIG_FILE_MAX_BYTES = 16 * 1024 * 1024 };

int options_parse(struct options *options, int argc, char *const argv[], struct error *errors)
{
    memset(options, 0, sizeof *options);
    return config_cli_parse(&options->cli, argc, argv, errors);
}

void options_clear(struct options *options)
{
    config_cli_clear(&options->cli);
    free(options->standard_input);
    memset(options, 0, sizeof *options);
}

static int load_file(struct options *options, const char *path, struct config *config, struct error *errors)
{
    static const struct place place = {.file = "command line"};
    bool is_standard_input = strcmp(path, "-") == 0;
    char *text = NULL;
    size_t length = 0;

    if (is_standard_input && options->standard_input != NULL)
        return config_parse_text(config, path, options->standard_input, options->standard_input_length, errors);
    if (file_read(path, FILE_ANY, CONFIG_FILE_MAX_BYTES, &text, &length, &place, errors) < 0)
        return -1;
    int result = config_parse_text(config, path, text, length, errors);
    if (is_standard_input) {
        options->standard_input = text;
        options->standard_input_length = length;
    } else {
        free(text);
    }
    return result;
}

/* Each step runs even when one before it has failed: the operator sees all faults in one run. */
int options_load(void *arg, struct config *config, struct error *errors)
{
    struct options *options = arg;
    int result = 0;

    for (size_t i = 0; i < options->cli.config_file_count; i++)
        result |= load_file(options, options->cli.config_files[i], config, errors);
    if (result < 0)
        config->is_faulty = true;
    result |= config_cli_apply(&options->cli, config, errors);
    result |= config_finish(config, errors);
    return result;
}
