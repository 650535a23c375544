"""The harness itself: nothing that a test starts outlives it."""

import os
import subprocess
import sys
from pathlib import Path

from harness import reaper
from harness.wait import wait_gone

DAEMON = ["sh", "-c", "setsid sleep 600 >/dev/null & echo $!"]  # in a session of its own, and its parent has ended

RUN = """
import subprocess, sys
sys.path.insert(0, sys.argv[1])
from harness import reaper
kept = reaper.start()
print(subprocess.check_output(sys.argv[2:], stderr=subprocess.DEVNULL).decode(), flush=True)
sys.stdin.read()
"""


def start_daemon():
    with subprocess.Popen(DAEMON, stdout=subprocess.PIPE) as shell:
        return int(shell.stdout.readline())


def test_daemons_of_a_test_are_found_by_their_mark(monkeypatch):
    monkeypatch.setenv(reaper.TEST_MARK, os.urandom(8).hex())
    mine = start_daemon()
    monkeypatch.setenv(reaper.TEST_MARK, os.urandom(8).hex())
    other = start_daemon()
    (line,) = reaper.end_marked(reaper.TEST_MARK, os.environ[reaper.TEST_MARK])
    assert line.startswith("%d: " % other)
    wait_gone([other])
    os.kill(mine, 9)
    wait_gone([mine])


def test_daemons_of_a_killed_run_are_ended():
    run = [sys.executable, "-c", RUN, str(Path(__file__).parent), *DAEMON]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pid = int(process.stdout.readline())
        process.kill()
        wait_gone([pid])
