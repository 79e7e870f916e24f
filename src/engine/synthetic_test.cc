// The engine without a model: copies, constants, l(b), planted delays and failures, its parameters.
#include "engine/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/allocations_test_util.h"
#include "engine/engine_test_util.h"
#include "engine/synthetic_settings.h"

namespace tauto::engine {
namespace {

using namespace std::chrono_literals;
using testing::Requests;
using Parameters = std::map<std::string, std::string>;

class Synthetic : public ::testing::Test {
 protected:
  LoadOptions options(Parameters parameters, Signature declared) {
    LoadOptions o;
    o.parameters = std::move(parameters);
    o.rows_max = declared.rows_max;
    o.declared = std::move(declared);
    return o;
  }
  Result<std::unique_ptr<Instance>> make(const Parameters& parameters, const Signature& signature) {
    TAUTO_ASSIGN_OR_RETURN(model_, engine_->load(options(parameters, signature)));
    return model_->make_instance(signature);
  }
  std::string refusal(const Parameters& parameters) {
    const auto made = make(parameters, echo_);
    if (made.ok()) return "accepted";
    EXPECT_EQ(made.error().code, Code::kInvalidArgument);
    return made.error().message;
  }
  /// compute_end - bind_end of one run with `rows` rows.
  Duration compute_of(Instance& instance, std::uint32_t rows) {
    Requests requests;
    requests.request(rows).add<float>({rows, 1}, std::vector<float>(rows, 1.f));
    BatchTimes times{};
    EXPECT_TRUE(instance.run(requests.batch(), out_, times).ok());
    testing::expect_ordered(times);
    return times.compute_end - times.bind_end;
  }

  const Signature echo_{{{"IN", DataType::kFp32, {-1}}}, {{"OUT", DataType::kFp32, {-1}}}, 8};
  testing::SteppingTime time_;
  std::unique_ptr<Engine> engine_ = make_synthetic_engine(time_);
  std::unique_ptr<Model> model_;
  BatchOutput out_;
};

TEST_F(Synthetic, CopiesEachRequestsInputOfAnyType) {
  for (std::size_t t = 1; t < kDataTypeCount; ++t) {
    const auto type = static_cast<DataType>(t);
    const Signature signature{{{"IN", type, {-1}}}, {{"OUT", type, {-1}}}, 8};
    auto made = make({}, signature);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const std::size_t width = type == DataType::kBytes ? 7 : byte_size(type);
    Requests requests;
    requests.request(2).add_raw(type, {2, 3}, std::string(6 * width, 'a'));
    requests.request(1).add_raw(type, {1, 5}, std::string(5 * width, 'b'));
    BatchTimes times{};
    ASSERT_TRUE(made.value()->run(requests.batch(), out_, times).ok());
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(out_.view(i, 0).type, type);
      EXPECT_EQ(out_.view(i, 0).shape, requests.view(i, 0).shape);
      EXPECT_EQ(testing::text_of(out_.view(i, 0)), testing::text_of(requests.view(i, 0)));
      EXPECT_NE(out_.view(i, 0).bytes.data(), requests.view(i, 0).bytes.data());
    }
  }
}

TEST_F(Synthetic, DescribesWhatTheConfigDeclares) {
  ASSERT_TRUE(make({}, echo_).ok());
  EXPECT_EQ(model_->description().inputs[0].dims, (Shape{-1, -1}));
  EXPECT_EQ(model_->description().outputs[0].name, "OUT");
  const auto none = engine_->load(options({}, Signature{}));
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("must list inputs and outputs"), std::string::npos);
}

