"""What is measured. One row for each workload; the first column is its name for BENCH="..."."""

from dataclasses import dataclass, field
from typing import Optional

import contestants
from contestants import Setup

MB = 1000000


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    arguments: tuple  # of the load generator
    unit: str = "operation"  # what CPU time is told for: operation, MB, connection (its memory)
    setup: Setup = field(default_factory=Setup)
    who: tuple = contestants.TCP  # when none are named
    resumes: bool = False
    seconds: Optional[float] = None  # other than SECONDS
    flood: tuple = ()  # arguments of a second load generator, that runs meanwhile and is not measured
    head: str = "cpu"  # the figure that leads: cpu, memory, p99
    is_default: bool = True


def connect(*more):
    return ("--mode", "connect", "--connections", 24, "--size", 5) + more


def request(connections, size, *more):
    return ("--mode", "request", "--connections", connections, "--size", size) + more


def rate(per_second, connections):
    return ("--mode", "rate", "--rate", per_second, "--connections", connections, "--size", 5)


ALL = (
    Workload("handshake", "connection with full handshake, one request", connect()),
    Workload("resumed", "the same, resumed", connect("--resume"), resumes=True),
    Workload("keepalive-5", "keep-alive request, 5 bytes", request(32, 5), who=contestants.REQUESTS),
    Workload("keepalive-4k", "keep-alive request, 4 KB", request(32, 4096), who=contestants.REQUESTS),
    Workload("keepalive-256k", "keep-alive request, 256 KB", request(16, 262144), who=contestants.REQUESTS),
    Workload(
        "browser-5", "keep-alive request with a browser's head, 5 bytes", request(32, 5, "--head", "browser"),
        who=contestants.REQUESTS,
    ),
    Workload("download", "download, per MB", request(4, 16 * MB), unit="MB"),
    Workload("upload", "upload, per MB", request(4, 5, "--post", 16 * MB), unit="MB"),
    Workload(
        "idle", "idle connection, KB", ("--mode", "idle", "--connections", 1000, "--size", 5),
        unit="connection", head="memory",
    ),
    Workload("rate-500", "500 requests per second", rate(500, 50), head="p99"),
    Workload(
        "flood", "300 requests per second while handshakes flood the worker", rate(300, 30), head="p99",
        flood=("--mode", "hello", "--connections", 64),
    ),
    # by name only
    Workload("rate-50", "50 requests per second", rate(50, 50), head="p99", seconds=4.0, is_default=False),
    Workload("post-10", "POST of 10 bytes, unix socket", request(32, 5, "--post", 10), setup=Setup(unix_backend=True), is_default=False),
    Workload("post-10k", "POST of 10 000 bytes, unix socket", request(32, 5, "--post", 10000), setup=Setup(unix_backend=True), is_default=False),
    Workload("handshake-p384", "full handshake, group P-384", connect(), setup=Setup(group="P-384"), is_default=False),
    Workload("handshake-p256", "full handshake, group P-256", connect(), setup=Setup(group="P-256"), is_default=False),
    Workload("handshake-mlkem", "full handshake, X25519MLKEM768", connect(), setup=Setup(group="X25519MLKEM768"), is_default=False),
    Workload("handshake-rsa2048", "full handshake, RSA-2048", connect(), setup=Setup(certificate="rsa2048"), is_default=False),
    Workload("handshake-rsa4096", "full handshake, RSA-4096", connect(), setup=Setup(certificate="rsa4096"), is_default=False),
    Workload(
        "handshake-tls12", "full handshake, TLS 1.2", connect(), is_default=False,
        setup=Setup(protocol="1.2", cipher="ECDHE-ECDSA-AES128-GCM-SHA256"),
    ),
    Workload(
        "resumed-tls12", "TLS 1.2, resumed", connect("--resume"), is_default=False, resumes=True,
        setup=Setup(protocol="1.2", cipher="ECDHE-ECDSA-AES128-GCM-SHA256"),
    ),
)

BY_NAME = {workload.name: workload for workload in ALL}
DEFAULT = tuple(workload.name for workload in ALL if workload.is_default)
QUICK = ("handshake", "resumed", "keepalive-5", "keepalive-4k", "keepalive-256k", "download", "upload", "idle")

# What halter has set itself to reach against the best peer, by the TLS library that it is built with: ratios of CPU
# time, but for idle (KB) and flood (ratio of p99).
GOALS = {
    #                  OpenSSL 3  OpenSSL 4  AWS-LC
    "handshake":      (0.75,      0.55,      0.33),
    "resumed":        (0.70,      0.55,      0.35),
    "keepalive-5":    (0.80,      0.75,      0.75),
    "keepalive-4k":   (0.80,      0.75,      0.75),
    "keepalive-256k": (0.75,      0.65,      0.65),
    "download":       (0.65,      0.55,      0.55),
    "upload":         (0.80,      0.75,      0.75),
    "idle":           (18,        31,        8),
    "flood":          (0.34,      0.34,      0.34),
}  # fmt: skip
# HTTP mode against TCP mode of the same binary: ratios of CPU time.
HTTP_GOALS = {"keepalive-5": 1.05, "keepalive-4k": 1.05, "keepalive-256k": 1.02, "browser-5": 1.05}


def goal_column(library):
    if library.startswith("AWS-LC"):
        return 2
    return 0 if library.startswith("OpenSSL 3") else 1
