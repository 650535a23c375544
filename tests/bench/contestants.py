"""Who is compared: how each one is configured and started. All get the same: one worker on one core, one certificate,
one protocol version, one cipher, one group, no log of single connections, and otherwise their own defaults."""

import os
import re
import resource
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass

from harness.wait import own_address

import machine
import processes

USER = "nobody" if os.geteuid() == 0 else None


@dataclass(frozen=True)
class Setup:
    """What is served, and how: the part of a workload that its contestants must be configured for."""

    certificate: str = "p256"
    protocol: str = "1.3"
    cipher: str = "TLS_AES_128_GCM_SHA256"
    group: str = "X25519"
    unix_backend: bool = False


@dataclass(frozen=True)
class Site:
    """Where things are: the backend, the certificate's files, a folder to write to."""

    setup: Setup
    backend: tuple
    backend_unix: str
    certificate: object
    directory: object


class Contestant:
    """One kind of server. Attributes: name; is_peer (compared with halter); plain (no TLS on its front)."""

    is_peer = False
    plain = False
    program = None

    def __init__(self, name):
        self.name = name

    def path(self):
        return shutil.which(self.program)

    def version(self):
        return "?"

    def write(self, site, address):
        """Writes the configuration; returns the command."""
        raise NotImplementedError

    def start(self, site):
        return Running(self, site)


