"""`tauto bench` against `tauto serve`: its numbers agree with each other and with the server's."""
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import harness
from harness import STAGES, ServerTest, config, infer_body, run_tauto, wait_for

FIXED_NS = 5_000_000
TRIAL = 1  # a model gets one request before the load, to see whether it takes it at all


class Bench(ServerTest):
    models = {
        "m": config(fixed=f"{FIXED_NS}ns", instances=4),
        "open": config(mode="none"),
        "once": config(mode="none"),
        "long": config(mode="none"),
        "failing": config(tensors=[("INPUT0", "OUTPUT0", "FP32", (-1,))], fail_every="4"),
        "bounded": config(rows_max=1, fixed="20ms", tauto_queue_depth="1"),
        "labels": config(mode="none", tauto_label_names="line"),
        "types": config(tensors=[("A", "X", "INT64", (2,)), ("B", "Y", "STRING", (3,)),
                                 ("C", "Z", "BOOL", (-1,))]),
    }

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)

    def arguments(self, model, *more):
        target = ["--model", model, "--url", f"127.0.0.1:{self.server.port}"] if model else []
        short = [] if "--duration" in more else ["--duration", "500ms"]
        return ["bench", *target, "--quiet", "--warmup", "100ms", "--json", self.root / "run.json",
                *short, *more]

    def bench(self, model, *more, code=0):
        """Runs it; what the JSON file says, after the checks that hold for every run."""
        got, said, told = run_tauto(*self.arguments(model, *more))
        self.assertEqual(got, code, said + told)
        result = json.loads((self.root / "run.json").read_text())
        self.check(result)
        return result

    def check(self, run):
        """What must be so whatever was measured."""
        self.assertEqual(run["format"], "tauto-bench/1")
        self.assertEqual(run["ok"] + run["failed"], run["planned"])
        self.assertLessEqual(run["sent"], run["planned"])
        self.assertEqual(sum(e["count"] for e in run["errors"]), run["failed"])
        # The rate counts replies when they come; ok, requests by their start.
        inside = run["rate_done"] * run["measured_ns"] / 1e9
        self.assertLessEqual(abs(inside - run["ok"]), run["client"]["under_way_peak"] + 0.01)
        for name, count in [("latency", run["ok"]), ("service", run["ok"]), ("lag", run["sent"])]:
            got = run[name]
            self.assertEqual(got["count"], count, name)
            values = [p["value_ns"] for p in got["percentiles"] if p["value_ns"] is not None]
            self.assertEqual(values, sorted(values), name)
            for percentile in got["percentiles"]:
                enough = count >= percentile["samples_needed"]
                self.assertEqual(percentile["value_ns"] is not None, enough, percentile)
            for value in [*values, got["mean_ns"]]:
                self.assertLessEqual(got["min_ns"], value)
                self.assertLessEqual(value, got["max_ns"])
        self.assertLessEqual(run["service"]["mean_ns"], run["latency"]["mean_ns"])
        self.assertEqual(sum(n for _, n in run["latency_histogram"]), run["ok"])
        # The seconds count from the start of the warm-up.
        self.assertEqual(sum(s["ok"] + s["failed"] for s in run["seconds"]),
                         run["planned"] + run["warmup_requests"])

    def test_closed_loop(self):
        run = self.bench("m", "--concurrency", "4", "--html", self.root / "run.html")
        self.assertEqual(run["failed"], 0)
        self.assertGreaterEqual(run["ok"], 20)
        self.assertGreaterEqual(run["latency"]["min_ns"], FIXED_NS)
        self.assertEqual(run["config"]["concurrency"], 4)
        self.assertLessEqual(run["client"]["under_way_peak"], 4)
        self.assertTrue(run["rate_kept"])
        stats = self.server.statistics("m")["inference_stats"]["success"]
        self.assertEqual(stats["count"], run["ok"] + run["warmup_requests"] + TRIAL)
        self.assertTrue(run["server_timing"])
        stages = {s["name"]: s["times"] for s in run["stages"]}
        self.assertEqual([s["name"] for s in run["stages"] if s["of_server"]],
                         [s for s in STAGES if s in stages])
        self.assertGreaterEqual(stages["compute"]["min_ns"], FIXED_NS)
        parts = sum(times["mean_ns"] for times in stages.values())
        self.assertAlmostEqual(parts, run["latency"]["mean_ns"],
                               delta=0.01 * run["latency"]["mean_ns"])
        self.check_page((self.root / "run.html").read_text())

    def check_page(self, page):
        """Complete in itself: nothing is loaded from elsewhere."""
        self.assertTrue(page.lower().startswith("<!doctype html>"))
        self.assertTrue(page.rstrip().endswith("</html>"))
        self.assertEqual(re.findall(r'(?:src|href)="(?!#|data:)[^"]*"|@import|url\((?!#|data:)',
                                    page), [])
        self.assertIn("compute", page)

    def test_open_loop(self):
        for arrivals in ["constant", "poisson"]:
            with self.subTest(arrivals):
                flags = ["--rate", "200", "--arrivals", arrivals, "--seed", "7"]
                one, two = (self.bench("open", *flags) for _ in range(2))
                self.assertEqual(one["planned"], two["planned"])  # by the seed alone
                self.assertEqual(one["failed"], 0)
                self.assertEqual((one["config"]["rate"], one["config"]["arrivals"]),
                                 (200, arrivals))
                if arrivals == "constant":
                    self.assertAlmostEqual(one["planned"], 100, delta=1)
        other = self.bench("open", "--rate", "200", "--seed", "8")
        self.assertGreater(other["planned"], 50)

    def test_objective(self):
        for slo, verdict, code in [("p50<100s", "holds", 0), ("p50<1ns", "fails", 3),
                                   ("p99.99<100s", "undecided", 3), ("100s", "none", 0)]:
            with self.subTest(slo):
                run = self.bench("once", "--concurrency", "1", "--slo", slo, "--duration", "100ms",
                                 code=code)
                self.assertEqual(run["objective"]["verdict"], verdict)
                self.assertEqual(run["objective"]["within"], 0 if "1ns" in slo else run["ok"])

    def test_errors_are_counted_apart(self):
        run = self.bench("failing", "--concurrency", "1", "--shape", "INPUT0:4")
        self.assertEqual([e["what"] for e in run["errors"]], ["HTTP 500"])
        outcomes = self.server.journeys("failing")["outcomes"]
        self.assertEqual(outcomes["served"] + outcomes["failed"],
                         run["planned"] + run["warmup_requests"] + TRIAL)
        self.assertAlmostEqual(run["failed"], run["planned"] / 4, delta=1)
        run = self.bench("bounded", "--concurrency", "4")
        self.assertEqual([e["what"] for e in run["errors"]], ["HTTP 429"])
        self.assertGreater(run["ok"], 0)

    def test_deadline(self):
        run = self.bench("bounded", "--concurrency", "1", "--deadline", "1ms", code=1)
        self.assertEqual([e["what"] for e in run["errors"]], ["HTTP 504"])
        self.assertEqual((run["ok"], run["latency"]["count"]), (0, 0))

    def test_inputs_of_all_kinds(self):
        for flag in ["--binary", "--json-tensors"]:
            run = self.bench("types", "--concurrency", "1", "--shape", "C:5", "--batch", "2", flag)
            self.assertEqual((run["failed"], run["config"]["rows_per_request"]), (0, 2))
            self.assertGreater(run["ok"], 0)

    def test_lines_are_replayed_in_order(self):
        lines = [infer_body(parameters={"tauto.label.line": str(n)}) for n in range(3)]
        (self.root / "lines").write_text("\n".join(lines) + "\n")
        url = f"http://127.0.0.1:{self.server.port}/v2/models/labels/infer"
        run = self.bench(None, "--post", url, "--input", self.root / "lines",
                         "--concurrency", "1", "--duration", "200ms")
        self.assertEqual(run["failed"], 0)
        wait_for(lambda: self.server.journeys("labels")["outcomes"]["served"] ==
                 run["ok"] + run["warmup_requests"], "the last reply to be counted")
        counts = [l["outcomes"]["served"] for l in self.server.journeys("labels")["labels"]]
        self.assertEqual(len(counts), 3)
        self.assertLessEqual(max(counts) - min(counts), 2)  # warm-up and run each start at line 1

    def test_json_alone_on_stdout(self):
        arguments = self.arguments("once", "--duration", "100ms")
        arguments[arguments.index("--json") + 1] = "-"
        code, said, told = run_tauto(*arguments)
        self.assertEqual((code, told), (0, ""))
        self.check(json.loads(said))

    def interrupt(self, number):
        """Reports what ran."""
        before = self.server.statistics("long")["inference_count"]
        process = subprocess.Popen(
            [harness.tauto(), *map(str, self.arguments("long", "--duration", "10000s", "--rate",
                                                       "200"))],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        wait_for(lambda: self.server.statistics("long")["inference_count"] > before + 100,
                 "some requests")
        process.send_signal(number)
        said, told = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual((process.returncode, told), (0, ""))
        run = json.loads((self.root / "run.json").read_text())
        self.check(run)
        self.assertTrue(run["interrupted"])
        self.assertGreater(run["ok"], 0)
        self.assertLess(run["measured_ns"], 10_000e9)
        self.assertIn("interrupted", said.lower())

    def test_interrupted(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            with self.subTest(number):
                self.interrupt(number)

    def refused(self, code, *arguments):
        got, _, told = run_tauto("bench", *arguments)
        self.assertEqual((got, told.count("\n")), (code, 1), told)
        return told

    def test_bad_flags(self):
        for arguments, words in [
                ([], ["--model"]), (["--model", "m", "--rat=1"], ["--rat", "did you mean --rate?"]),
                (["--model", "m", "--rate", "1", "--concurrency", "1"], ["--rate"]),
                (["--model", "m", "--duration", "5"], ["--duration"]),
                (["--model", "m", "--slo", "fast"], ["--slo", "p99<30ms"]),
                (["--model", "m", "--arrivals", "odd", "--rate", "1"], ["--arrivals", "poisson"])]:
            with self.subTest(arguments):
                told = self.refused(2, *arguments)
                for word in words:
                    self.assertIn(word, told)

    def test_cannot_run(self):
        url = f"127.0.0.1:{self.server.port}"
        self.assertIn("'none'", self.refused(1, "--model", "none", "--url", url))
        self.assertIn("C", self.refused(2, "--model", "types", "--url", url))  # an open dimension
        with harness.socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        self.assertIn(str(port), self.refused(1, "--model", "m", "--url", f"127.0.0.1:{port}"))


if __name__ == "__main__":
    harness.main()
