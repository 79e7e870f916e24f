"""Starting: good models beside broken ones, readiness, and every way in which it cannot start."""
import pathlib
import socket
import tempfile
import unittest

import harness
from harness import Server, config, infer_body, run_tauto, write_repository


def field(number, value):
    """One protobuf field: an int as varint, text and bytes with their length."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_double():
    """y = x + x for float x [n, 4], as the bytes of a model.onnx."""
    def value(name):
        dims = field(1, field(2, "n")) + field(1, field(1, 4))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))
    node = field(1, "x") + field(1, "x") + field(2, "y") + field(4, "Add")
    graph = field(1, node) + field(2, "g") + field(11, value("x")) + field(12, value("y"))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def onnx(content):
    return {"config.pbtxt": "", "1/model.onnx": content}


BROKEN = {
    "good": config(),
    "unknown_key": config(tauto_polcy="direct"),
    "bad_text": "max_batch_size: [",
    "no_version": {"config.pbtxt": config()},
    "corrupt": onnx(b"this is no model"),
}


class Models(unittest.TestCase):
    def index(self, server, body=None):
        with server.client() as client:
            reply = client.request("POST", "/v2/repository/index", body)
            self.assertEqual(reply.status, 200, reply)
            return {entry["name"]: entry for entry in reply.json()}

    def test_broken_models_do_not_stop_the_others(self):
        with Server(BROKEN) as server:
            self.assertEqual(server.infer("good").status, 200)
            index = self.index(server)
            self.assertEqual(set(index), set(BROKEN))
            good = index.pop("good")
            self.assertEqual((good["version"], good["state"]), ("1", "READY"))
            for name, entry in index.items():
                self.assertEqual(entry["state"], "UNAVAILABLE", name)
                self.assertTrue(entry["reason"], name)
            self.assertIn("tauto.policy", index["unknown_key"]["reason"])
            self.assertIn("config.pbtxt", index["bad_text"]["reason"])
            self.assertIn("no_version/1", index["no_version"]["reason"])
            self.assertEqual(set(self.index(server, '{"ready": true}')), {"good"})
            self.assertEqual(server.get("/v2/health/ready").status, 400)
            self.assertEqual(server.get("/v2/health/live").status, 200)
            self.assertEqual(server.get("/v2/models/good/ready").status, 200)
            refused = server.infer("corrupt")
            self.assertIn(refused.status, (404, 503))
            self.assertIn("corrupt", refused.error())
            log = server.stop()
            for name in index:
                self.assertIn(f"not ready: {name}: ", log)

    def test_without_strict_readiness(self):
        with Server(BROKEN, "--strict-readiness=false") as server:
            self.assertEqual(server.get("/v2/health/ready").status, 200)

    def test_onnx_model_without_config(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "double.onnx")
            file.write_bytes(onnx_double())
            models = {"double2": {"1/model.onnx": onnx_double()}, "good": config()}
            with Server(models, str(file)) as server:
                index = self.index(server)
                reason = index["double"].get("reason", "")
                if "ONNX Runtime" in reason:
                    self.assertEqual(index["double"]["state"], "UNAVAILABLE")
                    self.skipTest(reason)
                for name in ["double", "double2"]:
                    reply = server.infer(name, infer_body([1.0, 2.0, -3.0, 0.5], 2, "x"))
                    self.assertEqual(reply.status, 200, reply)
                    output = reply.json()["outputs"][0]
                    self.assertEqual((output["name"], output["shape"]), ("y", [2, 4]))
                    self.assertEqual(output["data"], [2, 4, -6, 1] * 2)

    def test_without_onnxruntime(self):
        models = {"good": config(), "onnx": onnx(onnx_double())}
        with Server(models, "--onnxruntime-library=/nonexistent/lib.so") as server:
            entry = self.index(server)["onnx"]
            self.assertEqual(entry["state"], "UNAVAILABLE")
            self.assertIn("/nonexistent/lib.so", entry["reason"])
            self.assertEqual(server.infer("good").status, 200)

    def test_policy_for_all(self):
        with Server({"m": config(extra="dynamic_batching {}")}, "--policy=eager") as server:
            self.assertIn("eager", server.log())
            self.assertEqual(server.infer("m").status, 200)

    def test_advisory_flag(self):
        with Server({"m": config()}, "--log-verbose=1", "--allow-gpu-metrics", "false") as server:
            log = server.stop()
            self.assertIn("--log-verbose has no effect here", log)
            self.assertIn("--allow-gpu-metrics has no effect here", log)


class CannotStart(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.root = self.directory.name
        self.good = str(pathlib.Path(self.root, "good"))
        write_repository(self.good, {"m": config()})

    def refused(self, *arguments):
        """Ends with 2 and one line on stderr; the line."""
        code, _, told = run_tauto(*arguments)
        self.assertEqual(code, 2, told)
        self.assertEqual(told.count("\n"), 1, told)
        self.assertTrue(told.endswith("\n"))
        return told

    def serve(self, repository, *flags):
        ports = {"--http-port": 0, "--metrics-port": 0}
        ports.update(flag.split("=") for flag in flags if flag.split("=")[0] in ports)
        rest = [flag for flag in flags if flag.split("=")[0] not in ports]
        return self.refused("serve", "--model-repository", repository,
                            *(f"{name}={port}" for name, port in ports.items()), *rest)

    def test_empty_repository(self):
        empty = pathlib.Path(self.root, "empty")
        empty.mkdir()
        told = self.serve(empty)
        self.assertIn(f"no models in {empty}", told)
        self.assertIn("model.onnx", told)

    def test_missing_path(self):
        self.assertIn("/nonexistent/models", self.serve("/nonexistent/models"))

    def test_no_repository_named(self):
        self.assertIn("--model-repository", self.refused("serve"))

    def test_nothing_loads(self):
        bad = pathlib.Path(self.root, "bad")
        write_repository(bad, {"m": onnx(b"no model")})
        code, said, told = run_tauto("serve", bad, "--http-port=0", "--metrics-port=0")
        self.assertEqual((code, told.count("\n")), (2, 1), told)
        self.assertIn("not ready: m: ", said)

    def test_exit_on_error(self):
        write_repository(self.good, {"broken": "max_batch_size: ["})
        told = self.serve(self.good, "--exit-on-error=true")
        self.assertIn("--exit-on-error", told)

    def test_port_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            for flag in ["--http-port", "--metrics-port"]:
                with self.subTest(flag):
                    told = self.serve(self.good, "--http-address=127.0.0.1", f"{flag}={port}")
                    self.assertRegex(told, f"port {port} .*is taken")

    def test_bad_flags(self):
        for flag, words in [("--htp-port=1", ["--htp-port", "did you mean --http-port?"]),
                            ("--http-port=70000", ["--http-port", "65535"]),
                            ("--lame-duck=5", ["--lame-duck", "5"]),
                            ("--policy=fast", ["--policy", "fast", "triton"]),
                            ("--http-max-input-size=1furlong", ["--http-max-input-size"]),
                            ("--allow-grpc=true", ["--allow-grpc"]),
                            ("--rate-limit=execution_count", ["--rate-limit"]),
                            ("--model-control-mode=explicit", ["--model-control-mode"]),
                            ("--http-address=nowhere", ["nowhere"])]:
            with self.subTest(flag):
                told = self.serve(self.good, flag)
                for word in words:
                    self.assertIn(word, told)

    def test_bad_subcommand(self):
        self.assertIn("did you mean serve?", self.refused("serv"))
        self.assertIn("xyzzyxyzzy", self.refused("xyzzyxyzzy"))
        code, said, told = run_tauto()
        self.assertEqual((code, said), (2, ""))
        self.assertIn("tauto serve", told)

    def test_help_and_version(self):
        for arguments, word in [(["--help"], "tauto bench"), (["serve", "--help"], "--lame-duck"),
                                (["bench", "--help"], "--rate"), (["version"], "tauto "),
                                (["--version"], "tauto ")]:
            code, said, told = run_tauto(*arguments)
            self.assertEqual((code, told), (0, ""), arguments)
            self.assertIn(word, said)

    def test_port_file_cannot_be_written(self):
        self.assertIn("/nonexistent/ports", self.serve(self.good, "--port-file=/nonexistent/ports"))


if __name__ == "__main__":
    harness.main()
