#!/usr/bin/env python3
"""Shows that each rule of tidy.py fires on a bad sample and keeps quiet on a good one."""
import pathlib
import tempfile
import unittest

import tidy

LONG = "x" * 101
HOST = "py" + "pi.org"
MACHINE = "/wo" + "rk/main"
BODY = "\n".join(["  f();"] * 80)

# rule, path, text: each must give at least one finding of that rule.
BAD = [
    ("layers", "src/core/a.h", '#include "sched/scheduler.h"'),
    ("layers", "src/sched/a.cc", '#include "journey/journey.h"'),
    ("layers", "src/serve/a.cc", '#include "lab/run.h"'),
    ("layers", "src/wire/a.h", '#include "journey/stage.h"'),
    ("layers", "src/attic/a.h", "int f();"),
    ("purity", "src/sched/a.cc", "auto now = std::chrono::steady_clock::now();"),
    ("purity", "src/core/a.h", "std::thread t;"),
    ("purity", "src/core/a.cc", 'getenv("HOME");'),
    ("purity", "src/base/a.h", "std::mutex m_;"),
    ("purity", "src/base/a.cc", "std::random_device seed;"),
    ("purity", "src/sched/a.cc", "sleep(1);"),
    ("no-float", "src/sched/a.cc", "double share = 0;"),
    ("no-float", "src/sched/a.cc", "auto x = rows * 0.5;"),
    ("no-float", "src/sched/a.cc", "auto x = 1e9;"),
    ("no-float", "src/sched/a_test.cc", "float share;"),
    ("contained", "src/serve/a.cc", "#include <onnxruntime_cxx_api.h>"),
    ("contained", "src/net/a.h", "#include <boost/asio.hpp>"),
    ("contained", "src/serve/a.cc", "#include <boost/asio.hpp>"),
    ("contained", "src/model/a.h", "#include <google/protobuf/message.h>"),
    ("contained", "src/model/a.h", '#include "model_config.pb.h"'),
    ("contained", "src/wire/a.h", "#include <simdjson.h>"),
    ("contained", "src/lab/a.cc", "#include <CLI/CLI.hpp>"),
    ("contained", "src/base/a.cc", "#include <gtest/gtest.h>"),
    ("columns", "src/core/a.cc", LONG),
    ("columns", "docs/a.md", LONG + LONG),
    ("columns", "CMakeLists.txt", LONG),
    ("file-size", "src/core/a.h", "\n" * 151),
    ("file-size", "src/core/a.cc", "\n" * 401),
    ("file-size", "src/core/a_test.cc", "\n" * 601),
    ("file-size", "src/core/README.md", "\n" * 16),
    ("function-size", "src/core/a.cc", "int f(int a) {\n" + BODY + "\n}\n"),
    ("function-size", "src/core/a.cc",
     "namespace n {\nclass A {\n public:\n  A(int a,\n    int b) : a_(a) {\n" + BODY +
     "\n  }\n};\n}"),
    ("function-size", "src/core/a_test.cc", "TEST(A, B) {\n" + BODY + "\n}\n"),
    ("no-registry-hosts", "docs/a.md", f"see https://{HOST}/simple"),
    ("no-machine-paths", "docs/a.md", f"cd {MACHINE}"),
    ("life-of-a-request", "docs/life_of_a_request.md", "then `leap()` decides"),
    ("life-of-a-request", "docs/life_of_a_request.md", "then `Scheduler::leap` decides"),
    ("life-of-a-request", "docs/life_of_a_request.md", "then `leap_over` decides"),
    ("life-of-a-request", "docs/life_of_a_request.md", "then the `Leaper` decides"),
    ("dependencies", "src/core/CMakeLists.txt", "find_package(LevelDB REQUIRED)"),
    ("dependencies", "src/core/CMakeLists.txt", "target_link_libraries(a PUBLIC leveldb::leveldb)"),
]

# path, text: none of these may give any finding.
GOOD = [
    ("src/sched/scheduler.h",
     '#include "core/ids.h"\nstruct Scheduler { void step(int now); };  // 0.5 is only a comment'),
    ("src/sched/scheduler.cc",
     '#include "sched/scheduler.h"\nint f() { return 10\'000; }\nauto s = "std::thread 1.5";'),
    ("src/lab/a.cc", '#include "net/http_client.h"\n#include "sim/clock.h"'),
    ("src/net/asio_impl.h", "#include <boost/asio.hpp>"),
    ("src/engine/onnx/a.cc", "#include <onnxruntime_cxx_api.h>"),
    ("src/base/mutex.h", "std::mutex m_;"),
    ("src/base/a_test.cc", "#include <gtest/gtest.h>\nstd::thread t;"),
    ("src/core/a.cc", "namespace n {\n" + BODY.replace("f();", "int f();") + "\n}\n"),
    ("src/core/table.cc", "constexpr int kTable[] = {\n" + "  1,\n" * 90 + "};\n"),
    ("src/core/raw.cc",
     'const char* s = R"(\n' + "{ f( {\n" * 90 + ')";\nint f() {\n  return 1;\n}\n'),
    ("docs/life_of_a_request.md", "then `Scheduler::step` decides, `step()`; `hold` is a stage"),
    ("docs/dependencies.md", "| GoogleTest | tests |"),
    ("CMakeLists.txt",
     "find_package(GTest REQUIRED)\nfind_package(Threads REQUIRED)  # LevelDB::x"),
]


def findings(samples):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in samples:
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tidy.check(pathlib.Path(folder))


class TidyTest(unittest.TestCase):
    def test_each_bad_sample_is_found(self):
        for rule, path, text in BAD:
            with self.subTest(rule=rule, path=path, text=text[:60]):
                found = findings([(path, text)])
                self.assertTrue([f for f in found if f.startswith(path) and f"[{rule}]" in f],
                                found)

    def test_every_rule_has_a_bad_sample(self):
        self.assertEqual({rule for rule, _, _ in BAD}, set(tidy.FILE_RULES) | set(tidy.HOUSE_RULES))

    def test_good_samples_pass(self):
        self.assertEqual(findings(GOOD), [])

    def test_layers_point_down_only(self):
        for room, below in tidy.LAYERS.items():
            self.assertNotIn(room, below)
            for other in below:
                self.assertLess(tidy.LAYERS[other], below, f"{room} -> {other} skips what it needs")

    def test_functions_are_measured_from_head_to_brace(self):
        lines = ["int f(int a,", "      int b) {", "  if (a) {", "  }", "  return b;", "}", "",
                 "struct S {", "  int g() const { return 1; }", "};"]
        self.assertEqual(list(tidy.functions(lines)), [(1, 6), (9, 1)])


if __name__ == "__main__":
    unittest.main()