TEST_F(Synthetic, ConstantsFillTheDeclaredShape) {
  const Signature signature{
      {{"IN", DataType::kFp32, {2}}},
      {{"A", DataType::kFp32, {2}}, {"B", DataType::kInt64, {3}}, {"C", DataType::kBytes, {1}}},
      4};
  auto made =
      make({{"tauto.synthetic.output", "7"}, {"tauto.synthetic.output.C", "yes"}}, signature);
  ASSERT_TRUE(made.ok()) << made.error().message;
  Requests requests;
  requests.request(1).add<float>({1, 2}, {5, 5}).request(2).add<float>({2, 2}, {5, 5, 5, 5});
  BatchTimes times{};
  ASSERT_TRUE(made.value()->run(requests.batch(), out_, times).ok());
  EXPECT_EQ(testing::values<float>(out_.view(0, 0)), (std::vector<float>{7, 7}));
  EXPECT_EQ(testing::values<std::int64_t>(out_.view(1, 1)), (std::vector<std::int64_t>(6, 7)));
  EXPECT_EQ(out_.view(1, 1).shape, (Shape{2, 3}));
  EXPECT_EQ(testing::text_of(out_.view(1, 2)), testing::bytes_tensor({"yes", "yes"}));

  auto batch = requests.batch();
  batch.outputs_wanted = 0b010;
  ASSERT_TRUE(made.value()->run(batch, out_, times).ok());
  EXPECT_EQ(out_.view(0, 0).type, DataType::kInvalid);
  EXPECT_EQ(out_.view(0, 1).type, DataType::kInt64);
}

TEST_F(Synthetic, WithoutBatchDimensionShapesAreAsDeclared) {
  const Signature signature{{}, {{"A", DataType::kUint8, {4}}}, 0};
  auto made = make({}, signature);
  ASSERT_TRUE(made.ok()) << made.error().message;
  Requests requests;
  requests.request(1);
  BatchTimes times{};
  ASSERT_TRUE(made.value()->run(requests.batch(), out_, times).ok());
  EXPECT_EQ(out_.view(0, 0).shape, (Shape{4}));
  EXPECT_EQ(testing::values<std::uint8_t>(out_.view(0, 0)), (std::vector<std::uint8_t>(4, 0)));
}

TEST_F(Synthetic, RefusesOutputsItCannotMake) {
  const auto free = make({}, {{{"IN", DataType::kInt64, {-1}}}, {{"O", DataType::kFp32, {-1}}}, 8});
  ASSERT_FALSE(free.ok());
  EXPECT_NE(free.error().message.find("dims must be fixed"), std::string::npos);
  EXPECT_NE(refusal({{"tauto.synthetic.output.X", "1"}}).find("no such output"), std::string::npos);
  const auto bad =
      make({{"tauto.synthetic.output", "1.5"}}, {{}, {{"O", DataType::kInt32, {1}}}, 0});
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find("'1.5' is no INT32"), std::string::npos);
  auto absent = make({}, echo_);
  ASSERT_TRUE(absent.ok());
  Requests requests;
  requests.request(1).absent();
  BatchTimes times{};
  const auto ran = absent.value()->run(requests.batch(), out_, times);
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code, Code::kInvalidArgument);
}

TEST_F(Synthetic, TakesTheTimeItsParametersSay) {
  struct Case {
    Parameters parameters;
    std::uint32_t rows;
    Duration time;
  };
  const Case cases[] = {
      {{{"tauto.synthetic.fixed", "1ms"}, {"tauto.synthetic.per_row", "50us"}}, 3, 1150us},
      {{{"delay_a_us", "1000"}, {"delay_c_us", "50.5"}, {"delay_mode", "spin"}}, 2, 1101us},
      {{{"tauto.synthetic.profile", "1:100us,4:400us"}}, 2, 200us},
      {{{"tauto.synthetic.fixed", "1ms"}, {"tauto.synthetic.mode", "none"}}, 1, 0us},
      {{{"tauto.synthetic.compute_delay", "2ms"}, {"tauto.synthetic.fixed", "1ms"}}, 1, 3ms}};
  for (const auto& c : cases) {
    auto made = make(c.parameters, echo_);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const Duration took = compute_of(*made.value(), c.rows);
    EXPECT_GE(took, c.time) << c.parameters.begin()->first;
    EXPECT_LE(took, c.time + 3 * testing::SteppingTime::kStep) << c.parameters.begin()->first;
  }
}

