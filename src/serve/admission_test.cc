// Which requests a model takes, in a table: what is asked, what is said.
#include "serve/admission.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tauto::serve {
namespace {

using namespace std::chrono_literals;

class NoTime final : public TimeSource {
 public:
  Instant now() const override { return Instant{}; }
};

class NoFrontEnd final : public FrontEnd {
 public:
  void answer(Request&) override {}
  void release(Request&) override {}
};

model::TensorConfig tensor(std::string name, DataType type, Shape dims) {
  model::TensorConfig t;
  t.name = std::move(name);
  t.type = type;
  t.dims = dims;
  return t;
}

struct Fixture : testing::Test {
  NoTime clock;
  NoFrontEnd front;
  std::unique_ptr<model::LoadedModel> loaded = std::make_unique<model::LoadedModel>();
  wire::InferRequest asked;
  Request request{front};

  Fixture() {
    loaded->name = "m";
    loaded->config.rows_max = 8;
    loaded->config.inputs = {tensor("a", DataType::kFp32, {4}),
                             tensor("b", DataType::kInt64, {-1})};
    loaded->config.outputs = {tensor("y", DataType::kFp32, {4}), tensor("z", DataType::kFp32, {1})};
  }
  void ask(std::string_view name, DataType type, Shape shape) {
    static std::vector<std::byte> zeros(4096);
    const auto count = static_cast<std::size_t>(shape.element_count().value_or(0));
    asked.inputs.push_back(
        {name, {type, shape, std::span(zeros).first(count * byte_size(type))}, true});
  }
  void ask_well(std::int64_t rows = 2, std::int64_t length = 3) {
    ask("a", DataType::kFp32, {rows, 4});
    ask("b", DataType::kInt64, {rows, length});
  }
  std::string verdict() {
    const ModelHost host(std::move(loaded), 1, clock);
    const auto status = admit(host, asked, request);
    return status.ok() ? "" : status.error().message;
  }
  Instant deadline(std::string_view header, Instant first_byte = Instant{}) {
    const ModelHost host(std::move(loaded), 1, clock);
    return deadline_of(host, asked, header, first_byte).value().value_or(Instant::max());
  }
};

TEST_F(Fixture, AGoodRequestIsBoundInSignatureOrder) {
  ask("b", DataType::kInt64, {2, 3});
  ask("a", DataType::kFp32, {2, 4});
  asked.priority = 3;
  asked.timeout = 5ms;
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(request.arrive.rows, 2u);
  EXPECT_EQ(request.arrive.priority, 3u);
  EXPECT_EQ(request.arrive.queue_timeout, 5ms);
  EXPECT_EQ(request.arrive.elements_per_row, 7u);
  ASSERT_EQ(request.inputs.size(), 2u);
  EXPECT_EQ(request.inputs[0].type, DataType::kFp32);
  EXPECT_EQ(request.inputs[1].type, DataType::kInt64);
}

TEST_F(Fixture, OnlyFreeDimensionsDecideWhoMayShareABatch) {
  const ModelHost host(std::move(loaded), 1, clock);
  const auto key = [&](std::int64_t rows, std::int64_t length) {
    asked.clear();
    ask_well(rows, length);
    EXPECT_TRUE(admit(host, asked, request).ok());
    return request.arrive.compat_key;
  };
  EXPECT_EQ(key(1, 3), key(4, 3));
  EXPECT_NE(key(1, 3), key(1, 4));
}

struct Refusal {
  const char* what;
  void (*ask)(Fixture&);
  const char* expected;
};

const Refusal kRefusals[] = {
    {"missing",
     [](Fixture& f) {
       f.ask("a", DataType::kFp32, {1, 4});
     },
     "expected 2 inputs but got 1 inputs for model 'm'. Got input(s) ['a'], but missing required "
     "input(s) ['b']"},
    {"unknown",
     [](Fixture& f) {
       f.ask("q", DataType::kFp32, {1, 4});
     },
     "unexpected inference input 'q' for model 'm'"},
    {"type",
     [](Fixture& f) {
       f.ask("a", DataType::kInt32, {1, 4});
       f.ask("b", DataType::kInt64, {1, 3});
     },
     "inference input 'a' data-type is 'INT32', but model 'm' expects 'FP32'"},
    {"too many rows", [](Fixture& f) { f.ask_well(9); },
     "inference request batch-size must be <= 8 for 'm'"},
    {"no rows", [](Fixture& f) { f.ask_well(0); }, "at least 1 is needed"},
    {"rows differ",
     [](Fixture& f) {
       f.ask("a", DataType::kFp32, {1, 4});
       f.ask("b", DataType::kInt64, {2, 3});
     },
     "input 'b' batch size does not match other inputs for 'm'"},
    {"shape",
     [](Fixture& f) {
       f.ask("a", DataType::kFp32, {1, 5});
       f.ask("b", DataType::kInt64, {1, 3});
     },
     "unexpected shape for input 'a' for model 'm'. Expected [-1,4], got [1,5]. NOTE"},
    {"rank",
     [](Fixture& f) {
       f.ask("a", DataType::kFp32, {4});
       f.ask("b", DataType::kInt64, {1, 3});
     },
     "unexpected shape for input 'a'"},
    {"output",
     [](Fixture& f) {
       f.ask_well();
       f.asked.outputs.push_back({"w", std::nullopt, std::nullopt});
     },
     "unexpected inference output 'w' for model 'm'"},
    {"classification",
     [](Fixture& f) {
       f.ask_well();
       f.asked.outputs.push_back({"y", std::nullopt, 3});
     },
     "classification extension is not supported yet"},
};

TEST_F(Fixture, Refusals) {
  for (const auto& c : kRefusals) {
    Fixture* f = this;
    f->asked.clear();
    c.ask(*f);
    if (f->loaded == nullptr) {
      f->loaded = std::make_unique<model::LoadedModel>();
      f->loaded->name = "m";
      f->loaded->config.rows_max = 8;
      f->loaded->config.inputs = {tensor("a", DataType::kFp32, {4}),
                                  tensor("b", DataType::kInt64, {-1})};
      f->loaded->config.outputs = {tensor("y", DataType::kFp32, {4})};
    }
    const auto said = f->verdict();
    EXPECT_NE(said.find(c.expected), std::string::npos) << c.what << ": " << said;
  }
}

TEST_F(Fixture, AnOptionalInputMayStayAway) {
  loaded->config.inputs[1].optional = true;
  ask("a", DataType::kFp32, {1, 4});
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(request.inputs[1].type, DataType::kInvalid);
}

TEST_F(Fixture, ReshapeIsWhatTheEngineSees) {
  loaded->config.inputs[0].reshape = Shape{2, 2};
  ask_well(3);
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(request.inputs[0].shape, (Shape{3, 2, 2}));
}

TEST_F(Fixture, ARawBodyBecomesTheOnlyInput) {
  loaded->config.inputs = {tensor("a", DataType::kFp32, {-1, 4})};
  const ModelHost host(std::move(loaded), 1, clock);
  std::vector<std::byte> body(48);
  asked.raw = true;
  asked.raw_bytes = body;
  ASSERT_TRUE(expand_raw(host, asked).ok());
  EXPECT_EQ(asked.inputs[0].tensor.shape, (Shape{1, 3, 4}));
  asked.clear();
  asked.raw_bytes = std::span(body).first(47);
  EXPECT_FALSE(expand_raw(host, asked).ok());
}

TEST_F(Fixture, ARawBodyNeedsOneInput) {
  const ModelHost host(std::move(loaded), 1, clock);
  const auto status = expand_raw(host, asked);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("exactly one input"), std::string::npos);
}

TEST_F(Fixture, TheStrictestDeadlineWinsAndCountsFromTheFirstByte) {
  loaded->config.objective = 30ms;
  asked.deadline = 20ms;
  EXPECT_EQ(deadline("25", Instant{} + 1s), Instant{} + 1s + 20ms);
}

TEST_F(Fixture, EnvoysHeaderIsADeadlineToo) {
  asked.deadline = 20ms;
  EXPECT_EQ(deadline("10"), Instant{} + 10ms);
}

TEST_F(Fixture, ADeadlineBeyondAllTimeDoesNotOverflow) {
  asked.deadline = Duration::max();
  EXPECT_EQ(deadline("", Instant{} + 1s), Instant{} + 1s + sched::kTimeMax);
}

TEST_F(Fixture, NoDeadlineIsNone) { EXPECT_EQ(deadline("0"), Instant::max()); }

TEST_F(Fixture, AHeaderThatIsNoNumberIsRefused) {
  const ModelHost host(std::move(loaded), 1, clock);
  EXPECT_FALSE(deadline_of(host, asked, "soon", Instant{}).ok());
}

}  // namespace
}  // namespace tauto::serve
