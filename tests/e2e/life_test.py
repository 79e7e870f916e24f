"""The end of a server: nothing that got in is lost, it says 0, and a hurry is possible."""
import contextlib
import http.client
import pathlib
import signal
import subprocess
import tempfile
import threading
import unittest

import harness
from harness import Background, Server, config, infer_body, wait_for

FREE = [("INPUT0", "OUTPUT0", "FP32", (-1,))]  # free dims: no warm-up
LONG = "--lame-duck=1000s"  # ends only by a second signal


class Load:
    """Clients that ask without pause over keep-alive connections, obey `Connection: close`, and
    end when a new connection is refused."""

    def __init__(self, port, clients):
        self.port, self.failed, self.served, self.refused = port, [], 0, 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def connect(self):
        """None once the server takes no more connections."""
        try:
            return harness.Client(self.port)
        except ConnectionRefusedError:
            return None

    def run(self):
        client, before = self.connect(), 0  # `before`: replies on this connection
        while client:
            try:
                reply = client.infer("m")
            except (OSError, http.client.HTTPException) as problem:
                with self.lock:
                    self.failed.append((repr(problem), f"{before} replies before on this one"))
                client.close()
                client, before = self.connect(), 0
                continue
            with self.lock:
                self.served += reply.status == 200
                if reply.status != 200:
                    self.failed.append(repr(reply))
            if reply.header("Connection") == "close":
                client.close()
                client, before = self.connect(), -1
            before += 1
        with self.lock:
            self.refused += 1

    def join(self):
        for thread in self.threads:
            thread.join(harness.PATIENCE)


class Life(unittest.TestCase):
    def server(self, *flags, **more):
        server = Server({"m": config(tensors=FREE, **more)}, *flags)
        self.addCleanup(server.kill)
        return server

    def under_load(self, **more):
        """SIGTERM under load: every request that got a connection is answered, exit 0."""
        clients = 8
        server = self.server("--lame-duck=500ms", **more)
        load = Load(server.port, clients)
        wait_for(lambda: load.served >= 50, "the load")
        log = server.stop(signal.SIGTERM)
        load.join()
        self.assertEqual(load.failed, [])
        self.assertEqual(load.refused, clients)
        self.assertGreater(load.served, 50)
        self.assertIn("SIGTERM", log)
        self.assertNotIn("cut off", log)

    def test_sigterm_under_load(self):
        self.under_load(fixed="2ms", rows_max=1, instances=2)

    def test_sigterm_under_load_run_inline(self):
        self.under_load(mode="none")

    def test_not_ready_at_once_but_serving(self):
        server = self.server(LONG)
        with server.client() as old:
            self.assertEqual(old.get("/v2/health/ready").status, 200)
            server.process.send_signal(signal.SIGTERM)
            wait_for(lambda: server.get("/v2/health/ready").status == 503, "not ready")
            self.assertIn("exiting", server.get("/v2/health/ready").error())
            self.assertEqual(server.get("/v2/models/m/ready").status, 503)
            self.assertEqual(server.get("/v2/health/live").status, 200)
            new = server.infer("m")
            self.assertEqual((new.status, new.header("Connection")), (200, "close"))
            last = old.infer("m")  # an idle connection's next request is served, then it closes
            self.assertEqual((last.status, last.header("Connection")), (200, "close"))
        self.assertIsNone(server.process.poll())
        server.stop(signal.SIGTERM)  # the second signal ends the lame duck

    def test_second_signal_may_be_sigint(self):
        server = self.server(LONG)
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: server.get("/v2/health/ready").status == 503, "not ready")
        server.stop(signal.SIGINT)

    def test_sigint_ends_at_once(self):
        log = self.server(LONG).stop(signal.SIGINT)
        self.assertIn("SIGINT", log)

    def in_flight(self, number):
        """One runs, one waits, one is being sent: all are finished, then it ends with 0."""
        server = self.server("--lame-duck=0s", fixed="300ms", rows_max=1)
        two = [Background(server.infer, "m") for _ in range(2)]
        server.wait_pending("m", 1)
        request = harness.post("/v2/models/m/infer", infer_body())
        with server.raw() as half:
            half.send(request[:60])
            # A reply on another connection, accepted later: the half request has been seen.
            self.assertEqual(server.get("/v2/health/live").status, 200)
            server.process.send_signal(number)
            wait_for(lambda: self.refuses(server.port), "no new connections")
            self.assertIsNone(server.process.poll())
            half.send(request[60:])
            reply = half.reply()
            self.assertEqual((reply.status, reply.header("Connection")), (200, "close"))
        for request in two:
            self.assertEqual(request.result().status, 200)
        self.assertEqual(server.process.wait(harness.PATIENCE), 0)

    def refuses(self, port):
        try:
            with harness.Raw(port):
                return False
        except ConnectionRefusedError:
            return True

    def test_requests_in_flight_at_sigterm(self):
        self.in_flight(signal.SIGTERM)

    def test_requests_in_flight_at_sigint(self):
        self.in_flight(signal.SIGINT)

    def test_held_requests_do_not_hang_the_end(self):
        """What waits for company that can no longer come goes when its hold is over."""
        server = self.server("--lame-duck=0s", rows_max=4, tauto_policy="fixed",
                             tauto_hold_max="500ms")
        held = Background(server.infer, "m")
        server.wait_pending("m", 1)
        server.stop()
        self.assertEqual(held.result().status, 200)

    def test_idle_connections_do_not_hold_the_end(self):
        server = self.server("--lame-duck=0s", "--exit-timeout=1000s")
        with server.client() as one, server.raw() as two:
            self.assertEqual(one.infer("m").status, 200)
            server.stop()
            self.assertTrue(two.closed())

    def test_exit_timeout(self):
        """A request that takes longer than --exit-timeout is cut off, and that is said: exit 1."""
        server = self.server("--lame-duck=0s", "--exit-timeout=50ms", rows_max=1, fixed="3s")
        stuck = [Background(self.try_infer, server) for _ in range(2)]
        server.wait_pending("m", 1)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(harness.PATIENCE), 1)
        self.assertIn("cut off", server.log())
        for request in stuck:
            self.assertNotEqual(request.result(), 200)

    def try_infer(self, server):
        try:
            return server.infer("m").status
        except (OSError, http.client.HTTPException):
            return None

    def thread_names(self, pid):
        found = set()
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
            with contextlib.suppress(OSError):  # it ended meanwhile
                found.add(task.read_text().strip())
        return found

    def test_signal_while_loading(self):
        """A model that takes long to warm up: a signal ends the process at once, with 0."""
        slow = config(fixed="500ms")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        harness.write_repository(directory.name, {f"m{n}": slow for n in range(8)})
        process = subprocess.Popen(
            [harness.tauto(), "serve", directory.name, "--http-port=0", "--metrics-port=0",
             "--warm-budget=100s"], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        # Signals are blocked before the first thread has its name.
        wait_for(lambda: "io 0" in self.thread_names(process.pid) or process.poll() is not None,
                 "its first thread")
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual((process.returncode, told), (0, "tauto serve: stopped while loading\n"))


if __name__ == "__main__":
    harness.main()
