"""Ends what a test leaves behind: daemons, and everything when the test's own process is killed.

Each process that a test starts inherits two marks in its environment, one for the run and one for the test, and keeps
them through fork, exec and setsid. So it can be told from any other halter on this machine.
"""

import os
import signal
import subprocess
import sys

RUN_MARK = "HALTER_E2E_RUN"
TEST_MARK = "HALTER_E2E_TEST"


def _marked(mark, value):
    """pid and pidfd of each live process with this mark, but ours; the pidfds are the caller's."""
    wanted = os.fsencode("%s=%s" % (mark, value))
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            pidfd = os.pidfd_open(int(entry))
        except OSError:
            continue
        try:
            with open("/proc/%s/environ" % entry, "rb") as environ:
                found = wanted in environ.read().split(b"\0")  # empty for a zombie
        except OSError:
            found = False
        if found:
            yield int(entry), pidfd
        else:
            os.close(pidfd)


def end_marked(mark, value):
    """Kills them, and what they have forked meanwhile. Returns the command lines of those that were there."""
    ended = {}
    while True:
        left = [(pid, pidfd) for pid, pidfd in _marked(mark, value)]
        for pid, pidfd in left:
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as cmdline:
                    ended[pid] = cmdline.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            except OSError:
                pass
            os.close(pidfd)
        if not left:
            return ["%d: %s" % item for item in sorted(ended.items())]


def start():
    """Marks this process's children to come; they are ended when this process is gone, however that came about."""
    run = "%d-%s" % (os.getpid(), os.urandom(8).hex())
    os.environ[RUN_MARK] = run
    environment = {name: value for name, value in os.environ.items() if name not in (RUN_MARK, TEST_MARK)}
    process = subprocess.Popen(
        [sys.executable, __file__, run], stdin=subprocess.PIPE, env=environment, start_new_session=True
    )
    return process.stdin  # to be kept open


if __name__ == "__main__":
    sys.stdin.buffer.read()  # until the test's process has gone
    end_marked(RUN_MARK, sys.argv[1])