TEST_F(Synthetic, PlantedDelaysStayInTheirStage) {
  auto made =
      make({{"tauto.synthetic.bind_delay", "3ms"}, {"tauto.synthetic.unbind_delay", "5ms"}}, echo_);
  ASSERT_TRUE(made.ok());
  Requests requests;
  requests.request(1).add<float>({1, 1}, {1});
  BatchTimes times{};
  const Instant start = time_.now();
  ASSERT_TRUE(made.value()->run(requests.batch(), out_, times).ok());
  EXPECT_GE(times.bind_end - start, 3ms);
  EXPECT_LE(times.compute_end - times.bind_end, 10us);
  EXPECT_GE(times.unbind_end - times.compute_end, 5ms);
  EXPECT_LE(times.unbind_end - start, 8ms + 20us);
}

TEST_F(Synthetic, SleepsAndHybridWaitsAreNeverShort) {
  const testing::RealTime real;
  const auto engine = make_synthetic_engine(real);
  for (const char* mode : {"sleep", "hybrid", "spin"}) {
    auto model = engine->load(
        options({{"tauto.synthetic.fixed", "300us"}, {"tauto.synthetic.mode", mode}}, echo_));
    ASSERT_TRUE(model.ok());
    auto instance = model.value()->make_instance(echo_);
    ASSERT_TRUE(instance.ok());
    EXPECT_GE(compute_of(*instance.value(), 1), 300us) << mode;
  }
}

TEST_F(Synthetic, JitterIsTheSameForASeedAndDiffersBetweenInstances) {
  const auto times_of = [this](const std::string& seed, int skipped_instances) {
    auto made = make({{"tauto.synthetic.jitter", "1ms"}, {"tauto.synthetic.seed", seed}}, echo_);
    EXPECT_TRUE(made.ok());
    for (int i = 0; i < skipped_instances; ++i) made = model_->make_instance(echo_);
    std::vector<Duration> times;
    times.reserve(20);
    for (int i = 0; i < 20; ++i) times.push_back(compute_of(*made.value(), 1));
    return times;
  };
  const auto one = times_of("5", 0);
  EXPECT_EQ(one, times_of("5", 0));
  EXPECT_NE(one, times_of("6", 0));
  EXPECT_NE(one, times_of("5", 1));
  EXPECT_GT(*std::max_element(one.begin(), one.end()), 500us);
  EXPECT_LE(*std::max_element(one.begin(), one.end()), 1003us);
}

TEST_F(Synthetic, FailsEveryNthRun) {
  auto made = make({{"tauto.synthetic.fail_every", "3"}}, echo_);
  ASSERT_TRUE(made.ok());
  std::string pattern;
  for (int i = 0; i < 7; ++i) {
    Requests requests;
    requests.request(1).add<float>({1, 1}, {1});
    BatchTimes times{};
    const auto ran = made.value()->run(requests.batch(), out_, times);
    pattern += ran.ok() ? '.' : 'x';
    if (!ran.ok()) {
      EXPECT_EQ(ran.error().code, Code::kInternal);
    }
  }
  EXPECT_EQ(pattern, "..x..x.");
}

