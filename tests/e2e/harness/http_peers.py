"""HTTP servers that record each request as they have understood it: nginx, haproxy, Node, Go, and a strict one in Python.

Each has spec (what halter's backend= takes), wants_proxy (whether halter must tell the client's address by PROXY), and
finish(): it ends the server once all its connections are done, and returns them as pairs: the client's address, as halter
has told it (None: by no request), and the list of http_streams.Request.
"""

import base64
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from .backends import ThreadedBackend
from .halter import IS_ROOT
from .http_streams import RefusedError, Request, read_requests
from .peers import find_tool
from .wait import DEADLINE_S, DirectoryWatch, wait_file, wait_gone


def _by_connection(records):
    """(connection, place, Request) to connection: requests in their order."""
    connections = {}
    for connection, _, request in sorted(records, key=lambda record: record[:2]):
        connections.setdefault(connection, []).append(request)
    return connections


def client_of(requests):
    """The address that halter has added to the first request, as the last one of its last X-Forwarded-For."""
    for request in requests[:1]:
        for value in request.forwarded[-1:]:
            return value.rpartition(b",")[2].strip().decode("latin-1")
    return None


# ---- Python ----


class _Tap:
    """A file object that keeps what is read through it."""

    def __init__(self, file):
        self.file = file
        self.raw = bytearray()

    def readline(self, limit):
        line = self.file.readline(limit)
        self.raw += line
        return line

    def read(self, count):
        data = self.file.read(count)
        self.raw += data
        return data


class StrictPeer:
    """Takes nothing but what RFC 9112 says, to the letter. raw holds the bytes of each connection, by the client's address."""

    wants_proxy = False

    def __init__(self, directory):
        self.connections = []
        self.raw = {}
        self.server = ThreadedBackend(self._serve, path=directory / "strict")
        self.spec = self.server.spec

    def _serve(self, wire):
        seen = []
        self.connections.append(seen)

        def answer(request, last):
            status = b"405 Method Not Allowed" if request.method == b"CONNECT" else b"200 OK"
            wire.send(b"HTTP/1.1 %s\r\nContent-Length: 0\r\n%s\r\n" % (status, b"Connection: close\r\n" * last))

        with wire.socket.makefile("rb") as file:
            tap = _Tap(file)
            try:
                for request in read_requests(tap, answer, exact=True):
                    seen.append(request)
            except RefusedError:
                if not (seen and seen[-1].complete is False):
                    seen.append(Request(None, None, complete=None, refused=True))
                wire.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            except ConnectionError:
                pass  # halter has reset it; what is seen stays
            wire.shutdown_write()
            try:
                while tap.read(65536):
                    pass
            except ConnectionError:
                pass
        if tap.raw:
            self.raw[client_of(seen)] = bytes(tap.raw)

    def finish(self):
        self.server.close()
        return [(client_of(seen), seen) for seen in self.connections if seen]

    def close(self):
        pass


# ---- others ----


class _Process:
    """A server that runs in the foreground and writes to a file."""

    wants_proxy = False
    stop_signal = signal.SIGTERM

    def __init__(self, command, directory, **more):
        self.output = directory / "output"
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, **more
            )

    def wait_ready(self):
        wait_file(self.output, "^ready$")

    def stop(self):
        self.process.send_signal(self.stop_signal)
        self.process.wait(DEADLINE_S)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class _JsonPeer(_Process):
    """Writes a line of JSON for each request: connection, place, method, target, body, complete, forwarded; the texts in base64."""

    def finish(self):
        self.stop()
        records = []
        for line in self.output.read_text().splitlines():
            if line == "ready":
                continue
            told = json.loads(line)
            text = {name: base64.b64decode(told[name]) for name in ("method", "target", "body")}
            forwarded = tuple(value.encode("latin-1") for value in told["forwarded"])
            if told["refused"]:
                request = Request(None, None, complete=None, refused=True)
            else:
                request = Request(text["method"], text["target"], text["body"], told["complete"], forwarded)
            records.append((told["connection"], told["place"], request))
        return [(client_of(requests), requests) for requests in _by_connection(records).values()]


