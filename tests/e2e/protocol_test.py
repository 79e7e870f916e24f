"""The protocol on the wire: documents, infer in all its forms, errors that leave the connection."""
import json
import struct
import unittest

import harness
from harness import ServerTest, bytes_tensor, config, infer_body, post

TYPES = {  # type -> values, struct format; FP16 and BF16 have no JSON form
    "BOOL": ([True, False, True, True], "?"), "UINT8": ([0, 1, 254, 255], "B"),
    "INT8": ([-128, -1, 0, 127], "b"), "UINT16": ([0, 1, 2, 65535], "H"),
    "INT16": ([-32768, -1, 0, 32767], "h"), "UINT32": ([0, 1, 2, 2**32 - 1], "I"),
    "INT32": ([-2**31, -1, 0, 2**31 - 1], "i"), "UINT64": ([0, 1, 2, 2**64 - 1], "Q"),
    "INT64": ([-2**63, -1, 0, 2**63 - 1], "q"), "FP32": ([0.0, -1.5, 0.25, 3e38], "f"),
    "FP64": ([0.0, -1.5, 0.1, 1e300], "d"),
}


def identity(kind, dims=(4,), **more):
    kind = "STRING" if kind == "BYTES" else kind
    return config(tensors=[("INPUT0", "OUTPUT0", kind, dims)], **more)


