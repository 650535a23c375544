"""Processes under measurement: started on their core, accounted for by the kernel, ended."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

CONTESTANT_CORE = 0
OTHERS_CORE = 1
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
WAIT_S = 15.0
NICE = -10  # of everything that takes part, if root: what else runs here disturbs less


def cores():
    """The cores of contestant and of load with backend: two different ones where there are two."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[CONTESTANT_CORE], allowed[min(OTHERS_CORE, len(allowed) - 1)]


def scheduling(hurried):
    """Arguments of sched_setscheduler: before all normal processes of its core, or as they are."""
    return (os.SCHED_RR, os.sched_param(1)) if hurried else (os.SCHED_OTHER, os.sched_param(0))


def start(command, core, nice=NICE, hurried=False, **more):
    def prepare():
        os.sched_setaffinity(0, {core})
        os.setsid()
        try:
            os.nice(nice)
            with open("/proc/self/autogroup", "w") as group:  # of the new session: sched(7)
                group.write(str(nice))
        except OSError:
            pass  # not root, or a kernel without them
        if hurried:
            try:
                os.sched_setscheduler(0, *scheduling(True))
            except OSError:
                pass  # not root

    return subprocess.Popen([str(word) for word in command], preexec_fn=prepare, **more)


def wait_until(probe, what, process=None, seconds=WAIT_S):
    """The first true value of probe(); RuntimeError when there is none in time, or when the process has ended."""
    end = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        if process is not None and process.poll() is not None:
            raise RuntimeError("%s: ended with status %d" % (what, process.returncode))
        if time.monotonic() > end:
            raise RuntimeError("%s: not within %g s" % (what, seconds))
        time.sleep(0.01)


def stop(process, number=signal.SIGTERM):
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _fields(pid):
    """/proc/PID/stat behind the name: state is 0, ppid 1, utime 11, stime 12."""
    return Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()


def family(pid):
    """pid and all its descendants."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parents.setdefault(int(_fields(int(entry))[1]), []).append(int(entry))
            except (OSError, IndexError):
                pass
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


class Usage:
    """What some processes have used so far. CPU time is that of whole processes, threads that ended included."""

    def __init__(self, pids):
        self.at = time.monotonic()
        self.cpu_s = 0.0
        self.user_ticks = 0
        self.system_ticks = 0
        self.pids = list(pids)
        for pid in self.pids:
            try:
                # the CPU-time clock of another process (see clock_getcpuclockid(3)): nanoseconds
                self.cpu_s += time.clock_gettime((~pid << 3) | 2)
                fields = _fields(pid)
            except OSError:
                raise RuntimeError("a process under measurement has ended") from None
            self.user_ticks += int(fields[11])
            self.system_ticks += int(fields[12])

    def since(self, before):
        """(CPU seconds, user ticks, system ticks) since then."""
        if set(before.pids) != set(self.pids):
            raise RuntimeError("processes came or went during the measurement")
        return self.cpu_s - before.cpu_s, self.user_ticks - before.user_ticks, self.system_ticks - before.system_ticks


def pss_kb(pids):
    """Proportional set size of all of them together: anonymous (heap, stacks) and all, in KB."""
    total = 0
    for pid in pids:
        text = Path("/proc/%d/smaps_rollup" % pid).read_text()
        total += sum(int(kb) for kb in re.findall(r"^(?:Pss|SwapPss):\s+(\d+) kB", text, re.MULTILINE))
    return total


def busy_s():
    """CPU seconds that all cores together have been busy, and stolen ones apart."""
    user, nice, system, _idle, _wait, irq, softirq, steal = (
        int(v) / TICKS_PER_S for v in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return user + nice + system + irq + softirq, steal
