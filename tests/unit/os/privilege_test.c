#include "os/privilege.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char passwd_file[64] = "/tmp/halter-passwd-test.XXXXXX";
static char group_file[64] = "/tmp/halter-group-test.XXXXXX";

static int write_file(char *path, const char *text)
{
    int fd = mkstemp(path);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        return -1;
    return close(fd);
}

static int set_up(void **state)
{
    (void)state;
    if (write_file(passwd_file, "root:x:0:0:root:/root:/bin/sh\n"
                                "# a comment\n"
                                "web:x:1001:2001::/:/bin/false\n"
                                "broken line\n"
                                "4711:x:5:6::/:/bin/false\n"
                                "last:x:1002:2002::/:\n") < 0)
        return -1;
    return write_file(group_file, "root:x:0:\nweb:x:2001:web\nssl:x:2003:a,b\n");
}

static int tear_down(void **state)
{
    (void)state;
    unlink(passwd_file);
    unlink(group_file);
    return 0;
}

static struct privileges find(const char *user, const char *group)
{
    struct privileges who;
    struct error errors = ERROR_INIT;

    assert_int_equal(privileges_find_in(passwd_file, group_file, user, NULL, group, NULL, &who, &errors), 0);
    assert_int_equal(errors.count, 0);
    return who;
}

static void expect_fault(const char *user, const char *group, const char *text)
{
    struct privileges who;
    struct error errors = ERROR_INIT;

    assert_int_equal(privileges_find_in(passwd_file, group_file, user, NULL, group, NULL, &who, &errors), -1);
    assert_non_null(strstr(errors.faults[0].text, text));
    error_clear(&errors);
}

static void test_names(void **state)
{
    (void)state;
    struct privileges who = find("web", NULL);

    assert_true(who.has_user && who.has_group);
    assert_int_equal(who.uid, 1001);
    assert_int_equal(who.gid, 2001);
    who = find("last", "ssl");
    assert_int_equal(who.uid, 1002);
    assert_int_equal(who.gid, 2003);
    who = find(NULL, "ssl");
    assert_false(who.has_user);
    assert_true(who.has_group);
    assert_int_equal(who.gid, 2003);
    who = find(NULL, NULL);
    assert_false(who.has_user || who.has_group);
    who = find("root", NULL);
    assert_int_equal(who.uid, 0);
    assert_int_equal(who.gid, 0);
}

static void test_numbers(void **state)
{
    (void)state;
    struct privileges who = find("1001", NULL);

    assert_int_equal(who.uid, 1001);
    assert_int_equal(who.gid, 2001);
    who = find("4711", NULL); /* a name before a number */
    assert_int_equal(who.uid, 5);
    who = find("65534", "65533");
    assert_int_equal(who.uid, 65534);
    assert_int_equal(who.gid, 65533);
}

static void test_faults(void **state)
{
    (void)state;
    expect_fault("nobody-here", NULL, "nobody-here");
    expect_fault(NULL, "nogroup-here", "nogroup-here");
    expect_fault("65534", NULL, "set group as well");
    expect_fault("4294967295", "root", "4294967295");
    expect_fault("-1", NULL, "-1");
}

static void test_no_files(void **state)
{
    (void)state;
    struct privileges who;
    struct error errors = ERROR_INIT;

    assert_int_equal(privileges_find_in("/nonexistent", "/nonexistent", "7", NULL, "8", NULL, &who, &errors), 0);
    assert_int_equal(errors.count, 0);
    assert_int_equal(who.uid, 7);
    assert_int_equal(who.gid, 8);
    assert_int_equal(privileges_find_in("/nonexistent", "/nonexistent", "web", NULL, NULL, NULL, &who, &errors), -1);
    error_clear(&errors);
}

static void test_check(void **state)
{
    (void)state;
    struct privileges who = {.has_user = false};
    struct error errors = ERROR_INIT;

    if (geteuid() != 0)
        skip();
    assert_int_equal(privileges_check(&who, NULL, &errors), -1);
    who = (struct privileges){.has_group = true, .gid = 0};
    assert_int_equal(privileges_check(&who, NULL, &errors), -1);
    who = (struct privileges){.has_user = true, .has_group = true, .uid = 0, .gid = 5};
    assert_int_equal(privileges_check(&who, NULL, &errors), -1);
    who = (struct privileges){.has_user = true, .has_group = true, .uid = 0, .gid = 0};
    assert_int_equal(privileges_check(&who, NULL, &errors), 0);
    who = (struct privileges){.has_user = true, .has_group = true, .uid = 65534, .gid = 65534};
    assert_int_equal(privileges_check(&who, "/", &errors), 0);
    error_clear(&errors);
}

static int drop_in_child(void)
{
    struct privileges who = {.has_user = true, .has_group = true, .uid = 65534, .gid = 65533};
    struct error errors = ERROR_INIT;
    gid_t groups[4];

    if (privileges_drop(&who, "/tmp", &errors) < 0)
        return 1;
    if (geteuid() != 65534 || getegid() != 65533 || getgroups(4, groups) != 0)
        return 2;
    if (setuid(0) == 0 || setgid(0) == 0 || access("/etc/passwd", F_OK) == 0)
        return 3;
    return 0;
}

static void test_drop(void **state)
{
    (void)state;
    int status;

    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0)
        _exit(drop_in_child());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),    cmocka_unit_test(test_numbers), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_no_files), cmocka_unit_test(test_check),   cmocka_unit_test(test_drop),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