class Protocol(ServerTest):
    models = {
        **{f"id_{kind.lower()}": identity(kind) for kind in [*TYPES, "BYTES", "FP16"]},
        "two": config(tensors=[("A", "X", "FP32", (2,)), ("B", "Y", "INT32", (2,))]),
        "plain": config(rows_max=0, tensors=[("IN", "OUT", "FP32", (-1,))]),
        "word": config(tensors=[("IN", "OUT", "STRING", (1,))]),
        "wide": config(rows_max=0, tensors=[("INPUT0", "OUTPUT0", "UINT8", (-1,))]),
        "many": {"config.pbtxt": config(extra="version_policy { all {} }"), "1/.keep": "",
                 "3/.keep": ""},
    }
    flags = ("--http-max-input-size=16MiB", "--id=e2e")

    def check_error(self, reply, status, *words):
        self.assertEqual(reply.status, status, reply)
        self.assertEqual(reply.header("Content-Type"), "application/json")
        self.assertEqual(list(reply.json()), ["error"])
        for word in words:
            self.assertIn(word, reply.error())

    def test_health(self):
        client = self.client()
        for path in ["/v2/health/live", "/v2/health/ready", "/v2/models/two/ready",
                     "/v2/models/two/versions/1/ready"]:
            with self.subTest(path):
                reply = client.get(path)
                self.assertEqual((reply.status, reply.body), (200, b""))
                self.assertIsNone(reply.header("Content-Type"))
        self.check_error(client.get("/v2/models/none/ready"), 404,
                         "Request for unknown model: 'none' is not found")

    def test_server_metadata(self):
        got = self.server.get("/v2").json()
        self.assertEqual(list(got), ["name", "version", "extensions"])
        self.assertEqual(got["name"], "e2e")
        self.assertLessEqual({"binary_tensor_data", "statistics", "parameters",
                              "model_configuration"}, set(got["extensions"]))

    def test_model_metadata(self):
        client = self.client()
        got = client.get("/v2/models/two").json()
        self.assertEqual(got, {
            "name": "two", "versions": ["1"], "platform": "synthetic",
            "inputs": [{"name": "A", "datatype": "FP32", "shape": [-1, 2]},
                       {"name": "B", "datatype": "INT32", "shape": [-1, 2]}],
            "outputs": [{"name": "X", "datatype": "FP32", "shape": [-1, 2]},
                        {"name": "Y", "datatype": "INT32", "shape": [-1, 2]}]})
        got = client.get("/v2/models/plain").json()
        self.assertEqual(got["inputs"], [{"name": "IN", "datatype": "FP32", "shape": [-1]}])
        self.assertEqual(client.get("/v2/models/many").json()["versions"], ["1", "3"])
        self.assertEqual(client.get("/v2/models/many/versions/1").json()["versions"], ["1"])
        self.assertEqual(client.get("/v2/models/word").json()["inputs"][0]["datatype"], "BYTES")

    def test_model_config(self):
        got = self.server.get("/v2/models/two/config").json()
        self.assertEqual((got["name"], got["max_batch_size"]), ("two", 8))
        self.assertEqual([(i["name"], i["data_type"], i["dims"]) for i in got["input"]],
                         [("A", "TYPE_FP32", [2]), ("B", "TYPE_INT32", [2])])
        self.assertEqual(got["instance_group"][0]["count"], 1)
        self.assertEqual(got["parameters"]["tauto.synthetic.mode"], {"string_value": "sleep"})

    def test_statistics(self):
        client = self.client()
        before = self.server.statistics("id_int16")
        for rows in (1, 3):
            body = infer_body(TYPES["INT16"][0], rows=rows, kind="INT16")
            self.assertEqual(client.infer("id_int16", body).status, 200)
        after = self.server.statistics("id_int16")
        self.assertEqual(list(after)[:5], ["name", "version", "last_inference", "inference_count",
                                           "execution_count"])
        self.assertEqual(after["inference_count"] - before["inference_count"], 4)
        self.assertEqual(after["execution_count"] - before["execution_count"], 2)
        stats = after["inference_stats"]
        for part in ["success", "queue", "compute_input", "compute_infer", "compute_output"]:
            self.assertEqual(stats[part]["count"] - before["inference_stats"][part]["count"], 2)
        parts = sum(stats[p]["ns"] for p in stats if p.startswith("compute") or p == "queue")
        self.assertLessEqual(parts, stats["success"]["ns"])
        self.assertGreater(after["last_inference"], 1_600_000_000_000)
        names = {m["name"] for m in client.get("/v2/models/stats").json()["model_stats"]}
        self.assertEqual(names, set(self.models))
        self.check_error(client.get("/v2/models/none/stats"), 400,
                         "requested model 'none' is not available")

    def test_unknown(self):
        client = self.client()
        self.check_error(client.infer("none"), 404,
                         "Request for unknown model: 'none' is not found")
        self.check_error(client.get("/v2/models/many/versions/2"), 404,
                         "Request for unknown model: 'many' version 2 is not found")
        for path in ["/", "/v2/", "/v1", "/v2/models/two/versions/x", "/v2/models/two/what",
                     "/v2/models//infer", "/v2/models/two/infer/", "/metrics"]:
            with self.subTest(path):
                self.check_error(client.get(path), 404, "Not Found")

    def test_methods(self):
        client = self.client()
        for method, path in [("GET", "/v2/models/two/infer"), ("POST", "/v2"),
                             ("DELETE", "/v2/models/two"), ("PUT", "/v2/models/two/infer"),
                             ("POST", "/v2/health/ready"), ("POST", "/v2/models/two/config"),
                             ("GET", "/v2/repository/index")]:
            with self.subTest(f"{method} {path}"):
                reply = client.request(method, path)
                self.check_error(reply, 405, "Method Not Allowed")
                allowed = "POST" if path.endswith(("infer", "index")) else "GET, HEAD"
                self.assertEqual(reply.header("Allow"), allowed)
        head = client.request("HEAD", "/v2/models/two")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(int(head.header("Content-Length")),
                         len(client.get("/v2/models/two").body))

    def test_json_identity(self):
        client = self.client()
        for kind, (values, _) in TYPES.items():
            with self.subTest(kind):
                reply = client.infer(f"id_{kind.lower()}", infer_body(values, kind=kind))
                self.assertEqual(reply.status, 200, reply)
                self.assertEqual(reply.header("Content-Type"), "application/json")
                got = reply.json()
                self.assertEqual(list(got), ["model_name", "model_version", "outputs"])
                output = got["outputs"][0]
                self.assertEqual((output["name"], output["datatype"], output["shape"]),
                                 ("OUTPUT0", kind, [1, 4]))
                if kind == "FP32":
                    values = [struct.unpack("f", struct.pack("f", v))[0] for v in values]
                    output["data"] = [struct.unpack("f", struct.pack("f", v))[0]
                                      for v in output["data"]]
                self.assertEqual(output["data"], values)

    def test_json_bytes_and_nested(self):
        body = infer_body(["plain", "", "\u00fcml\u00e4ut \u00a7", 'q"\\\n'], kind="BYTES")
        reply = self.server.infer("id_bytes", body)
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual(reply.json()["outputs"][0]["data"],
                         ["plain", "", "\u00fcml\u00e4ut \u00a7", 'q"\\\n'])
        request = json.loads(infer_body([1, 2, 3, 4], rows=2, kind="INT32"))
        request["inputs"][0]["data"] = [[1, 2, 3, 4], [5, 6, 7, 8]]
        reply = self.server.infer("id_int32", json.dumps(request))
        self.assertEqual(reply.json()["outputs"][0]["data"], [1, 2, 3, 4, 5, 6, 7, 8])

    def binary(self, client, model, kind, raw, shape=(1, 4), **members):
        """Sends one input as bytes, wants the output so; (JSON, bytes behind it)."""
        header = json.dumps({**members, "parameters": {"binary_data_output": True}, "inputs": [
            {"name": "INPUT0", "datatype": kind, "shape": list(shape),
             "parameters": {"binary_data_size": len(raw)}}]}).encode()
        reply = client.infer(model, header + raw,
                             {"Inference-Header-Content-Length": str(len(header))})
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual(reply.header("Content-Type"), "application/octet-stream")
        length = int(reply.header("Inference-Header-Content-Length"))
        return json.loads(reply.body[:length]), reply.body[length:]

    def test_binary_identity(self):
        client = self.client()
        cases = {kind: struct.pack(f"<4{form}", *values) for kind, (values, form) in TYPES.items()}
        cases["FP16"] = struct.pack("<4e", 0.5, -1, 2, 65504)
        cases["BYTES"] = bytes_tensor(b"a", b"", b"\0\xff\xfe", b"x" * 1000)
        for kind, raw in cases.items():
            with self.subTest(kind):
                head, got = self.binary(client, f"id_{kind.lower()}", kind, raw)
                self.assertEqual(got, raw)
                output = head["outputs"][0]
                self.assertEqual(output["parameters"], {"binary_data_size": len(raw)})
                self.assertEqual((output["datatype"], output["shape"]), (kind, [1, 4]))
                self.assertNotIn("data", output)

    def test_fp16_has_no_json_form(self):
        self.check_error(self.server.infer("id_fp16", infer_body(kind="FP16")), 400, "FP16",
                         "INPUT0")

    def two(self, outputs=None, **members):
        request = {**members, "inputs": [
            {"name": "B", "datatype": "INT32", "shape": [1, 2], "data": [7, 8]},
            {"name": "A", "datatype": "FP32", "shape": [1, 2], "data": [0.5, 1.5]}]}
        if outputs is not None:
            request["outputs"] = outputs
        return json.dumps(request)

    def test_requested_outputs(self):
        client = self.client()
        got = client.infer("two", self.two()).json()["outputs"]
        self.assertEqual([(o["name"], o["data"]) for o in got], [("X", [0.5, 1.5]), ("Y", [7, 8])])
        got = client.infer("two", self.two([{"name": "Y"}])).json()["outputs"]
        self.assertEqual([(o["name"], o["data"]) for o in got], [("Y", [7, 8])])
        reply = client.infer("two", self.two([{"name": "X"},
                                              {"name": "Y", "parameters": {"binary_data": True}}]))
        length = int(reply.header("Inference-Header-Content-Length"))
        got = json.loads(reply.body[:length])["outputs"]
        self.assertEqual(got[0]["data"], [0.5, 1.5])
        self.assertEqual(got[1]["parameters"], {"binary_data_size": 8})
        self.assertEqual(reply.body[length:], struct.pack("<2i", 7, 8))

    def test_id_comes_back(self):
        client = self.client()
        for name in ["r1", "", "with \"quotes\" \u00e9 /"]:
            got = client.infer("two", self.two(id=name)).json()
            self.assertEqual(got.get("id", ""), name)
            self.assertEqual("id" in got, bool(name))
        self.assertEqual(list(client.infer("two", self.two(id="z")).json())[0], "id")

    def test_versions(self):
        client = self.client()
        self.assertEqual(client.infer("many").json()["model_version"], "3")
        self.assertEqual(client.infer("many/versions/1").json()["model_version"], "1")

    def test_raw_binary_request(self):
        client = self.client()
        zero = {"Inference-Header-Content-Length": "0"}
        for model, raw, shape, out in [("plain", struct.pack("<3f", 1, 2, 3), [3], None),
                                       ("id_int32", struct.pack("<4i", 1, 2, 3, 4), [1, 4], None),
                                       ("word", b"hello", [1, 1], bytes_tensor(b"hello"))]:
            with self.subTest(model):
                reply = client.infer(model, raw, zero)
                self.assertEqual(reply.status, 200, reply)
                length = int(reply.header("Inference-Header-Content-Length"))
                self.assertEqual(json.loads(reply.body[:length])["outputs"][0]["shape"], shape)
                self.assertEqual(reply.body[length:], out or raw)
        self.check_error(client.infer("id_int32", b"123", zero), 400, "byte size mismatch")
        self.check_error(client.infer("two", b"1234", zero), 400, "one input")

    def test_errors_leave_the_connection(self):
        client = self.client()
        good = infer_body()
        cases = [
            ("not JSON", "{", []), ("no inputs", "{}", []),
            ("shape", good.replace("[1, 4]", "[1, 5]"), []),
            ("dims", infer_body([1.0, 2.0]), ["unexpected shape for input 'INPUT0'", "[-1,4]",
                                              "[1,2]"]),
            ("type", good.replace("FP32", "INT32").replace(".0", ""),
             ["data-type is 'INT32', but model 'id_fp32' expects 'FP32'"]),
            ("input", good.replace("INPUT0", "NONE"), ["unexpected inference input 'NONE'"]),
            ("rows", infer_body(rows=9), ["batch-size must be <= 8 for 'id_fp32'"]),
            ("output", infer_body(outputs=[{"name": "NONE"}]),
             ["unexpected inference output 'NONE' for model 'id_fp32'"]),
            ("reserved", infer_body(parameters={"triton_x": 1}), ["triton_", "reserved"]),
            ("ours", infer_body(parameters={"tauto.x": 1}), ["tauto.x"]),
            ("deadline", infer_body(parameters={"deadline_us": -1}), ["deadline_us"]),
            ("id", infer_body(rows=9, id="me"), ["[request id: me] "])]
        for name, body, words in cases:
            with self.subTest(name):
                self.check_error(client.infer("id_fp32", body), 400, *words)
                self.assertEqual(client.infer("id_fp32").status, 200)
        self.check_error(client.infer("two", json.dumps({"inputs": json.loads(self.two())["inputs"]
                                                         [:1]})), 400,
                         "expected 2 inputs but got 1 inputs for model 'two'", "'A'")

    def test_binary_errors_leave_the_connection(self):
        client = self.client()
        head = json.dumps({"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1, 4],
                                       "parameters": {"binary_data_size": 16}}]}).encode()
        name = "Inference-Header-Content-Length"
        for body, length, word in [(head + bytes(15), len(head), "INPUT0"),
                                   (head + bytes(17), len(head), "additional"),
                                   (head + bytes(16), len(head) + 17, "range"),
                                   (head + bytes(16), "x", "x")]:
            with self.subTest(word):
                self.check_error(client.infer("id_fp32", body, {name: str(length)}), 400, word)
        self.assertEqual(client.infer("id_fp32", head + bytes(16),
                                      {name: str(len(head))}).status, 200)

    def test_chunked(self):
        raw = self.raw()
        body = infer_body().encode()
        chunks = [body[:1], body[1:20], body[20:]]
        raw.send(b"POST /v2/models/id_fp32/infer HTTP/1.1\r\nHost: t\r\n"
                 b"Transfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks:
            raw.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        raw.send(b"0\r\n\r\n")
        self.assertEqual(raw.reply().json()["outputs"][0]["data"], [1, 2, 3, 4])
        raw.send(post("/v2/models/id_fp32/infer", body))
        self.assertEqual(raw.reply().status, 200)

    def test_pipelined(self):
        raw = self.raw()
        path = "/v2/models/id_int32/infer"
        raw.send(b"".join(post(path, infer_body([i] * 4, kind="INT32", id=str(i)))
                          for i in range(5)))
        for i in range(5):
            got = raw.reply().json()
            self.assertEqual((got["id"], got["outputs"][0]["data"]), (str(i), [i] * 4))

    def test_expect_continue(self):
        raw = self.raw()
        whole = post("/v2/models/id_fp32/infer", infer_body(), "Expect: 100-continue")
        head, body = whole.split(b"\r\n\r\n", 1)
        raw.send(head + b"\r\n\r\n")
        self.assertEqual(raw.file.readline(), b"HTTP/1.1 100 Continue\r\n")
        self.assertEqual(raw.file.readline(), b"\r\n")
        raw.send(body)
        self.assertEqual(raw.reply().status, 200)

    def test_big_body(self):
        client = self.client()
        raw = bytes(range(256)) * (8 * 4096)  # 8 MiB
        _, got = self.binary(client, "wide", "UINT8", raw, (len(raw),))
        self.assertTrue(got == raw)
        self.assertEqual(client.infer("id_fp32").status, 200)

    def test_body_over_the_limit(self):
        raw = self.raw()
        raw.send(b"POST /v2/models/wide/infer HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n"
                 % (16 * 2**20 + 1))
        reply = raw.reply()
        self.check_error(reply, 413)
        self.assertEqual(reply.header("Connection"), "close")
        self.assertTrue(raw.closed())
        self.assertEqual(self.server.infer("id_fp32").status, 200)

    def test_malformed_http_closes(self):
        raw = self.raw()
        raw.send(b"POST /v2 HTTP/1.1\r\nHost: t\r\nContent-Length: x\r\n\r\n")
        self.check_error(raw.reply(), 400)
        self.assertTrue(raw.closed())


if __name__ == "__main__":
    harness.main()
