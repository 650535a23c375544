#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct item {
    char name;
    struct list link;
};

/* The names, forwards; checks that the way back is the same. */
static void check_names(const struct list *head, const char *expected)
{
    size_t length = strlen(expected);
    const struct list *link = head;

    for (size_t i = 0; i < length; i++) {
        link = link->next;
        assert_int_equal(LIST_ITEM(link, struct item, link)->name, expected[i]);
    }
    assert_ptr_equal(link->next, head);
    link = head;
    for (size_t i = length; i > 0; i--) {
        link = link->previous;
        assert_int_equal(LIST_ITEM(link, struct item, link)->name, expected[i - 1]);
    }
    assert_ptr_equal(link->previous, head);
    assert_int_equal(list_is_empty(head), length == 0);
}

static void test_append_and_remove(void **state)
{
    (void)state;
    struct item a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'};
    struct list head;

    list_init(&head);
    check_names(&head, "");
    list_append(&head, &a.link);
    list_append(&head, &b.link);
    list_append(&head, &c.link);
    check_names(&head, "abc");
    list_remove(&b.link);
    check_names(&head, "ac");
    list_remove(&b.link); /* twice is fine */
    check_names(&head, "ac");
    assert_true(list_is_empty(&b.link));
    list_append(&head, &b.link);
    check_names(&head, "acb");
    list_remove(&a.link);
    list_remove(&b.link);
    list_remove(&c.link);
    check_names(&head, "");
}

static void test_move_all(void **state)
{
    (void)state;
    struct item a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'}, d = {.name = 'd'};
    struct list to, from;

    list_init(&to);
    list_init(&from);
    list_move_all(&to, &from);
    check_names(&to, "");
    list_append(&from, &a.link);
    list_append(&from, &b.link);
    list_move_all(&to, &from);
    check_names(&to, "ab");
    check_names(&from, "");
    list_append(&from, &c.link);
    list_append(&from, &d.link);
    list_move_all(&to, &from);
    check_names(&to, "abcd");
    check_names(&from, "");
    list_move_all(&to, &from);
    check_names(&to, "abcd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append_and_remove),
        cmocka_unit_test(test_move_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
