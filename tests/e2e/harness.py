"""Starts the built `tauto` over a repository made for the test and speaks HTTP to it.

The program's path is the first argument of a test file, or TAUTO_BIN. Ports are always free ones;
nothing sleeps for a fixed time: wait_for() asks until a condition holds. Limits are generous, since
under sanitizers everything is 10 to 20 times slower, and no test asserts an absolute latency.
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PATIENCE = 120  # seconds until something that must happen has failed to
# Under a sanitizer everything is slower, the engine's sleep is not: there it sleeps longer.
TIME_FACTOR = int(os.environ.get("TAUTO_E2E_TIME_FACTOR", "1"))
STAGES = ["receive", "parse", "prepare", "hold", "wait", "bind", "compute", "unbind", "finish",
          "reply", "send"]


def tauto():
    return os.environ["TAUTO_BIN"]


def main():
    """Runs the tests of the calling file; a first argument that is a file is the program."""
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
        os.environ["TAUTO_BIN"] = os.path.abspath(sys.argv.pop(1))
    if not os.environ.get("TAUTO_BIN"):
        sys.exit("say where tauto is: an argument, or TAUTO_BIN")
    unittest.main()


def wait_for(condition, what, patience=PATIENCE):
    """The first true value of condition(); AssertionError when it never comes."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"in vain waited {patience} s for: {what}")
        time.sleep(0.002)


def tensor(name, kind="FP32", dims=(4,)):
    return f'{{ name: "{name}" data_type: TYPE_{kind} dims: {list(dims)} }}'


def config(rows_max=8, tensors=(("INPUT0", "OUTPUT0", "FP32", (4,)),), instances=1, extra="",
           **parameters):
    """config.pbtxt of an identity model. `parameters`: fixed="5ms" sets tauto.synthetic.fixed,
    tauto_deadline="5ms" sets tauto.deadline. Runs sleep, so that the tests need no cores."""
    inputs = ", ".join(tensor(i, kind, dims) for i, _, kind, dims in tensors)
    outputs = ", ".join(tensor(o, kind, dims) for _, o, kind, dims in tensors)
    parameters.setdefault("mode", "sleep")
    lines = [f'backend: "synthetic" max_batch_size: {rows_max}', f"input [ {inputs} ]",
             f"output [ {outputs} ]", f"instance_group [ {{ kind: KIND_CPU count: {instances} }} ]",
             extra]
    for key, value in parameters.items():
        key = f"tauto.{key[6:]}" if key.startswith("tauto_") else f"tauto.synthetic.{key}"
        lines.append(f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}')
    return "\n".join(lines) + "\n"


def infer_body(values=(1.0, 2.0, 3.0, 4.0), rows=1, name="INPUT0", kind="FP32", **members):
    """A JSON request with one input of `rows` equal rows."""
    request = dict(members)
    request["inputs"] = [{"name": name, "datatype": kind, "shape": [rows, len(values)],
                          "data": list(values) * rows}]
    return json.dumps(request)


def bytes_tensor(*elements):
    return b"".join(struct.pack("<I", len(e)) + e for e in elements)


def parse_timing(text):
    """Server-Timing -> {name: microseconds}, in its order."""
    times = {}
    for part in text.split(","):
        name, duration = re.fullmatch(r"\s*([a-z]+);dur=([0-9.]+)", part).groups()
        if name in times:
            raise AssertionError(f"{name} is there twice: {text}")
        times[name] = round(float(duration) * 1000)
    return times


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def header(self, name):
        return self.headers.get(name)

    def json(self):
        return json.loads(self.body)

    def error(self):
        return self.json()["error"]

    def timing(self):
        return parse_timing(self.header("Server-Timing"))

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"