NODE = r"""
const http = require('http'), fs = require('fs');
const text = (s) => Buffer.from(s || '', 'latin1').toString('base64');
let connections = 0;
function note(socket, place, q, body, complete) {
  const forwarded = [];
  for (let i = 0; q && i < q.rawHeaders.length; i += 2)
    if (q.rawHeaders[i].toLowerCase() === 'x-forwarded-for') forwarded.push(q.rawHeaders[i + 1]);
  fs.writeSync(1, JSON.stringify({connection: socket.number, place, forwarded, complete, refused: !q,
    method: text(q && q.method), target: text(q && q.url), body: Buffer.concat(body).toString('base64')}) + '\n');
}
function serve(q, r) {
  const socket = q.socket, place = socket.place++, body = [];
  q.on('data', (part) => body.push(part));
  q.on('end', () => r.end('ok'));
  q.on('error', () => {});
  q.on('close', () => note(socket, place, q, body, q.complete));
}
const server = http.createServer(serve);
server.on('checkExpectation', serve);
server.on('connection', (socket) => { socket.number = connections++; socket.place = 0; });
server.on('connect', (q, socket) => {
  note(socket, socket.place++, q, [], true);
  socket.end('HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
});
server.on('clientError', (fault, socket) => {
  if (fault.code === 'ECONNRESET' || fault.code === 'HPE_INVALID_EOF_STATE') return socket.destroy();
  note(socket, socket.place++, null, [], null);
  socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
});
process.on('SIGTERM', () => server.close());
server.listen(process.argv[2], () => { fs.chmodSync(process.argv[2], 0o777); fs.writeSync(1, 'ready\n'); });
"""


class NodePeer(_JsonPeer):
    def __init__(self, directory):
        self.spec = str(directory / "node")
        script = directory / "server.js"
        script.write_text(NODE)
        super().__init__([find_tool("node"), str(script), self.spec], directory)
        self.wait_ready()


GO = r"""
package main

import (
    "context"
    "encoding/json"
    "io"
    "net"
    "net/http"
    "os"
    "os/signal"
    "sync"
    "syscall"
)

type connection struct {
    number int
    place  int
}

type record struct {
    Connection int      `json:"connection"`
    Place      int      `json:"place"`
    Method     []byte   `json:"method"`
    Target     []byte   `json:"target"`
    Body       []byte   `json:"body"`
    Complete   bool     `json:"complete"`
    Forwarded  []string `json:"forwarded"`
    Refused    bool     `json:"refused"`
}

type key struct{}

var lock sync.Mutex
var connections int

func serve(w http.ResponseWriter, q *http.Request) {
    body, err := io.ReadAll(q.Body)
    lock.Lock()
    of := q.Context().Value(key{}).(*connection)
    forwarded := q.Header.Values("X-Forwarded-For")
    if forwarded == nil {
        forwarded = []string{}
    }
    line, _ := json.Marshal(record{of.number, of.place, []byte(q.Method), []byte(q.RequestURI), body, err == nil, forwarded, false})
    of.place++
    os.Stdout.Write(append(line, '\n'))
    lock.Unlock()
    if q.Method == "CONNECT" {
        w.WriteHeader(405)
        return
    }
    io.WriteString(w, "ok")
}

func main() {
    listener, err := net.Listen("unix", os.Args[1])
    if err != nil {
        panic(err)
    }
    os.Chmod(os.Args[1], 0777)
    server := &http.Server{Handler: http.HandlerFunc(serve), DisableGeneralOptionsHandler: true}
    server.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
        lock.Lock()
        defer lock.Unlock()
        connections++
        return context.WithValue(ctx, key{}, &connection{number: connections})
    }
    stop := make(chan os.Signal, 1)
    signal.Notify(stop, syscall.SIGTERM)
    done := make(chan bool)
    go func() { <-stop; server.Shutdown(context.Background()); close(done) }()
    os.Stdout.WriteString("ready\n")
    server.Serve(listener)
    <-done
}
"""


