"""What an honest benchmark must say about the machine."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path


def _read(path, otherwise=""):
    try:
        return Path(path).read_text().strip()
    except OSError:
        return otherwise


def output_of(command):
    """stdout and stderr of a short command; empty when there is none such."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _cpu():
    text = _read("/proc/cpuinfo")

    def field(name):
        found = re.search(r"^%s\s*:\s*(.*)$" % name, text, re.MULTILINE)
        return found.group(1) if found else ""

    flags = set((field("flags") or field("Features")).split())
    known = {
        "AES": ("aes",),
        "VAES": ("vaes",),
        "PCLMUL": ("pclmulqdq", "pmull"),
        "VPCLMUL": ("vpclmulqdq",),
        "SHA": ("sha_ni", "sha2"),
        "AVX2": ("avx2",),
        "AVX-512": ("avx512f",),
        "ADX": ("adx",),
    }
    there = [name for name, names in known.items() if flags & set(names)]
    model = field("model name") or platform.processor() or platform.machine()
    identity = ", family %s model %s" % (field("cpu family"), field("model")) if field("cpu family") else ""
    return model + identity, there, "hypervisor" in flags


def _firewall():
    """What could stand in the way of packets: rules, connection tracking."""
    found = []
    if shutil.which("nft"):
        rules = output_of(["nft", "list", "ruleset"])
        found.append("nftables: %d lines of rules" % len([line for line in rules.split("\n") if line.strip()]))
    if shutil.which("iptables-save"):
        rules = output_of(["iptables-save"])
        found.append("iptables: %d rules" % len(re.findall(r"^-A", rules, re.MULTILINE)))
    modules = re.findall(r"^(nf_\w+|ip_tables|ip6_tables|nft_\w+)", _read("/proc/modules"), re.MULTILINE)
    tables = _read("/proc/net/ip_tables_names")
    tracked = _read("/proc/sys/net/netfilter/nf_conntrack_count")
    found.append("netfilter modules: %s" % (", ".join(modules[:6]) or "none loaded as modules"))
    if tables:
        found.append("iptables tables: " + tables.replace("\n", " "))
    found.append("connection tracking: %s" % ("%s entries" % tracked if tracked else "off"))
    return "; ".join(found)


def _tcp():
    """What of the kernel's settings moves the figures of loopback traffic."""
    names = ("tcp_congestion_control", "tcp_rmem", "tcp_wmem", "tcp_tw_reuse", "tcp_notsent_lowat")
    found = ["%s %s" % (name, " ".join(_read("/proc/sys/net/ipv4/" + name, "?").split())) for name in names]
    return "; ".join(found + ["mtu of lo " + _read("/sys/class/net/lo/mtu", "?")])


def describe():
    model, acceleration, virtual = _cpu()
    governor = _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not visible")
    weak = [p.name for p in Path("/sys/devices/system/cpu/vulnerabilities").glob("*") if "Mitigation" in _read(p)]
    memory = re.search(r"MemTotal:\s+(\d+)", _read("/proc/meminfo"))
    return {
        "cpu": model,
        "cores": "%d online, %d usable" % (os.cpu_count() or 0, len(os.sched_getaffinity(0))),
        "virtual": "yes" if virtual else "no",
        "memory": "%.0f GB" % (int(memory.group(1)) / 1e6) if memory else "?",
        "acceleration": ", ".join(acceleration) or "none",
        "frequency": governor,
        "mitigations": ", ".join(sorted(weak)) or "none",
        "kernel": "%s %s" % (platform.system(), platform.release()),
        "system": (re.search(r'^PRETTY_NAME="?([^"\n]*)', _read("/etc/os-release"), re.MULTILINE) or [None, "?"])[1],
        "firewall": _firewall(),
        "tcp": _tcp(),
        "load": "%.2f %.2f %.2f" % os.getloadavg(),
    }


def tls_library(pid):
    """The OpenSSL that a process has really loaded: the version text in its mapped libcrypto, or in the program itself."""
    files = re.findall(r"\s(/\S+)$", _read("/proc/%d/maps" % pid), re.MULTILINE)
    candidates = [f for f in files if "libcrypto" in f] or [os.readlink("/proc/%d/exe" % pid)]
    try:
        found = re.search(rb"(OpenSSL|AWS-LC) \d+\.\d+[^\0\n]{0,40}", Path(candidates[0]).read_bytes())
    except OSError:
        found = None
    return found.group(0).decode("ascii", "replace") if found else "not found"
