/* What the operator is told about certificates and settings that cannot be used. */
#include "tls/tls_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "conf/keyword.h"
#include "tls/tls_lib.h"
#include "tls/tls_selfsigned.h"
#include "tls_pair.h"

static char directory[] = "/tmp/halter-tls-test-XXXXXX";
static char *pem_a; /* key and certificate of a.test */
static char *pem_b;
static struct test_site site;
static struct error errors;

static const char *const names_a[] = {"a.test"};
static const char *const names_b[] = {"b.test"};

static int make_all(void **state)
{
    char fingerprint[96];

    (void)state;
    tls_lib_init();
    error_init(&errors);
    assert_non_null(mkdtemp(directory));
    assert_int_equal(0, tls_selfsigned_make(&pem_a, fingerprint, names_a, 1, &errors));
    assert_int_equal(0, tls_selfsigned_make(&pem_b, fingerprint, names_b, 1, &errors));
    assert_int_equal(95, strlen(fingerprint));
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    free(pem_a);
    free(pem_b);
    return rmdir(directory);
}

static int set_up(void **state)
{
    (void)state;
    error_init(&errors);
    test_site_init(&site);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < site.config.pem_count; i++) {
        if (site.config.pems[i].cert != NULL)
            unlink(site.config.pems[i].cert);
        if (site.config.pems[i].private_key != NULL)
            unlink(site.config.pems[i].private_key);
    }
    test_site_clear(&site);
    error_clear(&errors);
    return 0;
}

static char *write_file(const char *name, const char *text)
{
    struct strbuf path = STRBUF_INIT;

    strbuf_addf(&path, "%s/%s", directory, name);
    FILE *file = fopen(path.data, "w");
    assert_non_null(file);
    assert_true(text[0] == '\0' || fwrite(text, strlen(text), 1, file) == 1);
    fclose(file);
    return strbuf_take(&path);
}

static void add_file(const char *name, const char *text, const char *key)
{
    struct config *config = &site.config;

    config->pems = mem_resize(config->pems, config->pem_count + 1, sizeof *config->pems);
    struct conf_pem *pem = &config->pems[config->pem_count++];
    memset(pem, 0, sizeof *pem);
    pem->cert = write_file(name, text);
    if (key != NULL) {
        char key_name[64];

        snprintf(key_name, sizeof key_name, "%s.key", name);
        pem->private_key = write_file(key_name, key);
    }
}

static bool build(void)
{
    struct tls_ticket_keys keys;

    assert_int_equal(0, tls_ticket_keys_make(&keys, &errors));
    site.server = tls_server_new(&site.config, &keys, &errors);
    return site.server != NULL;
}

static bool is_told(enum fault_kind kind, const char *file, const char *what)
{
    for (size_t i = 0; i < errors.count; i++)
        if (errors.faults[i].kind == kind && strstr(errors.faults[i].text, file) != NULL &&
            strstr(errors.faults[i].text, what) != NULL)
            return true;
    for (size_t i = 0; i < errors.count; i++)
        print_message("told: %s\n", errors.faults[i].text);
    return false;
}

static const char *certificate_of(const char *pem)
{
    return strstr(pem, "-----BEGIN CERTIFICATE-----");
}

static void test_good_files(void **state)
{
    (void)state;
    add_file("a.pem", pem_a, NULL);
    add_file("b.pem", certificate_of(pem_b), pem_b); /* the key in a file of its own */
    assert_true(build());
    assert_int_equal(0, errors.count);
}

static void test_all_faults_of_all_files_in_one_run(void **state)
{
    (void)state;
    add_file("empty.pem", "", NULL);
    add_file("nokey.pem", certificate_of(pem_a), NULL);
    add_file("mixed.pem", certificate_of(pem_a), pem_b);
    add_file("text.pem", "this is no PEM file\n", NULL);
    add_file("good.pem", pem_a, NULL);
    add_file("gone.pem", pem_a, NULL);
    unlink(site.config.pems[5].cert);
    assert_false(build());
    assert_true(is_told(FAULT_ERROR, "empty.pem", "no certificate"));
    assert_true(is_told(FAULT_ERROR, "empty.pem", "no private key"));
    assert_true(is_told(FAULT_ERROR, "nokey.pem", "no private key"));
    assert_true(is_told(FAULT_ERROR, "mixed.pem", "does not belong"));
    assert_true(is_told(FAULT_ERROR, "text.pem", "no certificate"));
    assert_true(is_told(FAULT_ERROR, "gone.pem", "No such file"));
    for (size_t i = 0; i < errors.count; i++)
        assert_null(strstr(errors.faults[i].text, "good.pem"));
}

static void test_cut_off_certificate(void **state)
{
    (void)state;
    char *cut = mem_strdup(pem_a);

    strstr(cut, "-----END CERTIFICATE-----")[-40] = '\0';
    add_file("cut.pem", cut, NULL);
    assert_false(build());
    assert_true(is_told(FAULT_ERROR, "cut.pem", "cannot be read"));
    free(cut);
}

