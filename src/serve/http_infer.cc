#include "serve/http_infer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/json_writer.h"
#include "journey/outcome.h"
#include "model/reshape.h"
#include "serve/admission.h"
#include "serve/device_group.h"
#include "serve/documents.h"
#include "serve/journey_switch.h"
#include "serve/status_map.h"
#include "wire/server_timing.h"

namespace tauto::serve {

using journey::Outcome;
using journey::Stage;

struct HttpInfer::HttpRequest : Request {
  explicit HttpRequest(HttpInfer& owner) : Request(owner) {}

  net::HttpExchange* exchange = nullptr;  // null once the client is gone
  net::BodyHandle body;
  wire::InferRequest asked;
  std::vector<journey::LabelIndex> labels;
  bool wants_timing = false;
  Instant parsed{};
  Outcome outcome = Outcome::kInvalid;
  std::vector<wire::InferOutput> outputs;
  std::vector<std::span<const std::byte>> pieces;
};

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Outcome outcome_of(sched::AnswerKind kind) {
  switch (kind) {
    case sched::AnswerKind::kServed:
      return Outcome::kServed;
    case sched::AnswerKind::kFailed:
      return Outcome::kFailed;
    case sched::AnswerKind::kExpired:
      return Outcome::kExpired;
    case sched::AnswerKind::kQueueTimeout:
      return Outcome::kQueueTimeout;
    case sched::AnswerKind::kShed:
      return Outcome::kShed;
    case sched::AnswerKind::kCancelled:
      return Outcome::kCancelled;
    case sched::AnswerKind::kLost:
    case sched::AnswerKind::kRetired:
      return Outcome::kLost;
  }
  return Outcome::kFailed;
}

FailureReason failure_reason(Outcome outcome) {
  switch (outcome) {
    case Outcome::kShed:
    case Outcome::kQueueTimeout:
      return FailureReason::kRejected;
    case Outcome::kCancelled:
      return FailureReason::kCanceled;
    case Outcome::kFailed:
      return FailureReason::kBackend;
    default:
      return FailureReason::kOther;
  }
}

std::int64_t us(Duration d) { return d.count() / 1000; }

/// What a refused or given-up request is told: a sentence, then the same in numbers with units.
void write_refusal(const Request& request, std::string& json, std::string& headers) {
  const auto& answer = request.answer;
  std::string text;
  switch (answer.kind) {
    case sched::AnswerKind::kShed:
      text = wire::request_id_prefix(request.client_id) + "Exceeds maximum queue size";
      break;
    case sched::AnswerKind::kQueueTimeout:
      text = "Request timeout expired";
      break;
    case sched::AnswerKind::kExpired:
      text = "Deadline passed before the answer was ready";
      break;
    case sched::AnswerKind::kRetired:
      text = wire::request_id_prefix(request.client_id) +
             "Server is stopping, scheduler for model has stopped accepting new inference requests";
      break;
    default:
      text = "The model's instance went away while the request was running";
      break;
  }
  JsonWriter writer(json);
  writer.begin_object().field("error", std::string_view(text));
  writer.field("reason", sched::answer_kind_name(answer.kind));
  writer.field("waited_us", us(answer.waited));
  if (answer.limit) writer.field("limit_us", us(*answer.limit));
  if (answer.depth_limit) writer.field("queue_limit_requests", *answer.depth_limit);
  if (answer.retry_after) {
    writer.field("retry_after_us", us(*answer.retry_after));
    const auto seconds = (answer.retry_after->count() + 999'999'999) / 1'000'000'000;
    headers += "Retry-After: " + std::to_string(std::max<std::int64_t>(1, seconds)) + "\r\n";
  } else if (answer.kind == sched::AnswerKind::kShed) {
    headers += "Retry-After: 1\r\n";
  }
  writer.end_object();
}

}  // namespace

HttpInfer::HttpInfer(LoopContext& loop, const TimeSource& clock) : loop_(loop), clock_(clock) {}
HttpInfer::~HttpInfer() = default;

HttpInfer::HttpRequest& HttpInfer::take(ModelHost& host, net::HttpExchange& exchange) {
  if (free_.empty()) free_.push_back(&requests_.emplace_back(*this));
  HttpRequest& request = *free_.back();
  free_.pop_back();
  request.loop = &loop_;
  request.model = &host;
  request.journey = journey::Journey(exchange.first_byte());
  request.journey.mark(Stage::kReceive, exchange.last_byte());
  request.exchange = &exchange;
  request.body = exchange.take_body();
  request.arrive = {};
  request.client_id = {};
  request.batch = nullptr;
  request.depth_on_arrival = 0;
  request.answered = request.sent = request.batch_done = false;
  request.labels.clear();
  request.wants_timing = exchange.header("tauto-journey") == "1";
  exchange.user = &request;
  return request;
}

void HttpInfer::infer(ModelHost& host, net::HttpExchange& exchange) {
  HttpRequest& request = take(host, exchange);
  const Status understood = understand(request);
  request.parsed = clock_.now();
  if constexpr (kJourneys) request.journey.mark(Stage::kParse, request.parsed);
  if (!understood.ok()) {
    refuse(request, understood.error());
    return;
  }
  host.group().arrive(loop_, request, request.parsed);
}

