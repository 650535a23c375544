"""Real peers: nginx and haproxy as backends, curl and openssl s_client as clients."""

import os
import shutil
import signal
import subprocess

from .halter import IS_ROOT
from .wait import DEADLINE_S, Lines, own_address, wait_file, wait_gone


class Nginx:
    """nginx that serves root as files on a unix socket and a TCP port, and /who on a socket that wants PROXY."""

    def __init__(self, directory):
        self.directory = directory
        self.root = directory / "root"
        self.root.mkdir()
        os.chmod(self.root, 0o755)
        address = own_address()
        self.tcp = "[%s]:%d" % address
        self.unix = str(directory / "nginx")
        self.proxied = str(directory / "nginx-p")
        conf = directory / "nginx.conf"
        conf.write_text(
            """
            %(user)s
            pid %(directory)s/nginx.pid;
            error_log %(directory)s/nginx-error.log;
            worker_processes 1;
            events { worker_connections 512; }
            http {
                access_log off;
                client_body_temp_path %(directory)s/t1; proxy_temp_path %(directory)s/t2;
                fastcgi_temp_path %(directory)s/t3; uwsgi_temp_path %(directory)s/t4; scgi_temp_path %(directory)s/t5;
                server { listen %(address)s; listen unix:%(unix)s; root %(directory)s/root; }
                server {
                    listen unix:%(proxied)s proxy_protocol;
                    location / { return 200 "$proxy_protocol_addr $proxy_protocol_port\\n"; }
                }
            }
            """
            % {
                "user": "user root;" if IS_ROOT else "",
                "directory": directory,
                "address": "%s:%d" % address,
                "unix": self.unix,
                "proxied": self.proxied,
            }
        )
        self.conf = conf
        # With "daemon on" the first process ends once the sockets listen.
        subprocess.run(
            [find_tool("nginx"), "-e", "%s/nginx-error.log" % directory, "-p", str(directory), "-c", str(conf)],
            check=True,
            timeout=DEADLINE_S,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.pid = int(wait_file(directory / "nginx.pid", r"(\d+)\n").group(1))

    def close(self):
        os.kill(self.pid, signal.SIGTERM)
        wait_gone([self.pid])


class Haproxy:
    """haproxy that wants PROXY v1 or v2 on a unix socket and a TCP port, and answers with what it was told."""

    def __init__(self, directory):
        self.unix = str(directory / "haproxy")
        address = own_address()
        self.tcp = "[%s]:%d" % address
        pidfile = directory / "haproxy.pid"
        conf = directory / "haproxy.cfg"
        conf.write_text(
            """
global
    maxconn 256
    nbthread 1
defaults
    mode http
    timeout client 60s
    timeout connect 60s
    timeout server 60s
frontend who
    bind unix@%s mode 666 accept-proxy
    bind %s:%d accept-proxy
    http-request return status 200 content-type text/plain lf-string "%%[src] %%[src_port] %%[dst] %%[dst_port] %%[fc_pp_authority]\\n"
"""
            % ((self.unix,) + address)
        )
        # With -D the first process ends once the sockets listen and the pidfile is written.
        done = subprocess.run(
            [find_tool("haproxy"), "-D", "-p", str(pidfile), "-f", str(conf)],
            timeout=DEADLINE_S,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        self.pids = [int(line) for line in pidfile.read_text().split()]

    def close(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGTERM)
        wait_gone(self.pids)


def find_tool(name):
    """The path of a tool that deps/need.sh installs; on Debian some stand in sbin."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/local/sbin")
    if path is None:
        raise LookupError(name)
    return path


def curl(address, path, *arguments, name=None, ca=None, scheme="https", check=True, text=True):
    """curl's output; name is resolved to the address."""
    host, port = address
    name = name or "localhost"
    command = [find_tool("curl"), "-sS", "--max-time", str(int(DEADLINE_S)), "--noproxy", "*"]
    command += ["--resolve", "%s:%d:%s" % (name, port, "[%s]" % host if ":" in host else host)]
    command += ["--cacert", str(ca)] if ca else ["-k"]
    command += [str(argument) for argument in arguments] + ["%s://%s:%d%s" % (scheme, name, port, path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S + 10, text=text)
    if check:
        assert done.returncode == 0, (done.returncode, done.stderr)
        return done.stdout
    return done


def target(address):
    host, port = address
    return "%s:%d" % ("[%s]" % host if ":" in host else host, port)


def s_client(address, *arguments, stdin=b"", check=None):
    """openssl s_client to its end; the CompletedProcess with bytes. stdin may be a file."""
    command = [find_tool("openssl"), "s_client", "-connect", target(address)]
    command += [str(argument) for argument in arguments]
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S, check=False, **given
    )
    if check is not None:
        assert done.returncode == check, (done.stdout[-2000:], done.stderr[-2000:])
    return done


class SClient:
    """openssl s_client that is spoken to line by line."""

    def __init__(self, address, *arguments):
        command = [find_tool("openssl"), "s_client", "-connect", target(address)] + [str(a) for a in arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
        )
        self.output = Lines(self.process.stdout, "openssl s_client")

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        return self

    def close(self):
        self.process.stdin.close()
        self.process.wait(DEADLINE_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.stdin.close()
        self.process.wait()
