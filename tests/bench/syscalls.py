"""System calls, counted with strace: for one request, for a 16 MB download, and for one connection."""

import re
import shutil
import signal
import subprocess
import time
from collections import Counter

import measure
import processes
from workloads import MB, Workload

WAITS = {"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6"}
REQUESTS = 100
CONNECTIONS = 50

CASES = (
    # what, arguments of the load, operations
    ("one request of 5 bytes, kept alive", ("--mode", "request", "--size", 5, "--count", REQUESTS), REQUESTS),
    ("16 MB download, established connection", ("--mode", "request", "--size", 16 * MB, "--count", 1), 1),
    ("16 MB upload, established connection", ("--mode", "request", "--size", 5, "--post", 16 * MB, "--count", 1), 1),
    ("one connection: accept, full handshake, request, close", ("--mode", "connect", "--size", 5, "--count", CONNECTIONS), CONNECTIONS),
)
WHO = ("halter", "halter-http:on", "hitch", "nginx", "haproxy", "stunnel")


def _trace(running, path):
    command = ["strace", "-f", "-qq", "-o", str(path)]
    for pid in processes.family(running.process.pid):
        command += ["-p", str(pid)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    pids = processes.family(running.process.pid)

    def attached():
        for pid in pids:
            with open("/proc/%d/status" % pid) as status:
                if "TracerPid:\t0\n" in status.read():
                    return False
        return True

    processes.wait_until(attached, "strace", process)
    time.sleep(0.05)
    return process


def _count(path):
    counts = Counter()
    for line in path.read_text(errors="replace").split("\n"):
        found = re.match(r"(?:\d+ +)?(\w+)\(", line)  # "resumed" lines are the second half of one
        if found:
            counts[found.group(1)] += 1
    for name in ("rt_sigreturn", "restart_syscall"):
        counts.pop(name, None)
    return counts


def count(bench, running, arguments):
    """Counter of the calls that the contestant makes for this load."""
    path = bench.directory / "strace"
    load = measure.Load(bench.load, running.address, arguments, Workload("", "", ()).setup, 30)
    try:
        time.sleep(0.1)
        tracer = _trace(running, path)
        try:
            load.go()
            result = load.result()
            time.sleep(0.1)
        finally:
            processes.stop(tracer, signal.SIGINT)
            tracer.stderr.close()
    finally:
        load.stop()
    if any(result["errors"].values()):
        raise measure.LoadError(result["first_error"])
    return _count(path)


def count_all(bench, say):
    """{contestant: {case: {"calls": {name: per operation}, "io": n, "waits": n}}}"""
    found = {}
    if not shutil.which("strace"):
        return found
    for contestant in bench.contestants:
        if contestant.name not in WHO:
            continue
        say("system calls of " + contestant.name)
        try:
            running = contestant.start(bench.site(Workload("", "", ()).setup))
        except RuntimeError as fault:
            say("  %s" % fault)
            continue
        cases = found.setdefault(contestant.name, {})
        try:
            for what, arguments, operations in CASES:
                try:
                    counts = count(bench, running, ("--connections", 1) + arguments)
                except (RuntimeError, OSError) as fault:
                    say("  %s: %s" % (what, fault))
                    continue
                calls = {name: number / operations for name, number in counts.most_common()}
                waits = sum(number for name, number in calls.items() if name in WAITS)
                cases[what] = {"calls": calls, "waits": waits, "io": sum(calls.values()) - waits}
        finally:
            running.stop()
    return found
