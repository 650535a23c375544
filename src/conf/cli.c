#include "conf/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text.h"
#include "value.h"

/* argv, while it is read */
struct arguments {
    struct config_cli *cli;
    struct error *error;
    char *const *argv;
    int count;
    int at; /* the argument being read */
};

static const struct place command_line = {.file = "command line", .line = 0, .col = 0};

static void append(char ***list, size_t *count, const char *text)
{
    *list = mem_resize(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = mem_strdup(text);
}

static void set_action(struct config_cli *cli, enum cli_action action)
{
    switch (cli->action) {
    case CLI_VERSION:
    case CLI_HELP:
    case CLI_USAGE:
        return;
    case CLI_PRINT_CONFIG:
        if (action == CLI_TEST)
            return;
        break;
    case CLI_RUN:
    case CLI_TEST:
        break;
    }
    cli->action = action;
}

static void take_action(struct config_cli *cli, const struct keyword *keyword, const char *value)
{
    static const struct {
        const char *name;
        enum cli_action action;
    } actions[] = {
        {"test", CLI_TEST}, {"version", CLI_VERSION}, {"help", CLI_HELP}, {"print-config", CLI_PRINT_CONFIG}};

    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(keyword->name, actions[i].name) == 0)
            set_action(cli, actions[i].action);
    }
    if (strcmp(keyword->name, "config") == 0)
        append(&cli->config_files, &cli->config_file_count, *value == '\0' ? "-" : value);
}

/* value NULL: the option stood alone, which is "on" for a switch. */
static void take_option(struct config_cli *cli, const struct keyword *keyword, const char *value)
{
    if (keyword->type == KEYWORD_ACTION) {
        take_action(cli, keyword, value);
        return;
    }
    cli->settings = mem_resize(cli->settings, cli->setting_count + 1, sizeof *cli->settings);
    cli->settings[cli->setting_count++] = (struct config_cli_setting){
        .keyword = keyword, .value = mem_strdup(value == NULL ? "on" : value)};
}

static void fail_argument(struct arguments *a, const struct keyword *keyword, const char *shown)
{
    error_add(a->error, &command_line, "option '%s' needs an argument: %s", shown, keyword->arg_name);
}

static bool is_prefix(const char *name, const char *word, size_t length)
{
    return name != NULL && strncmp(name, word, length) == 0;
}

/* How many options the beginning of a name may stand for; *found is the last of them. */
static size_t count_abbreviated(const char *word, size_t length, unsigned flags, const struct keyword **found)
{
    size_t count = 0;

    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (!keyword_is_option(keyword) || (keyword->flags & flags) != flags)
            continue;
        if (is_prefix(keyword->name, word, length) || is_prefix(keyword->alias, word, length)) {
            *found = keyword;
            count++;
        }
    }
    return count;
}

static void fail_ambiguous(struct arguments *a, const char *word, size_t length, const char *shown)
{
    struct strbuf names = STRBUF_INIT;

    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (keyword_is_option(keyword) &&
            (is_prefix(keyword->name, word, length) || is_prefix(keyword->alias, word, length)))
            strbuf_addf(&names, " --%s", keyword->name);
    }
    error_add(a->error, &command_line, "option '--%s' is ambiguous; it may be one of%s", shown, names.data);
    strbuf_clear(&names);
}

static const struct keyword *find_long(struct arguments *a, const char *word, size_t length)
{
    char shown[EXCERPT_MAX];
    const struct keyword *keyword = keyword_find(word, length);

    if (keyword != NULL && keyword_is_option(keyword))
        return keyword;
    text_excerpt(shown, word, length);
    if (keyword != NULL) {
        struct strbuf scopes = STRBUF_INIT;

        keyword_scopes_print(keyword, &scopes);
        error_add(a->error, &command_line, "'%s' is no option: it stands %s of a configuration file", shown,
                  scopes.data);
        strbuf_clear(&scopes);
        return NULL;
    }
    size_t matches = length == 0 ? 0 : count_abbreviated(word, length, 0, &keyword);
    if (matches == 1 || (matches > 1 && count_abbreviated(word, length, KEYWORD_HITCH_OPTION, &keyword) == 1))
        return keyword;
    if (matches > 1) {
        fail_ambiguous(a, word, length, shown);
        return NULL;
    }
    const char *likely = keyword_suggest_option(word, length);
    if (likely != NULL)
        error_add(a->error, &command_line, "unknown option '--%s': did you mean '--%s'?", shown, likely);
    else
        error_add(a->error, &command_line, "unknown option '--%s'", shown);
    return NULL;
}

/* The next argument as the value of an option; NULL when there is none. */
static const char *next_argument(struct arguments *a)
{
    return a->at + 1 < a->count ? a->argv[++a->at] : NULL;
}

/* word is what follows "--" */
static void read_long(struct arguments *a, const char *word)
{
    const char *equal = strchr(word, '=');
    const char *value = equal == NULL ? NULL : equal + 1;
    const struct keyword *keyword = find_long(a, word, equal == NULL ? strlen(word) : (size_t)(equal - word));
    char shown[EXCERPT_MAX];

    if (keyword == NULL)
        return;
    text_excerpt(shown, word - 2, strlen(word - 2));
    switch (keyword->arg) {
    case KEYWORD_ARG_NONE:
        if (value != NULL) {
            error_add(a->error, &command_line, "option '--%s' takes no argument", keyword->name);
            return;
        }
        break;
    case KEYWORD_ARG_REQUIRED:
        if (value == NULL)
            value = next_argument(a);
        if (value == NULL) {
            fail_argument(a, keyword, shown);
            return;
        }
        break;
    case KEYWORD_ARG_OPTIONAL:
    case KEYWORD_NO_OPTION:
        break;
    }
    take_option(a->cli, keyword, value);
}

