"""One measurement: one contestant, one workload, one round."""

import json
import signal
import subprocess
import time

import certificates
import processes

MORE_S = 45  # beyond the workload's own time, for connecting and finishing
SETTLE_S = 0.05


class LoadError(RuntimeError):
    pass


class Load:
    """The load generator, connected and warm. Use: load = Load(...); load.go(); result = load.result()."""

    def __init__(self, binary, address, arguments, setup, seconds, plain=False, nice=processes.NICE, hurried=False):
        _, core = processes.cores()
        command = [binary, "--address", "%s:%d" % tuple(address), "--seconds", seconds]
        if plain:
            command.append("--plain")
        else:
            command += ["--protocol", setup.protocol, "--cipher", setup.cipher, "--group", setup.group]
        self.limit_s = seconds + MORE_S
        self.process = processes.start(
            command + list(arguments),
            core,
            nice,
            hurried,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if self.process.stdout.readline().strip() != "ready":  # it bounds its own waits
            raise LoadError(self._last_words())

    def _last_words(self):
        try:
            _, text = self.process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, text = self.process.communicate()
        return text.strip().replace("load: ", "") or "the load generator has failed"

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def result(self):
        try:
            text, fault = self.process.communicate(timeout=self.limit_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise LoadError("the load generator did not end") from None
        try:
            return json.loads(text)
        except ValueError:
            raise LoadError(fault.strip().replace("load: ", "") or "no result") from None

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def differences(workload, plain, result):
    """In what the negotiated parameters are not those that were asked for; empty when they are."""
    if plain:
        return []
    setup = workload.setup
    found = []
    wanted = {
        "protocol": "TLSv" + setup.protocol,
        "cipher": setup.cipher,
        "group": setup.group,
        "key": certificates.key_text(setup.certificate),
    }
    names = {"secp256r1": "p-256", "prime256v1": "p-256", "secp384r1": "p-384"}
    for what, value in wanted.items():
        got = result[what]
        if what == "group" and workload.resumes and got == "-":
            continue
        if names.get(got.lower(), got.lower()) != value.lower():
            found.append("%s %s" % (what, got))
    if result["differing"]:
        found.append("%d connections were unlike the first" % result["differing"])
    if result["handshakes"]:
        rate = result["resumed"] / result["handshakes"]
        if workload.resumes and rate < 0.99:
            found.append("resumed %.0f %%" % (100 * rate))
        if not workload.resumes and rate > 0.01:
            found.append("resumed %.0f %% unasked" % (100 * rate))
    return found


def measure(bench, running, workload, seconds):
    """A dict with what was found out. LoadError when it could not be done."""
    plain = running.contestant.plain
    pids = processes.family(running.process.pid)
    is_memory = workload.head == "memory"
    if is_memory:
        warm = Load(bench.load, running.address, ("--mode", "connect", "--connections", 8), workload.setup, 0.1, plain)
        warm.go()
        warm.result()
        time.sleep(0.3)
        before_kb = processes.pss_kb(pids)
    loads = []
    try:
        loads.append(
            Load(bench.load, running.address, workload.arguments, workload.setup, seconds, plain, hurried=workload.head == "p99")
        )
        if workload.flood:
            # 2 s longer, and stopped when the other is done: it is there from before to after
            loads.append(Load(bench.load, running.address, workload.flood, workload.setup, seconds + 2, plain, nice=0))
            loads[1].go()
            time.sleep(0.3)
        if is_memory:
            time.sleep(0.3)
        after_kb = processes.pss_kb(pids) if is_memory else 0
        own = [bench.backend_process.pid] + [load.process.pid for load in loads]
        foreign = Foreign(own, pids)
        usage = processes.Usage(pids)
        loads[0].go()
        result = loads[0].result()
        if not workload.flood:
            time.sleep(SETTLE_S)
        cpu_s, user, system = processes.Usage(processes.family(running.process.pid)).since(usage)
        elapsed_s = time.monotonic() - usage.at
        result["foreign_cores"], result["stolen_cores"] = foreign.cores(cpu_s, result["load_cpu_seconds"])
    finally:
        for load in loads[1:]:
            load.process.send_signal(signal.SIGKILL)
        for load in loads:
            load.stop()
    result["differs"] = differences(workload, plain, result)
    result["busy"] = cpu_s / elapsed_s
    result["user_ticks"] = user
    result["system_ticks"] = system
    result["ops_per_s"] = result["ops"] / result["seconds"] if result["seconds"] else 0
    if is_memory:
        result["kb"] = (after_kb - before_kb) / result["connections"]
        result["kb_before"] = before_kb
        return result
    if not result["ops"]:
        raise LoadError("no operation was completed: %s" % result["first_error"])
    amount = (result["bytes_in"] + result["bytes_out"]) / 1e6 if workload.unit == "MB" else result["ops"]
    result["cpu_us"] = cpu_s * 1e6 / amount
    result["per_s"] = amount / result["seconds"]
    return result


class Foreign:
    """What else ran: the cores' busy time that is neither the contestant's, nor the load's, nor the backend's, nor ours."""

    def __init__(self, own, contestant):
        self.own = own
        self.at = time.monotonic()
        self.busy, self.stolen = processes.busy_s()
        self.backend = processes.Usage(own[:1])
        self.ours = time.process_time()

    def cores(self, contestant_s, load_s):
        busy, stolen = processes.busy_s()
        elapsed = time.monotonic() - self.at
        backend, _, _ = processes.Usage(self.own[:1]).since(self.backend)
        known = contestant_s + load_s + backend + time.process_time() - self.ours
        return max(0.0, (busy - self.busy - known) / elapsed), (stolen - self.stolen) / elapsed
