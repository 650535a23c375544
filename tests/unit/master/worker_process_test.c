#include "worker_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A worker that is only a channel; the test is at its other end. */
static struct worker_process worker;
static int other;

static int set_up(void **state)
{
    int ends[2];

    (void)state;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0)
        return -1;
    worker_process_init(&worker, 0, NULL, NULL);
    worker.control_fd = ends[0];
    other = ends[1];
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(worker.control_fd);
    if (other >= 0)
        close(other);
    return 0;
}

static enum worker_news receive(struct control_message *message)
{
    static uint8_t packet[CONTROL_PACKET_MAX];

    return worker_process_receive(&worker, packet, message);
}

static void say(const void *bytes, size_t size)
{
    assert_int_equal(send(other, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
}

/* Each packet of nonsense is reported by itself, so that whoever counts them can stop. */
static void test_nonsense_between_messages(void **state)
{
    (void)state;
    static char long_one[2 * CONTROL_PACKET_MAX];
    struct control_message message;

    assert_int_equal(receive(&message), WORKER_IS_SILENT);
    say("\0", 1);
    say("\377\377\377", 3);
    say("\1\0too much", 10);
    say("\2\7severity", 10);
    say(long_one, sizeof long_one);
    say("\2\0hello", 7);
    for (int i = 0; i < 5; i++)
        assert_int_equal(receive(&message), WORKER_BABBLED);
    assert_int_equal(receive(&message), WORKER_SPOKE);
    assert_int_equal(message.type, CONTROL_LOG);
    assert_int_equal(message.length, 5);
    assert_memory_equal(message.text, "hello", 5);
    assert_int_equal(receive(&message), WORKER_IS_SILENT);
    close(other);
    other = -1;
    assert_int_equal(receive(&message), WORKER_HUNG_UP);
}

static int count_descriptors(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");

    if (directory == NULL)
        return 0;
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

/* A hostile worker can hand descriptors over until the master has none left, or could if they were taken. */
static void test_descriptors_are_not_taken(void **state)
{
    (void)state;
    char text[] = "\2\0x", room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {.iov_base = text, .iov_len = 3};
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *control = CMSG_FIRSTHDR(&header);
    struct control_message message;
    int before = count_descriptors();

    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(control), &other, sizeof other);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(sendmsg(other, &header, MSG_NOSIGNAL), 3);
        assert_int_equal(receive(&message), WORKER_SPOKE);
    }
    assert_int_equal(count_descriptors(), before);
}

/* The pid stays until the caller has read what the dead one has left. */
static void test_reap_keeps_the_pid(void **state)
{
    (void)state;
    int status = -1;

    assert_false(worker_process_reap(&worker, &status));
    pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    worker.pid = pid;
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(worker_process_reap(&worker, &status));
    assert_int_equal(worker.pid, pid);
    char text[64];
    assert_string_equal(worker_process_status_text(status, text, sizeof text), "status=3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nonsense_between_messages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_descriptors_are_not_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reap_keeps_the_pid, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
