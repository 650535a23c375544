/*
 * list.h: an intrusive doubly linked list.
 *
 * A struct list is both the head and the link. list_init() makes it empty; a link that is in no list points to itself,
 * so that list_remove() may be called twice.
 *
 *     struct list conns;               list_init(&conns);
 *     list_append(&conns, &conn->link);
 *     struct conn *c = LIST_ITEM(conns.next, struct conn, link);
 */
#ifndef HALTER_BASE_LIST_H
#define HALTER_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next;
    struct list *previous;
};

#define LIST_ITEM(node, type, member) ((type *)(void *)((char *)(node) - offsetof(type, member)))

static inline void list_init(struct list *list)
{
    list->next = list;
    list->previous = list;
}

static inline bool list_is_empty(const struct list *list)
{
    return list->next == list;
}

static inline void list_append(struct list *list, struct list *link)
{
    link->previous = list->previous;
    link->next = list;
    list->previous->next = link;
    list->previous = link;
}

static inline void list_remove(struct list *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    list_init(link);
}

/* Moves all links of from to the end of to; from is empty afterwards. */
static inline void list_move_all(struct list *to, struct list *from)
{
    if (list_is_empty(from))
        return;
    from->next->previous = to->previous;
    from->previous->next = to;
    to->previous->next = from->next;
    to->previous = from->previous;
    list_init(from);
}

#endif
