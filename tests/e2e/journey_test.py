"""The journey of a request: its stages sum up, and a delay planted in one stage shows there alone.

Acceptance 4. `parse` and `reply` cannot be slowed from outside, `prepare` and `finish` have no
length before there are pipelines: for these the tests say only that nothing else runs into them.
"""
import os
import socket
import threading
import time
import unittest

import harness
from harness import STAGES, Background, ServerTest, config, infer_body, wait_for

DELAY_US = 200_000
ATTEMPTS = 8    # a machine that stalls adds time of its own; one undisturbed pair is proof enough
ROUNDING_US = 6  # eleven figures, each to the nearest microsecond
BIG = 16 << 20
REQUESTS = int(os.environ.get("TAUTO_E2E_REQUESTS", "10000"))
TIMED = {"tauto-journey": "1"}


def big_output():
    """A model whose every reply has 16 MiB: 256 strings of 64 KiB each."""
    return f"""backend: "synthetic" max_batch_size: 0
input [ {harness.tensor("INPUT0", dims=(-1,))} ]
output [ {harness.tensor("BIG", "STRING", (256,))} ]
instance_group [ {{ kind: KIND_CPU count: 1 }} ]
parameters {{ key: "tauto.synthetic.mode" value {{ string_value: "none" }} }}
parameters {{ key: "tauto.synthetic.output" value {{ string_value: "{"x" * (BIG // 256)}" }} }}
"""