class Running:
    """A started contestant. Attributes: contestant, address, pids, library."""

    def __init__(self, contestant, site):
        self.contestant = contestant
        self.address = own_address()
        core, _ = processes.cores()
        log_path = site.directory / (contestant.name.replace(":", "-") + ".log")
        command = contestant.write(site, self.address)
        with open(log_path, "wb") as log:
            self.process = processes.start(command, core, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            processes.wait_until(self._accepts, contestant.name, self.process)
        except RuntimeError as fault:
            processes.stop(self.process)
            text = log_path.read_text(errors="replace").strip().split("\n")[-3:]
            raise RuntimeError("%s; %s" % (fault, " | ".join(text))) from None
        time.sleep(0.15)  # for what it forks after it listens
        self.pids = processes.family(self.process.pid)
        self.library = "none" if contestant.plain else machine.tls_library(self.pids[-1])

    def _accepts(self):
        try:
            socket.create_connection(self.address, 1).close()
            return True
        except OSError:
            return False

    def stop(self):
        processes.stop(self.process)


def connections_max():
    """What the limit of open files allows, and no more than any workload needs."""
    return min(10000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2 - 50)


def _tls12(setup):
    return setup.protocol == "1.2"


def _hitch_lines(site, address):
    """What hitch and halter are both told, in hitch's words."""
    setup = site.setup
    backend = site.backend_unix if setup.unix_backend else "[%s]:%d" % site.backend
    return [
        'frontend = "[%s]:%d"' % address,
        'backend = "%s"' % backend,
        'pem-file = "%s"' % site.certificate.both,
        "workers = 1",
        "tls-protos = TLSv%s" % setup.protocol,
        '%s = "%s"' % ("ciphers" if _tls12(setup) else "ciphersuites", setup.cipher),
        'ecdh-curve = "%s"' % setup.group,
        "backlog = 4096",
    ]


class Halter(Contestant):
    def __init__(self, name, binary, http=False):
        super().__init__(name)
        self.binary = binary
        self.http = http

    def path(self):
        return self.binary if os.path.exists(self.binary) else None

    def version(self):
        text = machine.output_of([self.binary, "--version"]).split("\n")
        return text[0] + (" (%s)" % text[1].partition(": ")[2] if len(text) > 1 else "")

    def write(self, site, address):
        lines = _hitch_lines(site, address) + [
            "log-level = 1",
        ]
        if self.http:
            lines.append("http = on")
        if USER:
            lines.append('user = "%s"' % USER)
        conf = site.directory / (self.name.replace(":", "-") + ".conf")
        conf.write_text("\n".join(lines) + "\n")
        return [self.binary, "--config=%s" % conf]


class Hitch(Contestant):
    program = "hitch"
    is_peer = True

    def version(self):
        return machine.output_of(["hitch", "--version"]).strip()

    def write(self, site, address):
        lines = _hitch_lines(site, address) + [
            "daemon = off",
            "log-level = 0",
        ]
        if USER:
            lines.append('user = "%s"' % USER)
        conf = site.directory / "hitch.conf"
        conf.write_text("\n".join(lines) + "\n")
        return [self.path(), "--config=%s" % conf]


class Nginx(Contestant):
    """kind: stream (TLS, then bytes), http (TLS, then HTTP with its headers rewritten), plain (bytes, no TLS)."""

    program = "nginx"

    def __init__(self, name, kind):
        super().__init__(name)
        self.kind = kind
        self.is_peer = kind == "stream"
        self.plain = kind == "plain"

    def version(self):
        return machine.output_of(["nginx", "-v"]).strip().replace("nginx version: ", "")

    def write(self, site, address):
        setup = site.setup
        target = "unix:" + site.backend_unix if setup.unix_backend else "%s:%d" % site.backend
        tls = """
            ssl_certificate %s; ssl_certificate_key %s;
            ssl_session_cache shared:bench:10m; ssl_protocols TLSv%s; ssl_ecdh_curve %s; %s;
        """ % (
            site.certificate.certificate,
            site.certificate.key,
            setup.protocol,
            setup.group,
            ("ssl_ciphers %s" if _tls12(setup) else "ssl_conf_command Ciphersuites %s") % setup.cipher,
        )
        listen = "listen %s:%d%s backlog=4096;" % (address + ("" if self.plain else " ssl",))
        if self.kind == "http":
            body = """
            http {
                access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
                client_max_body_size 0; proxy_request_buffering off; proxy_buffering on; proxy_max_temp_file_size 0;
                client_body_temp_path %(d)s/t1; proxy_temp_path %(d)s/t2;
                fastcgi_temp_path %(d)s/t3; uwsgi_temp_path %(d)s/t4; scgi_temp_path %(d)s/t5;
                upstream backend { server %(target)s; keepalive 256; keepalive_requests 1000000000; }
                server {
                    %(listen)s %(tls)s
                    location / {
                        proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection "";
                        proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto https;
                        proxy_set_header X-Forwarded-For $remote_addr;
                    }
                }
            }
            """ % {"d": site.directory, "target": target, "listen": listen, "tls": tls}
        else:
            body = "stream { server { %s %s proxy_pass %s; } }" % (listen, "" if self.plain else tls, target)
        modules = re.search(r"--modules-path=(\S+)", machine.output_of(["nginx", "-V"]))
        module = (modules.group(1) if modules else "/usr/lib/nginx/modules") + "/ngx_stream_module.so"
        conf = site.directory / (self.name + ".conf")
        conf.write_text(
            "%s %s worker_processes 1; daemon off; pid %s; error_log %s crit; events { worker_connections %d; } %s\n"
            % (
                "load_module %s;" % module if os.path.exists(module) and self.kind != "http" else "",
                "user root;" if USER else "",
                site.directory / (self.name + ".pid"),
                site.directory / (self.name + "-error.log"),
                2 * connections_max(),
                body,
            )
        )
        return [self.path(), "-e", site.directory / (self.name + "-error.log"), "-p", site.directory, "-c", conf]


class Haproxy(Contestant):
    """kind: tcp, http, plain (tcp without TLS)."""

    program = "haproxy"

    def __init__(self, name, kind):
        super().__init__(name)
        self.kind = kind
        self.is_peer = kind == "tcp"
        self.plain = kind == "plain"

    def version(self):
        return machine.output_of(["haproxy", "-v"]).split("\n")[0].replace("version ", "").split(" - ")[0]

    def write(self, site, address):
        setup = site.setup
        tls = " ssl crt %s ssl-min-ver TLSv%s ssl-max-ver TLSv%s %s %s curves %s" % (
            site.certificate.both,
            setup.protocol,
            setup.protocol,
            "ciphers" if _tls12(setup) else "ciphersuites",
            setup.cipher,
            setup.group,
        )
        http = "    option forwardfor\n    http-request set-header X-Forwarded-Proto https\n"
        conf = site.directory / (self.name + ".cfg")
        conf.write_text(
            """
global
    nbthread 1
    maxconn %d
defaults
    mode %s
    timeout connect 10s
    timeout client 600s
    timeout server 600s
frontend bench
    bind %s:%d%s
%s    default_backend bench
backend bench
    server one %s
"""
            % (
                (connections_max(), "http" if self.kind == "http" else "tcp")
                + address
                + (
                    "" if self.plain else tls,
                    http if self.kind == "http" else "",
                    "unix@" + site.backend_unix if setup.unix_backend else "%s:%d" % site.backend,
                )
            )
        )
        return [self.path(), "-db", "-f", conf]


class Stunnel(Contestant):
    program = "stunnel"
    is_peer = True

    def version(self):
        return machine.output_of(["stunnel", "-version"]).split("\n")[1:2][0].split(" on ")[0]

    def write(self, site, address):
        setup = site.setup
        conf = site.directory / "stunnel.conf"
        conf.write_text(
            """
foreground = yes
pid =
debug = 0
syslog = no
[bench]
accept = %s:%d
connect = %s
cert = %s
key = %s
sslVersion = TLSv%s
%s = %s
curves = %s
"""
            % (
                address
                + (
                    site.backend_unix if setup.unix_backend else "%s:%d" % site.backend,
                    site.certificate.certificate,
                    site.certificate.key,
                    setup.protocol,
                    "ciphers" if _tls12(setup) else "ciphersuites",
                    setup.cipher,
                    setup.group,
                )
            )
        )
        return [self.path(), conf]


def every(binaries):
    """All that could take part; binaries: a folder with halter's four."""

    def binary(name):
        return str(binaries / name)

    return [
        Halter("halter", binary("halter")),
        Halter("halter-jem", binary("halter-jem")),
        Halter("halter-http", binary("halter-http")),
        Halter("halter-http-jem", binary("halter-http-jem")),
        Halter("halter-http:on", binary("halter-http"), http=True),
        Halter("halter-http-jem:on", binary("halter-http-jem"), http=True),
        Hitch("hitch"),
        Nginx("nginx", "stream"),
        Haproxy("haproxy", "tcp"),
        Stunnel("stunnel"),
        Nginx("nginx-http", "http"),
        Haproxy("haproxy-http", "http"),
        Nginx("nginx-plain", "plain"),
        Haproxy("haproxy-plain", "plain"),
    ]


# Those that a workload has when none are named
TCP = ("halter", "halter-jem", "halter-http:on", "hitch", "nginx", "haproxy", "stunnel", "nginx-plain")
REQUESTS = TCP + ("halter-http", "halter-http-jem", "halter-http-jem:on", "nginx-http", "haproxy-http")
QUICK = ("halter", "halter-http", "halter-http:on", "hitch", "nginx", "haproxy")