static void test_damaged_chain(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text, "%s-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", pem_a);
    add_file("chain.pem", text.data, NULL);
    assert_false(build());
    assert_true(is_told(FAULT_ERROR, "chain.pem", "certificate 2 of its chain"));
    strbuf_clear(&text);
}

static void test_encrypted_key_says_what_to_do(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text,
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
                "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiIrNuc8MQZ2QICCAAw\n"
                "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEDFFSvTKpDwEsDPMxcvPWQIEgZCq\n"
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==\n"
                "-----END ENCRYPTED PRIVATE KEY-----\n%s",
                certificate_of(pem_a));
    add_file("locked.pem", text.data, NULL);
    assert_false(build());
    assert_true(is_told(FAULT_ERROR, "locked.pem", "private key"));
    strbuf_clear(&text);
}

static void test_duplicate_names_are_warned_about(void **state)
{
    (void)state;
    add_file("first.pem", pem_a, NULL);
    add_file("second.pem", pem_a, NULL);
    assert_true(build());
    assert_true(is_told(FAULT_WARNING, "second.pem", "a.test is in"));
}

static void test_settings_that_the_library_refuses(void **state)
{
    (void)state;
    struct conf_frontend *frontend = &site.config.frontends[0];

    add_file("a.pem", pem_a, NULL);
    mem_replace(&frontend->tls.ciphers, "NOPE");
    mem_replace(&frontend->tls.ciphersuites, "TLS_NOPE");
    mem_replace(&frontend->tls.ecdh_curve, "curve-of-doom");
    assert_false(build());
    assert_true(is_told(FAULT_ERROR, "ciphers", "NOPE"));
    assert_true(is_told(FAULT_ERROR, "ciphersuites", "TLS_NOPE"));
    assert_true(is_told(FAULT_ERROR, "ecdh-curve", "curve-of-doom"));
}

/* Of the frontend, else of the top level, else of the frontend itself; and no word on a reason where there is none. */
static void test_place_of_a_refused_setting(void **state)
{
    (void)state;
    static const struct place of_frontend = {"x.conf", 1, 1}, of_ciphers = {"x.conf", 2, 3};
    static const struct place of_groups = {.file = "command line"};
    struct config *config = &site.config;
    struct conf_frontend *frontend = &config->frontends[0];

    add_file("a.pem", pem_a, NULL);
    frontend->place = of_frontend;
    conf_marks_set(&frontend->marks, keyword_find("ciphers", 7), &of_ciphers);
    conf_marks_set(&config->marks, keyword_find("ciphers", 7), &of_groups);
    conf_marks_set(&config->marks, keyword_find("ecdh-curve", 10), &of_groups);
    mem_replace(&frontend->tls.ciphers, "NOPE");
    mem_replace(&frontend->tls.ciphersuites, "TLS_NOPE");
    mem_replace(&frontend->tls.ecdh_curve, "curve-of-doom");
    assert_false(build());
    assert_true(is_told(FAULT_ERROR, "x.conf:2:3: ciphers", "NOPE"));
    assert_true(is_told(FAULT_ERROR, "x.conf:1:1: ciphersuites", "TLS_NOPE"));
    assert_true(is_told(FAULT_ERROR, "command line: ecdh-curve = \"curve-of-doom\"", "refused by the TLS library"));
    for (size_t i = 0; i < errors.count; i++)
        assert_null(strstr(errors.faults[i].text, "no reason"));
}

static void test_frontend_without_any_certificate(void **state)
{
    (void)state;
    assert_false(build());
    assert_true(is_told(FAULT_ERROR, "frontend", "no x509 certificate"));
}

static void test_pem_dir(void **state)
{
    (void)state;
    struct strbuf path = STRBUF_INIT;
    char *first = write_file("10-b.pem", pem_b);
    char *second = write_file("20-a.pem", pem_a);
    char *dot = write_file(".hidden.pem", "left by an editor");
    char *other = write_file("README", "not a certificate");
    struct tls_pair pair;

    strbuf_addf(&path, "%s/", directory);
    site.config.pem_dir = strbuf_take(&path);
    site.config.pem_dir_glob = mem_strdup("*.pem");
    assert_true(build());
    pair_init(&pair, tls_server_site(site.server, 0));
    assert_true(pair_handshake(&pair));
    char *served = pair_served_name(&pair);
    assert_string_equal("b.test", served); /* without a pem-file the first one is the default */
    free(served);
    pair_clear(&pair);
    unlink(first);
    unlink(second);
    unlink(dot);
    unlink(other);
    free(first);
    free(second);
    free(dot);
    free(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_good_files),
        TEST(test_all_faults_of_all_files_in_one_run),
        TEST(test_cut_off_certificate),
        TEST(test_damaged_chain),
        TEST(test_encrypted_key_says_what_to_do),
        TEST(test_duplicate_names_are_warned_about),
        TEST(test_settings_that_the_library_refuses),
        TEST(test_place_of_a_refused_setting),
        TEST(test_frontend_without_any_certificate),
        TEST(test_pem_dir),
    };

    return cmocka_run_group_tests(tests, make_all, remove_all);
}