class Journey(ServerTest):
    models = {
        "base": config(tensors=[("INPUT0", "OUTPUT0", "FP32", (-1,))]),
        "other": config(),
        "bind": config(rows_max=1, bind_delay=f"{DELAY_US}us"),
        "compute": config(rows_max=1, compute_delay=f"{DELAY_US}us"),
        "unbind": config(rows_max=1, unbind_delay=f"{DELAY_US}us"),
        "fixed": config(rows_max=2, tauto_policy="fixed", tauto_hold_max=f"{DELAY_US}us"),
        "triton": config(extra="dynamic_batching { max_queue_delay_microseconds: %d }" % DELAY_US),
        "slow": config(rows_max=1, fixed=f"{DELAY_US}us"),
        "big": big_output(),
        "stress": config(mode="none"),
    }

    def check_sum(self, times):
        self.assertEqual(list(times), STAGES[:-1] + ["total"])
        total = times["total"]
        self.assertLessEqual(abs(sum(times.values()) - 2 * total), ROUNDING_US, times)

    def timing(self, model, body=None):
        reply = self.server.infer(model, body, TIMED)
        self.assertEqual(reply.status, 200, reply)
        self.check_sum(reply.timing())
        return reply.timing()

    def exemplar(self, model, name):
        """What the server kept of the request with that id, among its slowest."""
        def find():
            for minute in self.server.journeys(model)["slowest"]:
                for request in minute["requests"]:
                    if request["id"] == name:
                        return request
            return None
        return wait_for(find, f"request {name} among the slowest of {model}")

    def check_planted(self, stage, base, planted):
        """`base` and `planted` return times: >= 95 % of what the delay adds stands in `stage`."""
        seen = []
        for _ in range(ATTEMPTS):
            before, after = base(), planted()
            self.assertGreaterEqual(min([*before.values(), *after.values()]), 0)
            self.assertGreaterEqual(after[stage], 0.95 * DELAY_US, after)
            added = after["total"] - before["total"]
            if after[stage] - before[stage] >= 0.95 * added and added >= 0.95 * DELAY_US:
                return
            seen.append((before, after))
        self.fail(f"the delay shows elsewhere than in {stage}: {seen}")

    def test_header(self):
        client = self.client()
        reply = client.infer("base", headers=TIMED)
        self.check_sum(reply.timing())
        for headers in [{}, {"tauto-journey": "0"}]:
            self.assertIsNone(client.infer("base", headers=headers).header("Server-Timing"))
        self.assertEqual(reply.timing()["prepare"], 0)
        self.assertEqual(reply.timing()["finish"], 0)

    def test_header_on_a_late_reply(self):
        reply = self.server.infer("slow", infer_body(parameters={"deadline_us": 20_000}), TIMED)
        self.assertEqual(reply.status, 504, reply)
        times = reply.timing()
        self.check_sum(times)
        self.assertGreaterEqual(times["total"], 20_000)
        wait_for(lambda: self.server.statistics("slow")["execution_count"], "its batch to end")

    def test_engine_stages(self):
        for stage in ["bind", "compute", "unbind"]:
            with self.subTest(stage):
                self.check_planted(stage, lambda: self.timing("base"),
                                   lambda model=stage: self.timing(model))

    def test_hold(self):
        for model in ["fixed", "triton"]:
            with self.subTest(model):
                self.check_planted("hold", lambda: self.timing("base"),
                                   lambda name=model: self.timing(name))

    def test_wait(self):
        """Two at once on one instance: what the second takes longer is its wait for the first."""
        for _ in range(ATTEMPTS):
            both = [Background(self.timing, "slow") for _ in range(2)]
            first, second = sorted((b.result() for b in both), key=lambda t: t["total"])
            added = second["total"] - first["total"]
            shown = second["wait"] - first["wait"]
            if shown >= 0.95 * added and added >= 0.9 * DELAY_US:
                self.assertLess(second["hold"], 0.05 * DELAY_US)
                return
        self.fail(f"the wait shows elsewhere: {first} {second}")

    def slow_sender(self):
        with self.server.raw() as raw:
            request = harness.post("/v2/models/base/infer", infer_body(), "tauto-journey: 1")
            raw.send(request[:40])
            time.sleep(DELAY_US / 1e6)  # the delay itself
            raw.send(request[40:])
            reply = raw.reply()
        self.assertEqual(reply.status, 200)
        self.check_sum(reply.timing())
        return reply.timing()

    def test_receive(self):
        self.check_planted("receive", lambda: self.timing("base"), self.slow_sender)

    def read_big(self, name, delay):
        """Reads the big reply after `delay`; the stages in microseconds, the last one too."""
        body = infer_body(id=name, parameters={"binary_data_output": True})
        body = body.replace("[1, 4]", "[4]")
        with self.server.raw(receive_buffer=65536) as raw:
            raw.send(harness.post("/v2/models/big/infer", body))
            raw.socket.recv(1, socket.MSG_PEEK)  # it is being sent
            time.sleep(delay / 1e6)
            reply = raw.reply()
            self.assertEqual(reply.status, 200)
            self.assertGreater(len(reply.body), BIG)
        kept = self.exemplar("big", name)
        self.assertEqual(sum(kept["stages_ns"].values()), kept["total_ns"])
        return {stage: ns // 1000 for stage, ns in [*kept["stages_ns"].items(),
                                                    ("total", kept["total_ns"])]}

    def test_send(self):
        numbers = iter(range(100))
        self.check_planted("send", lambda: self.read_big(f"fast{next(numbers)}", 0),
                           lambda: self.read_big(f"slow{next(numbers)}", DELAY_US))

    def test_stages_never_run_into_those_that_have_no_work(self):
        for model in ["bind", "compute", "unbind", "triton"]:
            times = self.timing(model)
            self.assertEqual((times["prepare"], times["finish"]), (0, 0))

    # 10^4 requests (TAUTO_E2E_REQUESTS: more)

    def ask(self, count, problems):
        """`count` requests one after the other; notes each whose journey is impossible."""
        request = harness.post("/v2/models/stress/infer", infer_body(), "tauto-journey: 1")
        with self.server.raw() as raw:
            for _ in range(count):
                start = time.monotonic_ns()
                raw.send(request)
                line = raw.file.readline()
                length, timing = 0, ""
                while (header := raw.file.readline()) != b"\r\n":
                    name, _, value = header.partition(b": ")
                    if name == b"Server-Timing":
                        timing = value.decode().strip()
                    elif name == b"Content-Length":
                        length = int(value)
                raw.file.read(length)
                client_us = (time.monotonic_ns() - start) / 1000
                times = harness.parse_timing(timing)
                total = times.pop("total")
                if (b" 200 " not in line or client_us + 1 < total or min(times.values()) < 0 or
                        abs(sum(times.values()) - total) > ROUNDING_US):
                    problems.append((line, client_us, timing))

    def test_stress(self):
        problems = []
        self.ask(REQUESTS // 2, problems)  # alone: the client's time is as short as it can be
        threads = [threading.Thread(target=self.ask, args=(REQUESTS // 8, problems))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        made = REQUESTS // 2 + REQUESTS // 8 * 4
        wait_for(lambda: self.server.journeys("stress")["outcomes"]["served"] == made, made)
        got = self.server.journeys("stress")
        self.assertEqual(sum(got["outcomes"].values()), made)
        self.assertEqual(got["total"]["count"], made)
        self.assertEqual(sum(got["stages"][s]["sum"] for s in STAGES), got["total"]["sum"])
        self.assertEqual({s["count"] for s in got["stages"].values()}, {made})
        self.assertEqual(self.server.metric("nv_inference_request_success", model="stress"), made)


if __name__ == "__main__":
    harness.main()