Status HttpInfer::understand(HttpRequest& request) {
  auto& exchange = *request.exchange;
  ModelHost& host = *request.model;
  const auto encoding = exchange.header("Content-Encoding");
  if (!encoding.empty() && encoding != "identity") {
    exchange.extra_headers() += "Accept-Encoding: identity\r\n";
    return Error{Code::kUnimplemented, "Unsupported compression type: send the body plain"};
  }
  wire::InferBody body{request.body.bytes(), std::nullopt, host.name(), 1};
  const auto header_length = exchange.header("Inference-Header-Content-Length");
  if (!header_length.empty()) body.header_length = header_length;
  TAUTO_RETURN_IF_ERROR(parser_.parse(body, request.asked));
  request.client_id = request.asked.id;
  if (request.asked.raw) TAUTO_RETURN_IF_ERROR(expand_raw(host, request.asked));
  TAUTO_RETURN_IF_ERROR(admit(host, request.asked, request));
  for (const auto& label : request.asked.labels) {
    const auto index = host.labels().find(label.name, label.value);
    if (!index) {
      return Error{Code::kInvalidArgument, "label '" + std::string(label.name) +
                                               "' is not allowed for model '" + host.name() +
                                               "': add it to its parameter tauto.label_names"};
    }
    request.labels.push_back(*index);
  }
  TAUTO_ASSIGN_OR_RETURN(
      request.arrive.deadline,
      deadline_of(host, request.asked, exchange.header("x-envoy-expected-rq-timeout-ms"),
                  request.journey.started()));
  return Unit{};
}

void HttpInfer::refuse(HttpRequest& request, const Error& error) {
  auto& exchange = *request.exchange;
  request.outcome = Outcome::kInvalid;
  request.answered = true;
  write_error(exchange.text(), error.message);
  end_reply(request);
  exchange.reply_text(http_status(error.code), "application/json", exchange.text());
}

void HttpInfer::answer(Request& base) {
  auto& request = static_cast<HttpRequest&>(base);
  request.outcome = outcome_of(request.answer.kind);
  finish_journey(request);
  if (request.exchange == nullptr) {
    // Its answer was on the way when the client went: nobody is served by it.
    if (request.outcome == Outcome::kServed) request.outcome = Outcome::kCancelled;
    record(request);
    request_sent(request);
    return;
  }
  if (request.outcome == Outcome::kServed) {
    answer_served(request);
  } else {
    answer_failed(request);
  }
}

void HttpInfer::finish_journey(HttpRequest& request) {
  if constexpr (!kJourneys) return;
  auto& journey = request.journey;
  const BatchRun* batch = request.batch;
  journey.set_hold(request.answer.hold);
  if (batch == nullptr) {  // it never left the queue
    journey.mark(Stage::kWait, request.parsed + request.answer.waited);
    return;
  }
  if (request.batch_done) {
    journey.mark(Stage::kWait, batch->picked_up());
    journey.mark(Stage::kBind, batch->times.bind_end);
    journey.mark(Stage::kCompute, batch->times.compute_end);
    journey.mark(Stage::kUnbind, batch->times.unbind_end);
    return;
  }
  // Answered while it runs: the engine's stamps are not ours to read yet, but its start is.
  const Instant now = clock_.now();
  const Instant picked_up = batch->picked_up();
  journey.mark(Stage::kWait, to_ns(picked_up) == 0 ? now : picked_up);
  journey.mark(Stage::kCompute, now);
}

void HttpInfer::answer_served(HttpRequest& request) {
  auto& exchange = *request.exchange;
  const auto& config = request.model->loaded().config;
  request.outputs.clear();
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    const auto& output = config.outputs[i];
    bool binary = request.asked.binary_data_output;
    if (!request.asked.outputs.empty()) {
      const auto asked =
          std::find_if(request.asked.outputs.begin(), request.asked.outputs.end(),
                       [&](const auto& wanted) { return wanted.name == output.name; });
      if (asked == request.asked.outputs.end()) continue;
      binary = asked->binary.value_or(binary);
    }
    TensorView view = request.batch->output.view(request.batch_index, i);
    if (output.reshape) {
      const bool batched = config.rows_max > 0;
      const Shape inner = batched ? Shape(view.shape.dims().subspan(1)) : view.shape;
      const Shape seen = model::reshape(inner, *output.reshape, output.dims);
      Shape shape = batched ? Shape{view.shape[0]} : Shape{};
      for (const auto d : seen.dims()) shape.push_back(d);
      view.shape = shape;
    }
    request.outputs.push_back({output.name, view, binary});
  }
  request.pieces.clear();
  request.pieces.emplace_back();  // the JSON's place
  const wire::InferResponse response{
      request.asked.id, request.model->name(), request.model->version_text(), {}, request.outputs};
  const Status written = wire::write_infer_response(response, exchange.text(), request.pieces);
  if (!written.ok()) {
    request.outcome = Outcome::kInvalid;
    write_error(exchange.text(), written.error().message);
    end_reply(request);
    exchange.reply_text(http_status(written.error().code), "application/json", exchange.text());
    return;
  }
  request.pieces[0] = bytes_of(exchange.text());
  const bool binary = request.pieces.size() > 1;
  if (binary) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, exchange.text().size()).ptr;
    exchange.extra_headers() += "Inference-Header-Content-Length: ";
    exchange.extra_headers().append(digits, end).append("\r\n");
  }
  end_reply(request);
  if (request.wants_timing) write_server_timing(request);
  exchange.reply(
      {200, {}, binary ? "application/octet-stream" : "application/json", request.pieces, false});
}

