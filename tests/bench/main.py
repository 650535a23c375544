"""make bench: halter and its peers, each with one worker on one core, in the same run, interleaved."""

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "e2e"))  # for the harness

import certificates  # noqa: E402
import contestants  # noqa: E402
import machine  # noqa: E402
import measure  # noqa: E402
import processes  # noqa: E402
import report  # noqa: E402
import syscalls  # noqa: E402
import workloads  # noqa: E402
from harness import reaper  # noqa: E402

BACKEND_S = 3600


def say(text):
    print("bench: " + text, file=sys.stderr, flush=True)


class Bench:
    """What all measurements share: the backend, the certificates, a folder, snapshots of halter's binaries."""

    def __init__(self, build):
        self.directory = Path(tempfile.mkdtemp(prefix="halter-bench-"))
        os.chmod(self.directory, 0o755)
        self.load = str(build / "bench" / "load")
        self.certificates = certificates.Certificates(self.directory)
        self.contestants = []
        self.binaries = self.directory / "bin"  # a copy: somebody may run make meanwhile
        self.binaries.mkdir()
        for binary in build.glob("halter*"):
            if binary.is_file():
                shutil.copy2(binary, self.binaries / binary.name)
        self.backend_unix = str(self.directory / "backend")
        _, core = processes.cores()
        self.backend_process = processes.start(
            [build / "bench" / "backend", "--unix", self.backend_unix, "--seconds", BACKEND_S],
            core,
            stdin=-1,
            stdout=-1,
            text=True,
        )
        self.backend = ("127.0.0.1", int(self.backend_process.stdout.readline().split()[1]))
        os.chmod(self.backend_unix, 0o777)

    def hurry(self, on):
        """Latency workloads: the backend does not wait for other processes on its core, where that may be set."""
        try:
            os.sched_setscheduler(self.backend_process.pid, *processes.scheduling(on))
        except OSError:
            pass

    def site(self, setup):
        certificate = self.certificates.get(setup.certificate)
        return contestants.Site(setup, self.backend, self.backend_unix, certificate, self.directory)

    def backend_latency(self):
        """Of the backend alone: what the load sees when nothing stands between."""
        arguments = ("--mode", "rate", "--rate", 500, "--connections", 10, "--size", 5)
        load = measure.Load(self.load, self.backend, arguments, workloads.Setup(), 1.0, plain=True)
        load.go()
        return load.result()

    def close(self):
        self.backend_process.stdin.close()
        self.backend_process.wait(5)
        self.backend_process.stdout.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def rounds_of(bench, workload, options, facts):
    """{contestant: [result, ...]} of one workload; a result may be {"fault": text}."""
    found = {}
    running = {}
    fresh = workload.head == "memory"  # memory that was used before would hide what a connection costs
    seconds = workload.seconds or options.seconds
    who = [c for c in bench.contestants if options.contestants or c.name in workload.who]

    def start(contestant):
        try:
            running[contestant.name] = contestant.start(bench.site(workload.setup))
            facts[contestant.name]["library"] = running[contestant.name].library
        except (RuntimeError, OSError) as fault:
            found.setdefault(contestant.name, []).append({"fault": str(fault)})

    def stop(name):
        running.pop(name).stop()

    bench.hurry(workload.head == "p99")
    try:
        for number in range(min(options.rounds, 2) if fresh else options.rounds):
            turn = number % max(1, len(who))
            for contestant in who[turn:] + who[:turn]:
                name = contestant.name
                if name not in running and not any("fault" in r for r in found.get(name, [])):
                    start(contestant)
                if name not in running:
                    continue
                try:
                    result = measure.measure(bench, running[name], workload, seconds)
                except (RuntimeError, OSError) as fault:
                    result = {"fault": str(fault)}
                found.setdefault(name, []).append(result)
                if fresh or "fault" in result:
                    stop(name)
    finally:
        for name in list(running):
            stop(name)
    return found


def pick(text, names, otherwise, what):
    if not text:
        return list(otherwise)
    if text == "all":
        return list(names)
    chosen = text.replace(",", " ").split()
    for name in chosen:
        if name not in names:
            sys.exit("bench: no %s %r; there are: %s" % (what, name, " ".join(names)))
    return chosen


def parse():
    parser = argparse.ArgumentParser(prog="tests/bench/run", description=__doc__)
    parser.add_argument("--bench", default="", help="quick, all, or workloads: " + " ".join(workloads.BY_NAME))
    parser.add_argument("--contestants", default="", help="all, or names")
    parser.add_argument("--rounds", default="", help="of each workload (3; quick: 2)")
    parser.add_argument("--seconds", default="", help="of each measurement (1; quick: 0.5)")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build", help="the folder with halter's binaries")
    parser.add_argument("--output", type=Path, default=None, help="folder of the report (BUILD/bench)")
    parser.add_argument("--note", default="", help="a sentence for the report")
    options = parser.parse_args()
    quick = options.bench == "quick"
    options.workloads = pick("" if quick else options.bench, list(workloads.BY_NAME),
                             workloads.QUICK if quick else workloads.DEFAULT, "workload")  # fmt: skip
    options.rounds = int(options.rounds or (2 if quick else 3))
    options.seconds = float(options.seconds or (0.5 if quick else 1.0))
    options.output = options.output or options.build / "bench"
    options.quick = quick
    if not 1 <= options.rounds <= 100 or not 0.05 <= options.seconds <= 60:
        parser.error("1 to 100 rounds of 0.05 to 60 seconds")
    return options


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended"))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    keeper = reaper.start()  # ends everything when this process is gone
    bench = Bench(options.build)
    try:
        every = contestants.every(bench.binaries)
        names = pick(options.contestants, [c.name for c in every],
                     contestants.QUICK if options.quick else [c.name for c in every], "contestant")  # fmt: skip
        chosen = [c for c in every if c.name in names]
        missing = [c.name for c in chosen if not c.path()]
        bench.contestants = [c for c in chosen if c.path()]
        facts = {c.name: {"version": c.version(), "library": "?"} for c in bench.contestants}
        result = {
            "machine": machine.describe(),
            "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            "rounds": options.rounds,
            "seconds": options.seconds,
            "note": options.note,
            "missing": missing,
            "contestants": facts,
            "workloads": {},
        }
        started = time.monotonic()
        result["backend"] = bench.backend_latency()
        for name in options.workloads:
            workload = workloads.BY_NAME[name]
            say("%s: %s (%.0f s so far)" % (name, workload.title, time.monotonic() - started))
            result["workloads"][name] = rounds_of(bench, workload, options, facts)
        result["syscalls"] = syscalls.count_all(bench, say)
        result["load_after"] = "%.2f %.2f %.2f" % os.getloadavg()
        result["took_s"] = time.monotonic() - started
        options.output.mkdir(parents=True, exist_ok=True)
        report.write(result, options.output)
        say("%.0f s; the report is %s" % (result["took_s"], options.output / "report.md"))
    finally:
        bench.close()
        keeper.close()


main()