class GoPeer(_JsonPeer):
    def __init__(self, directory):
        go = shutil.which("go", path=os.environ.get("PATH", "") + ":/usr/local/go/bin:/usr/lib/go/bin")
        if go is None:
            raise LookupError("go")
        self.spec = str(directory / "go")
        source, program = directory / "server.go", directory / "server"
        source.write_text(GO)
        environment = dict(os.environ, GO111MODULE="off", GOFLAGS="", GOTOOLCHAIN="local", CGO_ENABLED="0")
        done = subprocess.run(
            [go, "build", "-o", str(program), str(source)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        super().__init__([str(program), self.spec], directory)
        self.wait_ready()


class NginxPeer:
    """nginx as a proxy before itself, so that it reads bodies; the access log tells what it has understood."""

    wants_proxy = True

    CONF = """
        %(user)s
        pid %(directory)s/nginx.pid;
        worker_processes 1;
        events { worker_connections 512; }
        http {
            client_body_temp_path %(directory)s/t1; proxy_temp_path %(directory)s/t2;
            fastcgi_temp_path %(directory)s/t3; uwsgi_temp_path %(directory)s/t4; scgi_temp_path %(directory)s/t5;
            log_format seen escape=json '{"client":"$proxy_protocol_addr","connection":$connection,'
                '"place":$connection_requests,"request":"$request","status":$status,"body":"$request_body",'
                '"forwarded":"$http_x_forwarded_for"}';
            client_body_buffer_size 1m;
            client_max_body_size 0;
            server {
                listen unix:%(directory)s/nginx proxy_protocol;
                access_log %(directory)s/access.log seen;
                error_log %(directory)s/error.log info;
                location / {
                    rewrite ^ /? break;
                    proxy_method GET;
                    proxy_pass_request_headers off;
                    proxy_pass_request_body off;
                    proxy_ignore_client_abort on;
                    proxy_set_header Content-Length "";
                    proxy_pass http://unix:%(directory)s/sink;
                }
            }
            server { listen unix:%(directory)s/sink; access_log off; location / { return 200 "ok"; } }
        }
    """

    def __init__(self, directory):
        self.directory = directory
        self.spec = str(directory / "nginx")
        conf = directory / "nginx.conf"
        conf.write_text(self.CONF % {"directory": directory, "user": "user root;" if IS_ROOT else ""})
        subprocess.run(
            [find_tool("nginx"), "-e", str(directory / "error.log"), "-p", str(directory), "-c", str(conf)],
            check=True,
            timeout=DEADLINE_S,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.pid = int(wait_file(directory / "nginx.pid", r"(\d+)\n").group(1))

    def finish(self):
        os.kill(self.pid, signal.SIGQUIT)
        wait_gone([self.pid])
        self.pid = None
        errors = (self.directory / "error.log").read_text("latin-1")
        cut_short = {int(n) for n in re.findall(r"\*(\d+) (?:client prematurely closed|recv\(\) failed)", errors)}
        records = []
        for line in (self.directory / "access.log").read_text("latin-1").split("\n"):
            if not line:
                continue
            told = json.loads(line)
            method, _, rest = told["request"].encode("latin-1").partition(b" ")
            target = rest.rpartition(b" ")[0]
            refused = told["status"] >= 400
            complete = None if refused else True
            if refused and told["connection"] in cut_short:
                refused, complete = False, False
            forwarded = told["forwarded"].encode("latin-1")
            body = told["body"].encode("latin-1")
            if refused or target:  # else: the end came within the head
                request = Request(
                    method if target else None,
                    target or None,
                    body,
                    complete,
                    (forwarded,) if forwarded else (),
                    refused,
                )
                records.append(((told["client"], told["connection"]), told["place"], request))
        return [(client, requests) for (client, _), requests in _by_connection(records).items()]

    def close(self):
        if self.pid is not None:
            os.kill(self.pid, signal.SIGTERM)
            wait_gone([self.pid])


class HaproxyPeer(_Process):
    """haproxy that answers by itself; its log tells what it has understood."""

    CONF = """
global
    nbthread 1
    maxconn 512
    tune.bufsize 262144
    log stdout len 65535 format raw local0
defaults
    mode http
    log global
    timeout client 60s
    timeout connect 60s
    timeout server 60s
    option http-buffer-request
frontend seen
    bind unix@%s mode 666 accept-proxy
    http-request set-var(txn.method) method,hex
    http-request set-var(txn.target) url,hex
    http-request set-var(txn.body) req.body,hex
    http-request set-var(txn.forwarded) req.fhdr(x-forwarded-for),hex
    log-format "seen %%ci %%cp %%rt %%ST %%ts %%[var(txn.method)] %%[var(txn.target)] %%[var(txn.body)] %%[var(txn.forwarded)]"
    http-request deny deny_status 405 if METH_CONNECT
    http-request return status 200 content-type text/plain string "ok"
"""
    wants_proxy = True
    stop_signal = signal.SIGUSR1

    def __init__(self, directory):
        self.spec = str(directory / "haproxy")
        conf = directory / "haproxy.cfg"
        conf.write_text(self.CONF % self.spec)
        super().__init__([find_tool("haproxy"), "-db", "-f", str(conf)], directory)
        with DirectoryWatch(directory) as watch:  # the socket gets its name when it listens
            watch.wait("haproxy's socket", (directory / "haproxy").exists)

    def finish(self):
        self.stop()
        records = []
        for line in self.output.read_text().splitlines():
            if not line.startswith("seen "):
                continue
            client, port, place, status, state, *texts = line.split(" ")[1:]
            method, target, body, forwarded = (bytes.fromhex(text) if text != "-" else b"" for text in texts)
            refused = int(status) >= 400
            if refused and not method and state.startswith("C"):
                continue  # the client's end came within the head
            forwarded = (forwarded,) if forwarded else ()
            request = Request(method or None, target or None, body, None, forwarded, refused)
            records.append(((client, port), int(place), request))
        return [(client, requests) for (client, _), requests in _by_connection(records).items()]


PEERS = {"strict": StrictPeer, "nginx": NginxPeer, "haproxy": HaproxyPeer, "node": NodePeer, "go": GoPeer}


def start_peer(name, directory):
    """LookupError when its program is not there."""
    return PEERS[name](Path(directory))
