"""The report: report.md, results.json, and plots."""

import json
import statistics

import plots
import workloads

PEERS = ("hitch", "nginx", "haproxy", "stunnel")
KEY = {"cpu": "cpu_us", "memory": "kb", "p99": "p99"}


class Cell:
    """All rounds of one contestant in one workload. value is the median of the figure that leads."""

    def __init__(self, name, workload, results):
        self.name = name
        self.workload = workload
        self.fault = next((r["fault"] for r in results if "fault" in r), None)
        self.rounds = [r for r in results if "fault" not in r]
        for r in self.rounds:
            r["p99"] = r["latency_us"]["p99"]
        self.key = KEY[workload.head]
        self.values = [r[self.key] for r in self.rounds]
        self.value = statistics.median(self.values) if self.values else None
        self.differs = sorted({d for r in self.rounds for d in r["differs"]})
        self.errors = sum(sum(r["errors"].values()) for r in self.rounds)

    @property
    def counts(self):
        """May it be compared?"""
        return self.value is not None and not self.differs and not self.errors

    def median(self, *keys):
        def dig(value):
            for key in keys:
                value = value[key]
            return value

        return statistics.median(dig(r) for r in self.rounds) if self.rounds else 0.0

    def user_part(self):
        user = sum(r["user_ticks"] for r in self.rounds)
        system = sum(r["system_ticks"] for r in self.rounds)
        return user / (user + system) if user + system else 0.0

    def first_error(self):
        return next((r["first_error"] for r in self.rounds if r["first_error"]), "")


def number(value):
    if value is None:
        return "-"
    if value >= 1000:
        return "%.0f" % value
    return "%.0f" % value if value >= 100 else "%.1f" % value


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows] + [""]


def ratio(one, other):
    """Median of the ratios of the rounds: both ran next to each other in each."""
    pairs = [a / b for a, b in zip(one.values, other.values) if b > 0]
    return statistics.median(pairs) if pairs else None


def best_peer(cells):
    there = [cells[name] for name in PEERS if name in cells and cells[name].counts]
    return min(there, key=lambda cell: cell.value) if there else None


def disclosures(result, all_cells):
    m = result["machine"]
    cells = [cell for row in all_cells.values() for cell in row.values() if cell.rounds]
    foreign = [r["foreign_cores"] for cell in cells for r in cell.rounds]
    stolen = [r["stolen_cores"] for cell in cells for r in cell.rounds]
    negotiated = sorted({"%(protocol)s %(cipher)s %(group)s %(key)s" % r for c in cells for r in c.rounds if r["protocol"]})
    backend = result["backend"]["latency_us"]
    lines = ["## What was measured, and where", ""]
    lines += table(
        ("", ""),
        [
            ("when", "%s, %.0f s" % (result["when"], result.get("took_s", 0))),
            ("rounds", "%d of %g s for each figure, interleaved (A B C, B C A ...); medians" % (result["rounds"], result["seconds"])),
            ("CPU", m["cpu"]),
            ("cores, memory", "%s; virtual machine: %s; %s" % (m["cores"], m["virtual"], m["memory"])),
            ("hardware acceleration", m["acceleration"]),
            ("frequency governor", m["frequency"]),
            ("kernel, system", "%s; %s" % (m["kernel"], m["system"])),
            ("mitigations in force", m["mitigations"]),
            ("firewall", m["firewall"]),
            ("network", "loopback: no network card, no loss. The receiver's TCP work is done in the sender's time, for all alike"),
            ("TCP settings", m["tcp"]),
            ("placing", "contestant: one worker (all of its processes) on the first core; load and backend together on the second. "
             "If root: all at nice -10; where latency leads, backend and the measuring load go before all else on their core (SCHED_RR)"),
            ("negotiated", "; ".join(negotiated) or "-"),
            ("certificate", "self-signed, sent without a chain"),
            ("keep-alive", "yes, but in connection workloads, where each connection carries one request and ends in order"),
            ("resumption", "none, but in resumed workloads: all (by ticket, checked)"),
            ("load", "tests/bench/load.c: one process, epoll, %s; verifies nothing" % result["backend"]["library"]),
            ("backend", "tests/bench/backend.c: one process, epoll. Alone, at 500 requests/s: p50 %.0f us, p99 %.0f us" % (backend["p50"], backend["p99"])),
            ("load average", "before: %s; after: %s" % (m["load"], result.get("load_after", "?"))),
            ("what else ran", "other processes took %.2f cores in the median, %.2f at most; stolen by the host: %.3f"
             % (statistics.median(foreign or [0]), max(foreign or [0]), statistics.median(stolen or [0]))),
        ],
    )  # fmt: skip
    lines += table(
        ("contestant", "version", "TLS library"),
        [(name, fact["version"], fact["library"]) for name, fact in result["contestants"].items()],
    )
    if result["missing"]:
        lines += ["Not installed, so not measured: %s." % ", ".join(result["missing"]), ""]
    if result["note"]:
        lines += [result["note"], ""]
    return lines


