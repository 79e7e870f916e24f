"""What the server tells about itself: /metrics line by line, /journeys, labels; counts exact."""
import re
import unittest

import harness
from harness import STAGES, Client, ServerTest, config, infer_body, wait_for

OUTCOMES = ["served", "failed", "expired", "queue_timeout", "shed", "cancelled", "invalid", "lost"]
TRITON = {
    "nv_inference_request_success": "counter", "nv_inference_request_failure": "counter",
    "nv_inference_count": "counter", "nv_inference_exec_count": "counter",
    "nv_inference_request_duration_us": "counter", "nv_inference_queue_duration_us": "counter",
    "nv_inference_compute_input_duration_us": "counter",
    "nv_inference_compute_infer_duration_us": "counter",
    "nv_inference_compute_output_duration_us": "counter",
    "nv_inference_pending_request_count": "gauge", "nv_model_load_duration_secs": "gauge",
}
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"([a-zA-Z_:][\w:]*)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")


class Page:
    """A Prometheus page, read strictly: every family once, announced, its samples together."""

    def __init__(self, text):
        self.types, self.samples = {}, {}
        if not text.endswith("\n"):
            raise AssertionError("the page does not end with a line feed")
        family = helped = None
        for line in text[:-1].split("\n"):
            if line.startswith("# HELP "):
                helped = line.split(" ", 3)[2]
                if helped in self.types or not line.split(" ", 3)[3]:
                    raise AssertionError(f"a second family or no words: {line}")
            elif line.startswith("# TYPE "):
                _, _, family, kind = line.split(" ")
                if family != helped or family in self.types:
                    raise AssertionError(f"out of place: {line}")
                self.types[family] = kind
            else:
                self.add(line, family)

    def add(self, line, family):
        match = SAMPLE.fullmatch(line)
        if not match:
            raise AssertionError(f"no sample: {line}")
        suffixes = ["_bucket", "_sum", "_count"] if self.types[family] == "histogram" else [""]
        if match[1] not in [family + suffix for suffix in suffixes]:
            raise AssertionError(f"not of family {family}: {line}")
        pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or "")
        key = (match[1], frozenset(pairs))
        if key in self.samples or len(dict(pairs)) != len(pairs):
            raise AssertionError(f"there twice: {line}")
        self.samples[key] = float(match[3])

    def get(self, name, **labels):
        return self.samples[(name, frozenset({"version": "1", **labels}.items()))]

    def histograms(self):
        """[(family, labels, {bound: count})]"""
        found = {}
        for (name, labels), value in self.samples.items():
            if name.endswith("_bucket"):
                bound = dict(labels)["le"]
                rest = labels - {("le", bound)}
                found.setdefault((name[:-7], rest), {})[float(bound)] = value
        return [(*key, buckets) for key, buckets in found.items()]


def labelled(**labels):
    return infer_body(parameters={f"tauto.label.{k}": v for k, v in labels.items()})