TEST_F(Synthetic, RefusesParametersByName) {
  EXPECT_EQ(refusal({{"tauto.synthetic.fixd", "1ms"}}),
            "parameter 'tauto.synthetic.fixd': the synthetic engine has no such parameter; did you "
            "mean 'tauto.synthetic.fixed'?");
  const char* ill_formed[][2] = {{"tauto.synthetic.fixed", "5"},
                                 {"tauto.synthetic.fixed", "-1ms"},
                                 {"delay_a_us", "fast"},
                                 {"delay_mode", "dream"},
                                 {"delay_b_us", "1"},
                                 {"tauto.synthetic.profile", "1:1ms,1:2ms"},
                                 {"tauto.synthetic.profile", "4:2ms,8:1ms"},
                                 {"tauto.synthetic.profile", "4"},
                                 {"tauto.synthetic.profile", ""},
                                 {"tauto.synthetic.fail_every", "-1"}};
  for (const auto& [name, text] : ill_formed) {
    EXPECT_NE(refusal({{name, text}}).find("'" + std::string(name) + "'"), std::string::npos)
        << name << " " << text;
  }
  EXPECT_NE(refusal({{"tauto.synthetic.fixed", "1ms"}, {"delay_a_us", "1"}}).find("keep one"),
            std::string::npos);
  EXPECT_EQ(refusal({{"tauto.deadline", "10ms"}, {"somebody", "else"}}), "accepted");
}

TEST_F(Synthetic, AllocatesNothingAfterTheFirstRun) {
  const Signature signature{{{"IN", DataType::kFp32, {-1}}},
                            {{"OUT", DataType::kFp32, {-1}}, {"C", DataType::kInt32, {4}}},
                            8};
  auto made = make({}, signature);
  ASSERT_TRUE(made.ok());
  Requests requests;
  for (int i = 0; i < 4; ++i) requests.request(2).add<float>({2, 8}, std::vector<float>(16, 1.f));
  const Batch batch = requests.batch();
  BatchTimes times{};
  ASSERT_TRUE(made.value()->run(batch, out_, times).ok());
  const auto* before = out_.view(3, 0).bytes.data();
  const std::uint64_t allocations_before = testing::allocations();
  bool all_ok = true;
  for (int i = 0; i < 100; ++i) all_ok = made.value()->run(batch, out_, times).ok() && all_ok;
  EXPECT_EQ(testing::allocations() - allocations_before, 0u);
  EXPECT_TRUE(all_ok);
  EXPECT_EQ(out_.view(3, 0).bytes.data(), before);
}

TEST(ConstantElement, HoldsTheTextInEveryType) {
  struct Case {
    DataType type;
    const char* text;
    std::vector<int> bytes;
  };
  const Case cases[] = {{DataType::kBool, "true", {1}},
                        {DataType::kUint8, "255", {0xff}},
                        {DataType::kInt8, "-1", {0xff}},
                        {DataType::kInt16, "-2", {0xfe, 0xff}},
                        {DataType::kUint32, "1", {1, 0, 0, 0}},
                        {DataType::kFp16, "1.5", {0x00, 0x3e}},
                        {DataType::kFp16, "65504", {0xff, 0x7b}},
                        {DataType::kFp16, "65520", {0x00, 0x7c}},
                        {DataType::kFp16, "-0.1", {0x66, 0xae}},
                        {DataType::kBf16, "1.5", {0xc0, 0x3f}},
                        {DataType::kBf16, "0.1", {0xcd, 0x3d}},
                        {DataType::kFp32, "1", {0, 0, 0x80, 0x3f}},
                        {DataType::kBytes, "ab", {2, 0, 0, 0, 'a', 'b'}}};
  for (const auto& c : cases) {
    const auto element = constant_element(c.type, c.text);
    ASSERT_TRUE(element.ok()) << c.text;
    std::vector<int> bytes;
    for (const auto b : element.value()) bytes.push_back(std::to_integer<int>(b));
    EXPECT_EQ(bytes, c.bytes) << protocol_name(c.type) << " " << c.text;
  }
  EXPECT_FALSE(constant_element(DataType::kUint8, "256").ok());
  EXPECT_FALSE(constant_element(DataType::kInt32, "").ok());
  EXPECT_FALSE(constant_element(DataType::kFp32, "1x").ok());
  EXPECT_FALSE(constant_element(DataType::kInvalid, "1").ok());
}

}  // namespace
}  // namespace tauto::engine
