#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/bench_html.h"
#include "report/bench_json.h"
#include "report/bench_text.h"
#include "report/html.h"
#include "report/table.h"

namespace tauto::report {
namespace {

using namespace std::chrono_literals;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Distribution distribution(Duration base) {
  Distribution d{1000, base, base / 2, base * 9, {}};
  d.percentiles = {{0.5, "P50", base, 6},
                   {0.9, "P90", base * 2, 36},
                   {0.95, "P95", base * 3, 72},
                   {0.99, "P99", base * 4, 368},
                   {0.999, "P99.9", std::nullopt, 3688}};
  return d;
}

BenchResult example() {
  BenchResult r;
  r.config.target = "http://127.0.0.1:8000";
  r.config.request = "model <minilm> & co";
  r.config.load = "80.0/s poisson";
  r.config.rate = 80;
  r.config.arrivals = "poisson";
  r.config.warmup = 1s;
  r.measured = 10s;
  r.planned = 1010;
  r.sent = 1010;
  r.ok = 1000;
  r.failed = 10;
  r.errors = {{"HTTP 429", 7, "shed"}, {"timeout", 3, ""}};
  r.rate_done = 80.2;
  r.latency = distribution(10ms);
  r.service = distribution(9ms);
  r.lag = distribution(20us);
  r.stages = {{"lag", false, distribution(20us)},
              {"network", false, distribution(200us)},
              {"hold", true, Distribution{1000, {}, {}, {}, {}}},
              {"compute", true, distribution(8ms)}};
  r.objective = Objective{"p99<30ms", 30ms, 0.99, Objective::Verdict::kFails, 0};
  r.within = 990;
  r.client_cpu_seconds = 0.31;
  r.requests_per_cpu_second = 52'000;
  r.connections_opened = 12;
  for (std::uint32_t i = 0; i < 11; ++i) {
    r.seconds.push_back({i, 90, 90, 80 + i, 89, 1, 10ms, 20ms, std::nullopt, 90ms, {0, 1, 0, 8}});
  }
  r.dots = {{1.5, 10, true}, {2.5, 12, false}};
  r.curve = {{0, 5}, {0.5, 10}, {0.99, 40}};
  r.service_curve = r.curve;
  r.histogram = {{5'000'000, 600}, {10'000'000, 400}};
  return r;
}

TEST(Table, AlignsByWhatTheEyeSees) {
  Table table;
  table.add({"naïve", "1 µs", "x"});
  table.add({"a", "22.5 ms", "y"});
  EXPECT_EQ(table.to_string(),
            "naïve  1 µs     x\n"
            "a      22.5 ms  y\n");
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);  // e and a combining accent
}

TEST(Table, WritesNumbersForPeople) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1 000");
  EXPECT_EQ(format_count(1234567), "1 234 567");
  EXPECT_EQ(format_number(0.314), "0.31");
  EXPECT_EQ(format_number(9.999), "10.0");
  EXPECT_EQ(format_number(80.24), "80.2");
  EXPECT_EQ(format_number(4983.4), "4 983");
}

TEST(Table, NeverRoundsAShareToAllOrNothing) {
  EXPECT_EQ(format_share(1), "100 %");
  EXPECT_EQ(format_share(0), "0 %");
  EXPECT_EQ(format_share(0.993), "99.3 %");
  EXPECT_EQ(format_share(0.9999), "99.99 %");
  EXPECT_EQ(format_share(0.0001), "0.01 %");
}

TEST(BenchText, SaysItAllInTheHousesWords) {
  const auto text = bench_text(example());
  EXPECT_TRUE(contains(text,
                       "1 010 requests in 10.0 s · 80.0/s poisson · client kept the rate (lag "
                       "P99 80.0 us)\n"));
  EXPECT_TRUE(contains(text, "not enough samples, need 3 688"));
  EXPECT_TRUE(contains(text, "10 of 1 010 (1.0 %): HTTP 429 7 (shed), timeout 3"));
  EXPECT_TRUE(contains(text, "98.0 % within 30.0 ms, 99.0/s: the objective p99<30ms fails"));
  EXPECT_TRUE(contains(text, "by second 81 to 90"));  // the warm-up's second is not compared
  EXPECT_FALSE(contains(text, "hold"));               // no time was spent there
}

