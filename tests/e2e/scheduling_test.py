"""Live scheduling: batches, levels, bounded queues, timeouts, deadlines, clients that go away.

Order is made with a gate: of two equal requests one keeps the only instance busy, the other waits,
and the server's own gauge of pending requests says when that is so.
"""
import json
import unittest

import harness
from harness import TIME_FACTOR, Background, ServerTest, config, infer_body, wait_for

BUSY_US = 200_000 * TIME_FACTOR  # how long a batch of the gated models runs
ATTEMPTS = 5       # a machine that stalls may let a gate's time pass; then the story is told again


def batching(fields="", **more):
    return config(extra=f"dynamic_batching {{ {fields} }}", **more)


def asking(**parameters):
    return infer_body(parameters=parameters)


FREE = [("INPUT0", "OUTPUT0", "FP32", (-1,))]  # free dims: no warm-up, so starting is quick
SLOW = {"rows_max": 1, "fixed": f"{BUSY_US}us", "tensors": FREE}


class Scheduling(ServerTest):
    models = {
        "preferred": batching("preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 50000",
                              fixed=f"{BUSY_US * 3 // 2}us", tensors=FREE),
        "levels": batching("priority_levels: 3 default_priority_level: 2", rows_max=1,
                           fixed=f"{BUSY_US}us", tensors=FREE),
        "bounded": batching("default_queue_policy { max_queue_size: 2 }", rows_max=1,
                            fixed=f"{BUSY_US}us"),  # warmed: it knows its service time
        "depth": config(tauto_queue_depth="1", **SLOW),
        "timeout": batching("default_queue_policy { timeout_action: REJECT "
                            "default_timeout_microseconds: 20000 allow_timeout_override: true }",
                            **SLOW),
        "slow": config(**SLOW),
        "promise": config(tauto_deadline="20ms", **SLOW),
        "finish": config(tauto_deadline="20ms", tauto_on_late="finish", **SLOW),
        "eager": config(tensors=FREE, fixed=f"{BUSY_US}us", tauto_policy="eager"),
        "fixed": config(rows_max=4, tauto_policy="fixed", tauto_fixed_rows="3",
                        tauto_hold_max="1000s"),
        "failing": config(rows_max=1, tensors=FREE, fail_every="2"),
        "pair": config(instances=2, **SLOW),
    }

    def start(self, model, body=None, headers=None):
        """A request on its way, on a connection of its own: its Reply, later."""
        return Background(self.client().infer, model, body, headers)

    def gate(self, model, body=None):
        """Two requests: one runs, one waits. Their order is unknown and does not matter."""
        both = [self.start(model, body) for _ in range(2)]
        self.server.wait_pending(model, 1)
        return both

    def outcomes(self, model):
        return self.server.journeys(model)["outcomes"]

    def check_refusal(self, reply, status, reason):
        self.assertEqual(reply.status, status, reply)
        got = reply.json()
        self.assertEqual(got["reason"], reason)
        self.assertGreaterEqual(got["waited_us"], 0)
        return got

    def attempt(self, story):
        """Until the story was not disturbed: it returns True then, and asserts by itself."""
        for _ in range(ATTEMPTS):
            if story():
                return
        self.fail(f"{ATTEMPTS} times in vain")

    # Batches

    def test_preferred_sizes(self):
        """Four fill a preferred size and go at once; the eight that come meanwhile go together."""
        def story():
            before = self.server.batches("preferred")
            all_twelve = [self.start("preferred") for _ in range(12)]
            for request in all_twelve:
                self.assertEqual(request.result().status, 200)
            after = self.server.batches("preferred")
            new = {n: after[n] - before.get(n, 0) for n in after if after[n] != before.get(n, 0)}
            return new == {4: 1, 8: 1}
        self.attempt(story)

    def test_alone_it_waits_for_company_as_long_as_allowed(self):
        reply = self.server.infer("preferred", headers={"tauto-journey": "1"})
        self.assertEqual(reply.status, 200)
        self.assertGreaterEqual(reply.timing()["hold"], 50_000)
        slowest = self.server.journeys("preferred")["slowest"]
        reasons = {r["batch"]["reason"] for minute in slowest for r in minute["requests"]}
        self.assertIn("hold_elapsed", reasons)

    def test_fixed_rows(self):
        waiting = [self.start("fixed") for _ in range(2)]
        self.server.wait_pending("fixed", 2)
        before = self.server.batches("fixed")
        self.assertFalse(any(w.done() for w in waiting))
        for request in waiting + [self.start("fixed")]:
            self.assertEqual(request.result().status, 200)
        after = self.server.batches("fixed")
        self.assertEqual(after[3] - before.get(3, 0), 1)
        self.assertEqual(sum(after.values()) - sum(before.values()), 1)

    def test_only_equal_shapes_share_a_batch(self):
        bodies = [infer_body([float(n)] * n) for n in (2, 2, 3)]
        gate = self.gate("eager", infer_body([1.0]))
        waiting = [self.start("eager", body) for body in bodies]
        for n, request in zip((2, 2, 3), waiting):
            output = request.result().json()["outputs"][0]
            self.assertEqual((output["shape"], output["data"]), ([1, n], [n] * n))
        for request in gate:
            self.assertEqual(request.result().json()["outputs"][0]["data"], [1])
        self.assertNotIn(5, self.server.batches("eager"))

    def test_two_instances_run_at_once(self):
        def story():
            both = [self.start("pair", headers={"tauto-journey": "1"}) for _ in range(2)]
            times = [b.result().timing() for b in both]
            return all(t["wait"] * 4 < t["compute"] for t in times)
        self.attempt(story)

    def test_levels(self):
        """Strictly by level; 0 is the default level; inside a level first come, first served."""
        def story():
            gate = self.gate("levels", asking(priority=1))
            waiting = []
            for count, priority in enumerate([3, 0, 1, 2, 1], 2):
                waiting.append((priority, len(waiting),
                                self.start("levels", asking(priority=priority))))
                wait_for(lambda: self.server.pending("levels") == count or
                         any(g.done() for g in gate), "it to wait")
            disturbed = any(g.done() for g in gate)
            for _, _, request in waiting:
                self.assertEqual(request.result().status, 200)
            by_end = [place for _, place, _ in sorted(waiting, key=lambda w: w[2].ended)]
            if not disturbed:
                self.assertEqual(by_end, [2, 4, 1, 3, 0])
            return not disturbed
        self.attempt(story)

    # Refusals

    def test_full_queue(self):
        requests = [self.start("bounded") for _ in range(3)]
        self.server.wait_pending("bounded", 2)
        client = self.client()
        reply = client.infer("bounded", infer_body(id="seven"))
        got = self.check_refusal(reply, 429, "shed")
        self.assertEqual(got["error"], "[request id: seven] Exceeds maximum queue size")
        self.assertEqual((got["queue_limit_requests"], got["waited_us"]), (2, 0))
        self.assertGreaterEqual(int(reply.header("Retry-After")), 1)
        self.assertGreaterEqual(int(reply.header("Retry-After")) * 1_000_000,
                                got["retry_after_us"])
        # Two waiting runs on one instance.
        self.assertGreater(got["retry_after_us"], 1.5 * BUSY_US)
        for request in requests:
            self.assertEqual(request.result().status, 200)
        self.assertEqual(client.infer("bounded").status, 200)
        self.assertEqual(self.outcomes("bounded")["shed"], 1)
        self.assertEqual(self.server.metric("nv_inference_request_failure", model="bounded",
                                            reason="REJECTED"), 1)

    def test_queue_depth(self):
        gate = self.gate("depth")
        reply = self.server.infer("depth")
        got = self.check_refusal(reply, 429, "shed")
        self.assertEqual(got["queue_limit_requests"], 1)
        self.assertNotIn("retry_after_us", got)  # its service time is not known
        self.assertEqual(reply.header("Retry-After"), "1")
        for request in gate:
            self.assertEqual(request.result().status, 200)

    def test_queue_timeout(self):
        for asked, limit in [(None, 20_000), (5_000, 5_000), (30_000_000, 20_000)]:
            with self.subTest(asked):
                body = asking(timeout=asked) if asked else None
                both = [self.start("timeout", body) for _ in range(2)]
                served, refused = sorted([b.result() for b in both], key=lambda r: r.status)
                self.assertEqual(served.status, 200)
                got = self.check_refusal(refused, 503, "queue_timeout")
                self.assertEqual(got["error"], "Request timeout expired")
                self.assertEqual(got["limit_us"], limit)
                self.assertGreaterEqual(got["waited_us"], limit)

    # Deadlines

    def check_expired(self, reply, limit):
        got = self.check_refusal(reply, 504, "expired")
        self.assertGreater(got["limit_us"], 0)
        self.assertLessEqual(got["limit_us"], limit)  # counted from the first byte
        return got

    def test_deadline_while_the_engine_is_busy(self):
        """The answer comes at the deadline, before that of the running request."""
        gate = self.gate("slow")
        client = self.client()
        late = Background(client.infer, "slow", asking(deadline_us=50_000))
        got = self.check_expired(late.result(), 50_000)
        self.assertGreaterEqual(got["waited_us"], got["limit_us"])
        runs = self.server.statistics("slow")["execution_count"]
        for request in gate:
            self.assertEqual(request.result().status, 200)
            self.assertLess(late.ended, request.ended)
        self.assertEqual(client.infer("slow").status, 200)
        self.assertLessEqual(self.server.statistics("slow")["execution_count"], runs + 3)

    def test_deadline_while_it_runs(self):
        """504, its batch goes on, and the connection's next request is served."""
        before = self.server.statistics("slow")
        client = self.client()
        late = Background(client.infer, "slow", asking(deadline_us=50_000))
        self.check_expired(late.result(), 50_000)
        after = client.infer("slow", headers={"tauto-journey": "1"})
        self.assertEqual(after.status, 200)
        now = self.server.statistics("slow")
        self.assertEqual(now["execution_count"] - before["execution_count"], 2)
        self.assertEqual(now["inference_stats"]["success"]["count"] -
                         before["inference_stats"]["success"]["count"], 1)

    def test_deadline_does_not_touch_the_others_in_its_batch(self):
        def story():
            gate = self.gate("eager", infer_body([1.0]))
            others = [self.start("eager", infer_body([float(n)])) for n in range(5)]
            late = self.start("eager", infer_body([9.0], parameters={
                "deadline_us": BUSY_US * 3 // 2}))
            reply = late.result()
            self.check_expired(reply, BUSY_US * 3 // 2)
            for n, request in enumerate(others):
                self.assertEqual(request.result().json()["outputs"][0]["data"], [n])
            for request in gate:
                self.assertEqual(request.result().status, 200)
            ran = 7 in self.server.batches("eager")  # one of the gate, five others, the late
            return ran and all(late.ended < o.ended for o in others)
        self.attempt(story)

    def test_envoy_header(self):
        name = "x-envoy-expected-rq-timeout-ms"
        client = self.client()
        self.check_expired(client.infer("slow", headers={name: "50"}), 50_000)
        self.check_expired(client.infer("slow", asking(deadline_us=50_000_000), {name: "50"}),
                           50_000)
        self.check_expired(client.infer("slow", asking(deadline_us=50_000), {name: "50000"}),
                           50_000)
        self.assertEqual(client.infer("slow", headers={name: "0"}).status, 200)
        refused = client.infer("slow", headers={name: "soon"})
        self.assertEqual(refused.status, 400, refused)
        self.assertIn(name, refused.error())

    def test_model_deadline(self):
        client = self.client()
        self.check_expired(client.infer("promise"), 20_000)
        self.check_expired(client.infer("promise", asking(deadline_us=1_000)), 1_000)
        self.assertEqual(self.outcomes("promise")["expired"], 2)
        self.assertEqual(self.outcomes("promise")["served"], 0)

    def test_late_requests_finish_where_told(self):
        both = [self.start("finish") for _ in range(2)]
        served, refused = sorted([b.result() for b in both], key=lambda r: r.status)
        self.assertEqual(served.status, 200)  # ran for ten times its deadline
        self.check_expired(refused, 20_000)   # was still waiting at its own

    # Ends

    def test_client_closes_while_queued(self):
        gate = self.gate("slow")
        before, cancelled = self.server.statistics("slow"), self.outcomes("slow")["cancelled"]
        with self.server.raw() as raw:
            raw.send(harness.post("/v2/models/slow/infer", infer_body()))
            self.server.wait_pending("slow", 2)
        wait_for(lambda: self.outcomes("slow")["cancelled"] == cancelled + 1, "its cancellation")
        for request in gate:
            self.assertEqual(request.result().status, 200)
        after = self.server.statistics("slow")
        self.assertLessEqual(after["execution_count"] - before["execution_count"], 2)
        self.assertEqual(self.server.metric("tauto_requests_total", model="slow",
                                            outcome="cancelled"), cancelled + 1)
        self.assertEqual(self.server.metric("nv_inference_request_failure", model="slow",
                                            reason="CANCELED"), cancelled + 1)

    def test_client_closes_while_it_runs(self):
        runs = self.server.statistics("pair")["execution_count"]
        cancelled = self.outcomes("pair")["cancelled"]
        with self.server.raw() as raw:
            raw.send(harness.post("/v2/models/pair/infer", infer_body()))
        wait_for(lambda: self.outcomes("pair")["cancelled"] == cancelled + 1, "its cancellation")
        self.assertEqual(self.server.infer("pair").status, 200)
        wait_for(lambda: self.server.statistics("pair")["execution_count"] == runs + 2,
                 "both batches to end")

    def test_failing_engine(self):
        client = self.client()
        got = [client.infer("failing") for _ in range(4)]
        self.assertEqual([r.status for r in got], [200, 500, 200, 500])
        self.assertIn("planted failure", got[1].error())
        self.assertEqual(self.outcomes("failing")["failed"], 2)
        self.assertEqual(self.server.metric("nv_inference_request_failure", model="failing",
                                            reason="BACKEND"), 2)
        self.assertEqual(json.loads(self.server.get("/v2/models/failing/stats").body)
                         ["model_stats"][0]["inference_stats"]["fail"]["count"], 2)


if __name__ == "__main__":
    harness.main()