void HttpInfer::answer_failed(HttpRequest& request) {
  auto& exchange = *request.exchange;
  unsigned status = http_status(code_of(request.answer.kind));
  if (request.answer.kind == sched::AnswerKind::kFailed && request.batch->error) {
    status = http_status(request.batch->error->code);
    write_error(exchange.text(), request.batch->error->message);
  } else {
    write_refusal(request, exchange.text(), exchange.extra_headers());
  }
  end_reply(request);
  if (request.wants_timing) write_server_timing(request);
  exchange.reply_text(status, "application/json", exchange.text());
}

void HttpInfer::end_reply(HttpRequest& request) {
  if constexpr (kJourneys) request.journey.mark(Stage::kReply, clock_.now());
}

void HttpInfer::write_server_timing(HttpRequest& request) {
  const auto split = request.journey.split();
  std::array<wire::Timing, journey::kStageCount> timings;
  constexpr std::size_t kBeforeSend = journey::kStageCount - 1;
  for (std::size_t i = 0; i < kBeforeSend; ++i) timings[i] = {journey::kStageNames[i], split[i]};
  timings[kBeforeSend] = {"total", request.journey.total()};
  auto& headers = request.exchange->extra_headers();
  headers += "Server-Timing: ";
  wire::append_server_timing(timings, headers);
  headers += "\r\n";
}

void HttpInfer::sent(net::HttpExchange& exchange, Instant at, bool ok) {
  auto& request = *static_cast<HttpRequest*>(exchange.user);
  exchange.user = nullptr;
  request.exchange = nullptr;
  request.journey.mark(Stage::kSend, at);
  if (!ok && request.outcome == Outcome::kServed) request.outcome = Outcome::kCancelled;
  record(request);
  request_sent(request);
}

void HttpInfer::client_gone(net::HttpExchange& exchange) {
  auto& request = *static_cast<HttpRequest*>(exchange.user);
  exchange.user = nullptr;
  request.exchange = nullptr;
  request.model->group().cancel(loop_, request);
}

void HttpInfer::record(HttpRequest& request) {
  if constexpr (!kJourneys) return;
  ModelHost& host = *request.model;
  const auto split = request.journey.split();
  host.stages().record(loop_.index, request.outcome, split);
  for (const auto label : request.labels) {
    host.labels().record(loop_.index, label, request.outcome, request.journey.total());
  }
  const auto at = [&](Stage s) { return split[static_cast<std::size_t>(s)]; };
  // Triton's request time begins when the front end hands the request over and ends with its
  // answer.
  const Duration total = request.journey.total() - at(Stage::kReceive) - at(Stage::kParse) -
                         at(Stage::kReply) - at(Stage::kSend);
  if (request.outcome == Outcome::kServed) {
    host.statistics().add_success(loop_.index, request.arrive.rows,
                                  {total, at(Stage::kHold) + at(Stage::kWait), at(Stage::kBind),
                                   at(Stage::kCompute), at(Stage::kUnbind)});
  } else if (request.outcome != Outcome::kInvalid) {
    host.statistics().add_failure(loop_.index, failure_reason(request.outcome), total);
  }
  if (host.slowest().wants(request.journey.total(), request.journey.last())) {
    offer_exemplar(request, split);
  }
}

void HttpInfer::offer_exemplar(const HttpRequest& request, const journey::Split& split) {
  journey::Exemplar e;
  e.request = request.arrive.id.value;
  e.client_id = request.client_id;
  e.model = request.model->name();
  e.version = request.model->version_text();
  for (const auto& label : request.asked.labels) e.labels.emplace_back(label.name, label.value);
  e.started = request.journey.started();
  e.total = request.journey.total();
  e.stages = split;
  e.outcome = request.outcome;
  e.queue_depth = request.depth_on_arrival;
  if (request.batch != nullptr) {
    e.batch_rows = request.batch->rows;
    e.batch_requests = static_cast<std::uint32_t>(request.batch->members.size());
    e.batch = request.batch->id.value;
    e.instance = request.batch->instance.value;
    e.dispatch_reason = sched::dispatch_reason_name(request.batch->reason);
  }
  request.model->slowest().offer(std::move(e));
}

void HttpInfer::release(Request& base) {
  auto& request = static_cast<HttpRequest&>(base);
  request.body.reset();
  free_.push_back(&request);
}

}  // namespace tauto::serve