def unit_text(workload):
    return {"cpu": "us per " + workload.unit, "memory": "KB (PSS)", "p99": "p99, us"}[workload.head]


def overview(all_cells, names):
    lines = [
        "## All figures that lead",
        "",
        "CPU time of the contestant's own processes, user and system, in microseconds per operation; KB of memory (PSS) for",
        "each idle connection; p99 in microseconds where latency is the subject. A figure in brackets may not be compared:",
        "negotiated parameters differ, or there were errors.",
        "",
    ]
    rows = []
    for key, cells in all_cells.items():
        row = ["%s (%s)" % (workloads.BY_NAME[key].title, unit_text(workloads.BY_NAME[key]))]
        for name in names:
            cell = cells.get(name)
            text = number(cell.value) if cell is not None else ""
            row.append("(%s)" % text if cell is not None and not cell.counts else text)
        rows.append(row)
    return lines + table(["", *names], rows)


def comparison(all_cells, facts):
    """halter against the best peer, with the goals; and HTTP mode against TCP mode."""
    rows = []
    for key, cells in all_cells.items():
        best = best_peer(cells)
        for name in ("halter", "halter-jem", "halter-http:on"):
            cell = cells.get(name)
            if cell is None or not cell.counts or best is None:
                continue
            goals = workloads.GOALS.get(key)
            goal = goals[workloads.goal_column(facts[name]["library"])] if goals else None
            is_kb = cell.workload.head == "memory"
            reached = cell.value if is_kb else ratio(cell, best)
            rows.append((
                cell.workload.title, name, number(cell.value), "%s %s" % (best.name, number(best.value)),
                "%.2f" % ratio(cell, best), ("<= %g%s" % (goal, " KB" if is_kb else "")) if goal else "",
                "" if goal is None else "yes" if reached <= goal else "no",
            ))  # fmt: skip
    lines = ["## Against the best peer", ""]
    lines += table(("", "", "figure", "best peer", "ratio", "goal", "reached"), rows)
    rows = []
    for key, cells in all_cells.items():
        for base, on in (("halter-http", "halter-http:on"), ("halter-http-jem", "halter-http-jem:on")):
            if base in cells and on in cells and cells[base].counts and cells[on].counts:
                goal = workloads.HTTP_GOALS.get(key)
                found = ratio(cells[on], cells[base])
                rows.append((
                    cells[on].workload.title, base, number(cells[base].value), number(cells[on].value), "%.3f" % found,
                    "<= %g" % goal if goal else "", "" if goal is None else "yes" if found <= goal else "no",
                ))  # fmt: skip
    if rows:
        lines += ["## HTTP mode against TCP mode of the same binary", ""]
        lines += table(("", "", "TCP mode", "HTTP mode", "ratio", "goal", "reached"), rows)
    return lines