class Metrics(ServerTest):
    models = {
        "count": config(),
        "never": config(),
        "labels": config(tauto_label_names="tenant,route", tauto_label_values_max="2"),
        "tags": config(extra='metric_tags { key: "team" value: "a\\"b" }'),
        "kept": config(rows_max=4, fixed="2ms", tauto_label_names="tenant"),
        "many": config(),
        "buckets": config(),
    }

    def page(self):
        return Page(self.server.metrics_page())

    def served(self, model, count):
        """The last reply is counted when the kernel has it, perhaps after the client does."""
        wait_for(lambda: self.server.journeys(model)["outcomes"]["served"] >= count, "the counts")
        got = self.server.journeys(model)
        self.assertEqual(got["outcomes"]["served"], count)
        return got

    def test_page_over_http(self):
        with Client(self.server.metrics_port) as client:
            reply = client.get("/metrics")
            self.assertEqual(reply.status, 200)
            self.assertEqual(reply.header("Content-Type"), "text/plain; charset=utf-8")
            other = client.get("/other")
            self.assertEqual((other.status, other.body), (200, b""))
            self.assertEqual(client.request("POST", "/metrics", b"x").status, 405)
            self.assertEqual(client.get("/metrics").status, 200)

    def test_families(self):
        page = self.page()
        for name, kind in TRITON.items():
            self.assertEqual(page.types.get(name), kind, name)
            for model in self.models:
                if name == "nv_inference_request_failure":
                    for reason in ["REJECTED", "CANCELED", "BACKEND", "OTHER"]:
                        page.get(name, model=model, reason=reason,
                                 **({"_team": 'a\\"b'} if model == "tags" else {}))
                elif model != "tags":
                    page.get(name, model=model)
        for name in page.types:
            self.assertRegex(name, "^(nv|tauto)_")
        self.assertEqual({dict(labels)["stage"] for name, labels in page.samples
                          if name == "tauto_stage_seconds_count"}, set(STAGES))

    def test_tags(self):
        self.assertEqual(self.server.infer("tags").status, 200)
        self.served("tags", 1)
        self.assertEqual(self.page().get("nv_inference_request_success", model="tags",
                                         _team='a\\"b'), 1)

    def test_histograms(self):
        self.server.infer("buckets")
        page = self.page()
        histograms = page.histograms()
        self.assertGreater(len(histograms), len(self.models) * len(STAGES))
        for family, labels, buckets in histograms:
            ordered = [count for _, count in sorted(buckets.items())]
            self.assertEqual(ordered, sorted(ordered), (family, labels))
            self.assertEqual(buckets[float("inf")], page.samples[(family + "_count", labels)])
            self.assertGreaterEqual(page.samples[(family + "_sum", labels)], 0)
        for _, labels, buckets in histograms:
            if ("model", "never") in labels:
                self.assertEqual(set(buckets.values()), {0})

    def test_counts_are_exact(self):
        client = self.client()
        for rows in [1, 2, 3, 8]:
            self.assertEqual(client.infer("count", infer_body(rows=rows)).status, 200)
        for _ in range(3):
            self.assertEqual(client.infer("count", "{").status, 400)
        journeys, page = self.served("count", 4), self.page()
        self.assertEqual(journeys["outcomes"], {**dict.fromkeys(OUTCOMES, 0), "served": 4,
                                                "invalid": 3})
        for name, value in {"nv_inference_request_success": 4, "nv_inference_count": 14,
                            "nv_inference_exec_count": 4, "tauto_request_seconds_count": 4,
                            "nv_inference_pending_request_count": 0}.items():
            self.assertEqual(page.get(name, model="count"), value, name)
        for outcome in OUTCOMES:
            self.assertEqual(page.get("tauto_requests_total", model="count", outcome=outcome),
                             journeys["outcomes"][outcome], outcome)
        stats = self.server.statistics("count")["inference_stats"]
        for name, part in [("request", "success"), ("queue", "queue"),
                           ("compute_input", "compute_input"), ("compute_infer", "compute_infer"),
                           ("compute_output", "compute_output")]:
            self.assertEqual(page.get(f"nv_inference_{name}_duration_us", model="count"),
                             stats[part]["ns"] // 1000, name)
        # Triton's compute times are our stages; its request time leaves the front end out.
        of_stage = {stage: journeys["stages"][stage]["sum"] for stage in STAGES}
        self.assertEqual(stats["queue"]["ns"], of_stage["hold"] + of_stage["wait"])
        for part, stage in [("input", "bind"), ("infer", "compute"), ("output", "unbind")]:
            self.assertEqual(stats[f"compute_{part}"]["ns"], of_stage[stage])
        self.assertLess(stats["success"]["ns"], journeys["total"]["sum"])

    def test_journeys(self):
        client = self.client()
        made = 25
        for _ in range(made):
            self.assertEqual(client.infer("many").status, 200)
        wait_for(lambda: self.server.journeys("many")["outcomes"]["served"] >= made, "the counts")
        histograms = self.server.journeys("many")
        count = histograms["outcomes"]["served"]
        self.assertEqual(count, made)
        self.assertEqual((histograms["model"], histograms["version"]), ("many", "1"))
        self.assertEqual(list(histograms["stages"]), STAGES)
        for name, got in [*histograms["stages"].items(), ("total", histograms["total"])]:
            self.assertEqual((got["unit"], got["count"]), ("ns", count), name)
            self.assertEqual(sum(n for _, n in got["buckets"]), count, name)
            self.assertLessEqual(0, got["min"])
            self.assertLessEqual(got["min"], got["max"])
            self.assertIsNone(got["p999"])  # 25 are not enough to say
            self.assertLessEqual(got["min"], got["p50"] * 1.01)
            self.assertLessEqual(got["p50"], got["max"] * 1.01)
        self.assertEqual(sum(s["sum"] for s in histograms["stages"].values()),
                         histograms["total"]["sum"])
        for minute in histograms["slowest"]:
            totals = [r["total_ns"] for r in minute["requests"]]
            self.assertLessEqual(len(totals), 10)
            self.assertEqual(totals, sorted(totals, reverse=True))
        slowest = max(r["total_ns"] for m in histograms["slowest"] for r in m["requests"])
        self.assertEqual(slowest, histograms["total"]["max"])

    def test_slowest_carry_their_context(self):
        body = infer_body(rows=3, id="me", parameters={"tauto.label.tenant": "acme"})
        self.assertEqual(self.server.infer("kept", body).status, 200)
        got = self.served("kept", 1)["slowest"]
        self.assertEqual([len(minute["requests"]) for minute in got], [1])
        kept = got[0]["requests"][0]
        self.assertEqual((kept["id"], kept["model"], kept["version"], kept["outcome"]),
                         ("me", "kept", "1", "served"))
        self.assertEqual(kept["labels"], {"tenant": "acme"})
        self.assertEqual(kept["queue_depth"], 0)
        batch = kept["batch"]
        self.assertEqual((batch["rows"], batch["requests"], batch["reason"]), (3, 1, "idle"))
        self.assertGreaterEqual(kept["stages_ns"]["compute"], 2_000_000)
        self.assertEqual(sum(kept["stages_ns"].values()), kept["total_ns"])
        self.assertGreaterEqual(kept["started_seconds_ago"], kept["total_ns"] / 1e9)

    def test_labels(self):
        client = self.client()
        for tenant in ["a", "a", "b", "c", "d", "b"]:
            self.assertEqual(client.infer("labels", labelled(tenant=tenant)).status, 200)
        self.assertEqual(client.infer("labels", labelled(tenant="a", route='x"\\y')).status, 200)
        self.assertEqual(client.infer("labels").status, 200)
        refused = client.infer("labels", labelled(country="de"))
        self.assertEqual(refused.status, 400)
        self.assertIn("country", refused.error())
        self.assertIn("tauto.label_names", refused.error())
        self.assertEqual(client.infer("tags", labelled(tenant="a")).status, 400)
        wanted = {("tenant", "a"): 3, ("tenant", "b"): 2, ("tenant", "other"): 2,
                  ("route", 'x"\\y'): 1}
        journeys, page = self.served("labels", 8), self.page()
        got = {(l["name"], l["value"]): l["outcomes"]["served"] for l in journeys["labels"]}
        self.assertEqual(got, wanted)
        for (name, value), count in wanted.items():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            self.assertEqual(page.get("tauto_label_requests_total", model="labels", label=name,
                                      value=escaped, outcome="served"), count)
            self.assertEqual(page.get("tauto_label_request_seconds_count", model="labels",
                                      label=name, value=escaped), count)


if __name__ == "__main__":
    harness.main()