class Client:
    """One keep-alive connection. Never opens another one by itself."""

    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.http.connect()
        self.http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.http.auto_open = 0

    def request(self, method, path, body=None, headers=None):
        self.http.request(method, path, body, headers or {})
        reply = self.http.getresponse()
        return Reply(reply.status, reply.headers, reply.read())

    def get(self, path, **headers):
        return self.request("GET", path, None, {k.replace("_", "-"): v for k, v in headers.items()})

    def infer(self, model, body=None, headers=None):
        return self.request("POST", f"/v2/models/{model}/infer", body or infer_body(), headers)

    def close(self):
        self.http.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Raw:
    """A bare socket: what is sent and when is the test's business."""

    def __init__(self, port, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)

    def reply(self):
        """The next reply, by its Content-Length; None when the server closed instead."""
        line = self.file.readline()
        if not line:
            return None
        status = int(line.split()[1])
        headers = http.client.parse_headers(self.file)
        return Reply(status, headers, self.file.read(int(headers.get("Content-Length", 0))))

    def closed(self):
        """Waits for the server to close; False when it sends something instead."""
        return self.file.read(1) == b""

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def post(path, body, *headers):
    """A whole POST request as bytes."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"POST {path} HTTP/1.1", "Host: t", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def write_repository(root, models):
    """{"name": config text} or {"name": {"path": text or bytes}} below `root`."""
    for name, files in models.items():
        if not isinstance(files, dict):
            files = {"config.pbtxt": files, "1/.keep": ""}
        for path, content in files.items():
            file = pathlib.Path(root, name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)


def run_tauto(*arguments, **options):
    """Runs the program to its end: exit code, stdout, stderr."""
    done = subprocess.run([tauto(), *map(str, arguments)], capture_output=True, text=True,
                          timeout=PATIENCE, check=False, **options)
    return done.returncode, done.stdout, done.stderr


class Server:
    """`tauto serve` on a repository of its own. `flags` go before the usual ones' defaults."""

    def __init__(self, models, *flags):
        self.directory = tempfile.TemporaryDirectory(prefix="tauto-e2e-")
        self.root = pathlib.Path(self.directory.name)
        write_repository(self.root / "models", models)
        (self.root / "models").mkdir(exist_ok=True)
        defaults = {"--warm-budget": "20ms", "--lame-duck": "0s", "--http-address": "127.0.0.1"}
        given = {flag.split("=")[0] for flag in flags}
        chosen = [f"{k}={v}" for k, v in defaults.items() if k not in given]
        port_file = self.root / "ports"
        self.out = open(self.root / "out", "w+b")
        self.process = subprocess.Popen(
            [tauto(), "serve", "--model-repository", str(self.root / "models"), "--http-port=0",
             "--metrics-port=0", f"--port-file={port_file}", *chosen, *flags],
            stdout=self.out, stderr=subprocess.STDOUT)
        try:
            wait_for(lambda: port_file.exists() or self.process.poll() is not None, "the port file")
            if not port_file.exists():
                raise AssertionError(f"tauto ended with {self.process.wait()}:\n{self.log()}")
        except BaseException:
            self.kill()
            raise
        ports = dict(line.split() for line in port_file.read_text().splitlines())
        self.port, self.metrics_port = int(ports["http"]), int(ports["metrics"])

    def log(self):
        return (self.root / "out").read_text(errors="replace")

    def client(self):
        return Client(self.port)

    def raw(self, **options):
        return Raw(self.port, **options)

    def get(self, path):
        with self.client() as client:
            return client.get(path)

    def infer(self, model, body=None, headers=None):
        """One inference on a connection of its own."""
        with self.client() as client:
            return client.infer(model, body, headers)

    def statistics(self, model):
        return self.get(f"/v2/models/{model}/stats").json()["model_stats"][0]

    def batches(self, model):
        """{rows: executions of that size}"""
        return {b["batch_size"]: b["compute_infer"]["count"]
                for b in self.statistics(model)["batch_stats"]}

    def journeys(self, model):
        return self.get(f"/v2/models/{model}/journeys").json()

    def metrics_page(self):
        with Client(self.metrics_port) as client:
            return client.get("/metrics").body.decode()

    def metric(self, name, **labels):
        """One sample; 0 when it is not there."""
        for line in self.metrics_page().splitlines():
            match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if match and match[1] == name:
                got = dict(re.findall(r'(\w+)="([^"]*)"', match[2] or ""))
                if labels.items() <= got.items():
                    return float(match[3])
        return 0.0

    def pending(self, model):
        return self.metric("nv_inference_pending_request_count", model=model)

    def wait_pending(self, model, count):
        wait_for(lambda: self.pending(model) == count, f"{count} pending requests of {model}")

    def stop(self, number=signal.SIGTERM):
        """Ends the server in its orderly way; it must say 0."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        log = self.log()
        self.kill()
        if code != 0:
            raise AssertionError(f"tauto ended with {code}:\n{log}")
        return log

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.out.close()
        self.directory.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(f"--- the server said:\n{self.log()}", file=sys.stderr)
            self.kill()
        elif not self.out.closed:
            self.stop()


class Background:
    """Runs `work` in a thread; result() waits for it and raises what it raised."""

    def __init__(self, work, *arguments):
        self.value, self.problem, self.ended = None, None, None
        self.thread = threading.Thread(target=self._run, args=(work, arguments), daemon=True)
        self.thread.start()

    def _run(self, work, arguments):
        try:
            self.value = work(*arguments)
        except BaseException as problem:  # told by result()
            self.problem = problem
        self.ended = time.monotonic()

    def done(self):
        return self.ended is not None

    def result(self):
        self.thread.join(PATIENCE)
        if self.problem:
            raise self.problem
        if not self.done():
            raise AssertionError("a request is still without its answer")
        return self.value


def at_once(count, work):
    """Runs work(0), work(1) ... at the same time; their results in order."""
    return [b.result() for b in [Background(work, i) for i in range(count)]]


class ServerTest(unittest.TestCase):
    """Tests that share one server: `models` and `flags` say which."""
    models, flags, server = {}, (), None

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.models, *cls.flags)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def client(self):
        return self.stack.enter_context(self.server.client())

    def raw(self, **options):
        return self.stack.enter_context(self.server.raw(**options))

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before and self.server:
            print(f"--- {self.id()} failed; the server said:\n{self.server.log()}", file=sys.stderr)