def detail(key, cells):
    workload = workloads.BY_NAME[key]
    lines = ["### %s: %s" % (key, workload.title), "", "Load: `%s`" % " ".join(str(a) for a in workload.arguments), ""]
    if workload.flood:
        lines[-2] += ", and meanwhile `%s`" % " ".join(str(a) for a in workload.flood)
    setup = workload.setup
    lines += ["Asked for: TLS %s, %s, %s, certificate %s." % (setup.protocol, setup.cipher, setup.group, setup.certificate), ""]
    rows = []
    for name, cell in cells.items():
        if cell.value is None:
            rows.append((name, "-", "", "", "", "", "", "", "cannot: " + str(cell.fault).replace("|", "/")))
            continue
        remarks = []
        if cell.differs:
            remarks.append("not comparable: " + ", ".join(cell.differs))
        if cell.fault:
            remarks.append("a round failed: " + cell.fault.replace("|", "/"))
        if cell.errors:
            remarks.append("%d errors (%s)" % (cell.errors, cell.first_error()))
        if workload.head == "memory":
            remarks.append("%s KB before" % number(cell.median("kb_before")))
        latency = " / ".join(number(cell.median("latency_us", p)) for p in ("p50", "p90", "p99", "max"))
        if workload.head == "memory":
            latency = ""
        rows.append((
            name,
            number(cell.value),
            "%s - %s" % (number(min(cell.values)), number(max(cell.values))),
            number(cell.median("cpu_us")) if workload.head == "p99" and not workload.flood else "",
            "%.0f %%" % (100 * cell.user_part()) if workload.head != "memory" else "",
            number(cell.median("per_s")) if workload.head != "memory" else "",
            "%.0f %%" % (100 * cell.median("busy")) if workload.head != "memory" else "",
            latency,
            "; ".join(remarks),
        ))  # fmt: skip
    head = ("", unit_text(workload), "least - most", "CPU us", "of it user", workload.unit + "s/s", "core busy",
            "latency p50 / p90 / p99 / max, us", "remarks")  # fmt: skip
    return lines + table(head, rows)


def system_calls(found):
    if not found:
        return []
    lines = [
        "## System calls",
        "",
        "Counted with strace. It slows the contestant down, so that more arrives between two of its calls than otherwise. For",
        "each: calls that are no waits + waits, then which.",
        "",
    ]
    cases = [case for case in next(iter(found.values()))] if found else []
    for case in cases:
        rows = []
        for name, of in found.items():
            if case in of:
                one = of[case]
                calls = ", ".join("%s %.4g" % (call, count) for call, count in one["calls"].items() if count >= 0.005)
                rows.append((name, "%.4g + %.4g" % (one["io"], one["waits"]), calls))
        lines += ["### " + case, ""] + table(("", "calls + waits", "which"), rows)
    return lines


def kind_of(name):
    if name.startswith("halter"):
        return "halter"
    return "peer" if name in PEERS else "other"


def draw(all_cells, output):
    cpu, latency, memory = [], [], []
    for cells in all_cells.values():
        workload = next(iter(cells.values())).workload if cells else None
        usable = sorted((c for c in cells.values() if c.counts), key=lambda c: c.value)
        bars = []
        for cell in usable:
            split = (cell.value * cell.user_part(), cell.value * (1 - cell.user_part()))
            if workload.head == "p99":
                split = (cell.median("latency_us", "p50"), cell.value - cell.median("latency_us", "p50"))
            if workload.head == "memory":
                split = (cell.value,)
            bars.append(
                plots.Bar(cell.name, split, number(cell.value), kind_of(cell.name), min(cell.values), max(cell.values))
            )
        if workload is not None:
            chosen = {"cpu": cpu, "p99": latency, "memory": memory}[workload.head]
            chosen.append(("%s: %s" % (workload.title, unit_text(workload)), bars))
    less = "Less is better. Median of the rounds; the whisker is least to most. "
    plots.write(output / "cpu.svg", "CPU time per operation", less + "Dark: user, light: system.", cpu)
    plots.write(output / "latency.svg", "Latency at a fixed rate", less + "Dark: p50, light: up to p99.", latency)
    plots.write(output / "memory.svg", "Memory of an idle connection", less, memory)


def write(result, output):
    names = list(result["contestants"])
    all_cells = {
        key: {
            name: Cell(name, workloads.BY_NAME[key], found[name]) for name in names if name in found
        }
        for key, found in result["workloads"].items()
    }  # fmt: skip
    lines = ["# halter and its peers", ""]
    lines += disclosures(result, all_cells)
    lines += comparison(all_cells, result["contestants"])
    lines += overview(all_cells, names)
    lines += ["![CPU time](cpu.svg)", "![latency](latency.svg)", "![memory](memory.svg)", ""]
    lines += ["## Each workload", ""]
    for key, cells in all_cells.items():
        lines += detail(key, cells)
    lines += system_calls(result.get("syscalls", {}))
    (output / "report.md").write_text("\n".join(lines).rstrip() + "\n")
    (output / "results.json").write_text(json.dumps(result, indent=1) + "\n")
    draw(all_cells, output)