static const struct keyword *find_letter(char letter)
{
    for (size_t i = 0; i < keyword_count(); i++) {
        if (keyword_at(i)->letter == letter)
            return keyword_at(i);
    }
    return NULL;
}

/* letters is what follows "-": one or more options, the last of which may be followed by its argument */
static void read_letters(struct arguments *a, const char *letters)
{
    for (const char *p = letters; *p != '\0'; p++) {
        const struct keyword *keyword = find_letter(*p);
        char shown[EXCERPT_MAX], all[EXCERPT_MAX];

        if (keyword == NULL) {
            error_add(a->error, &command_line, "unknown option '-%s' in '-%s'", text_excerpt(shown, p, 1),
                      text_excerpt(all, letters, strlen(letters)));
            return;
        }
        if (keyword->arg != KEYWORD_ARG_REQUIRED) {
            take_option(a->cli, keyword, NULL);
            continue;
        }
        const char *value = p[1] != '\0' ? p + 1 : next_argument(a);
        if (value == NULL) {
            char option[] = {'-', *p, '\0'};

            fail_argument(a, keyword, option);
            return;
        }
        take_option(a->cli, keyword, value);
        return;
    }
}

int config_cli_parse(struct config_cli *cli, int argc, char *const argv[], struct error *error)
{
    struct arguments a = {.cli = cli, .error = error, .argv = argv, .count = argc, .at = 1};
    size_t errors_before = error->error_count;
    bool has_ended = false;

    memset(cli, 0, sizeof *cli);
    cli->action = argc <= 1 ? CLI_USAGE : CLI_RUN;
    for (; a.at < a.count; a.at++) {
        const char *argument = argv[a.at];

        if (has_ended || argument[0] != '-' || argument[1] == '\0')
            append(&cli->pem_files, &cli->pem_file_count, argument);
        else if (strcmp(argument, "--") == 0)
            has_ended = true;
        else if (argument[1] == '-')
            read_long(&a, argument + 2);
        else
            read_letters(&a, argument + 1);
    }
    return error->error_count == errors_before ? 0 : -1;
}

static bool is_all_protocols(const struct config_cli_setting *setting)
{
    return setting->keyword->type == KEYWORD_PROTOCOLS_TLS || setting->keyword->type == KEYWORD_PROTOCOLS_SSL;
}

static bool has_option(const struct config_cli *cli, enum keyword_type type)
{
    for (size_t i = 0; i < cli->setting_count; i++) {
        if (cli->settings[i].keyword->type == type)
            return true;
    }
    return false;
}

/* hitch's rules for --tls and --ssl. */
static void check_all_protocols(const struct config_cli *cli, const struct config *config, struct error *error)
{
    bool has_tls = has_option(cli, KEYWORD_PROTOCOLS_TLS), has_ssl = has_option(cli, KEYWORD_PROTOCOLS_SSL);
    const struct place *chosen = conf_marks_find(&config->marks, keyword_find("tls-protos", 10));

    if (has_tls && has_ssl)
        error_add(error, &command_line, "--tls and --ssl are mutually exclusive");
    if ((has_tls || has_ssl) && chosen != NULL)
        error_add(error, &command_line,
                  "the deprecated options --tls and --ssl cannot override tls-protos of a configuration file (%s:%u); "
                  "use --tls-protos",
                  chosen->file, chosen->line);
    if ((has_tls || has_ssl) && has_option(cli, KEYWORD_PROTOCOLS))
        error_warn(error, &command_line, "--%s overrides --tls-protos, as in hitch; remove it",
                   has_tls ? "tls" : "ssl");
}

int config_cli_apply(const struct config_cli *cli, struct config *config, struct error *error)
{
    struct value_target target = {.scope = SCOPE_TOP, .config = config, .is_option = true};
    struct place place = config_place(config, command_line.file, 0, 0);
    const struct keyword *pem_file = keyword_find("pem-file", 8);
    size_t errors_before = error->error_count;
    int failures = 0;

    check_all_protocols(cli, config, error);
    for (int pass = 0; pass < 2; pass++) { /* --tls and --ssl last, as in hitch */
        for (size_t i = 0; i < cli->setting_count; i++) {
            const struct config_cli_setting *setting = &cli->settings[i];

            if (is_all_protocols(setting) == (pass == 1))
                failures += value_set(&target, setting->keyword, setting->value, &place, error);
        }
    }
    for (size_t i = 0; i < cli->pem_file_count; i++)
        failures += value_set(&target, pem_file, cli->pem_files[i], &place, error);
    if (failures == 0 && error->error_count == errors_before)
        return 0;
    config->is_faulty = true;
    return -1;
}

static void clear_list(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

void config_cli_clear(struct config_cli *cli)
{
    for (size_t i = 0; i < cli->setting_count; i++)
        free(cli->settings[i].value);
    free(cli->settings);
    clear_list(cli->config_files, cli->config_file_count);
    clear_list(cli->pem_files, cli->pem_file_count);
    memset(cli, 0, sizeof *cli);
}