TEST(BenchText, TheFirstLineConfessesALostRate) {
  auto r = example();
  r.rate_kept = false;
  r.rate_reason = "lag P99 9.00 ms is more than 5 % of the P50 10.0 ms";
  EXPECT_TRUE(bench_text(r).starts_with("the client could not keep the rate: lag P99 9.00 ms"));
  r = example();
  r.interrupted = true;
  EXPECT_TRUE(bench_text(r).starts_with("interrupted · "));
}

TEST(BenchText, WithoutAnySuccessThereIsNoLatency) {
  auto r = example();
  r.ok = 0;
  const auto text = bench_text(r);
  EXPECT_TRUE(contains(text, "no request succeeded"));
  EXPECT_FALSE(contains(text, "P50"));
}

TEST(BenchJson, ReadsBackAsWritten) {
  const auto json = nlohmann::json::parse(bench_json(example()));
  EXPECT_EQ(json["config"]["request"], "model <minilm> & co");
  EXPECT_EQ(json["latency"]["percentiles"][3]["value_ns"], 40'000'000);
  EXPECT_TRUE(json["latency"]["percentiles"][4]["value_ns"].is_null());
  EXPECT_EQ(json["latency"]["percentiles"][4]["samples_needed"], 3688);
  EXPECT_EQ(json["errors"][0]["count"], 7);
  EXPECT_EQ(json["objective"]["verdict"], "fails");
  EXPECT_EQ(json["seconds"].size(), 11u);
  EXPECT_EQ(json["latency_histogram"][1][1], 400);
  EXPECT_EQ(json["stages"][3]["name"], "compute");
}

TEST(Html, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  EXPECT_EQ(escape_script_json(R"({"a":"</script>"})"), R"({"a":"\u003c/script>"})");
  EXPECT_EQ(escape_html_unbroken("P99 9.00 ms < 1 010"), "P99&nbsp;9.00&nbsp;ms &lt; 1&nbsp;010");
}

/// Every tag that opens also closes, in order; void elements and the doctype aside.
void expect_balanced(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const auto end = page.find_first_of(" >\n", at);
    const auto name = page.substr(at + 1, end - at - 1);
    if (name == "!doctype" || name == "meta") continue;
    if (name.starts_with("/")) {
      ASSERT_FALSE(open.empty()) << name;
      ASSERT_EQ("/" + open.back(), name);
      open.pop_back();
      continue;
    }
    open.push_back(name);
    if (name == "script" || name == "style") {  // their text is not markup
      at = page.find("</" + name, at) - 1;
      ASSERT_NE(at, std::string::npos - 1);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(BenchHtml, NeedsNothingFromOutside) {
  auto r = example();
  r.config.target = "host";  // the only address that may stand in a page is the one asked for
  std::string page = bench_html(r);
  const std::string name_space = "http://www.w3.org/2000/svg";  // a name, never fetched
  const auto at = page.find(name_space);
  ASSERT_NE(at, std::string::npos);
  page.erase(at, name_space.size());
  for (const auto* fetch : {"http://", "https://", "src=", "href=", "url(", "@import", "fetch(",
                            "XMLHttpRequest", "import(", "<link", "<iframe", "<img"}) {
    EXPECT_FALSE(contains(page, fetch)) << fetch;
  }
}

TEST(BenchHtml, IsOneWholePage) {
  const auto page = bench_html(example());
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(contains(page, "model &lt;minilm&gt; &amp; co"));
  expect_balanced(page);
  for (const auto* id : {"timeline", "distribution", "stages", "throughput"}) {
    EXPECT_TRUE(contains(page, std::string("id=\"") + id + "\"")) << id;
    EXPECT_TRUE(contains(page, std::string("plot('") + id + "'")) << id;
  }
}

TEST(BenchHtml, ShowsTheTerminalsNumbers) {
  const auto r = example();
  const auto page = bench_html(r);
  for (const auto& row : latency_rows(r)) {
    for (const auto& cell : row) EXPECT_TRUE(contains(page, ">" + cell + "<")) << cell;
  }
  EXPECT_TRUE(contains(page, escape_html(goodput_text(r))));
  EXPECT_TRUE(contains(page, escape_html(errors_text(r))));
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto from = page.find(open) + open.size();
  const auto data = nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(data["curve"].size(), r.curve.size());
  EXPECT_EQ(data["limit_ms"], 30.0);
  EXPECT_EQ(data["seconds"][3]["ended"], r.seconds[3].ended);
  EXPECT_TRUE(data["seconds"][3]["p99"].is_null());
  EXPECT_EQ(data["dots"][1][2], false);
}

}  // namespace
}  // namespace tauto::report
