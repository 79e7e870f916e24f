#include "wire/server_timing.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

namespace tauto::wire {
namespace {

constexpr double kYearMs = 365.0 * 86'400e3;

bool is_token(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

/// `dur`: milliseconds with up to three places, no trailing zeros.
void append_ms(Duration duration, std::string& out) {
  const std::int64_t ns = to_ns(duration) < 0 ? 0 : to_ns(duration);
  const std::int64_t us = ns / 1000 + (ns % 1000 >= 500 ? 1 : 0);
  char text[32];
  char* end = std::to_chars(text, text + sizeof text, us / 1000).ptr;
  std::int64_t rest = us % 1000;
  if (rest != 0) {
    *end++ = '.';
    for (std::int64_t digit = 100; rest != 0; digit /= 10) {
      *end++ = static_cast<char>('0' + rest / digit);
      rest %= digit;
    }
  }
  out.append(text, end);
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool done() const { return at_ == text_.size(); }
  void skip_blanks() {
    while (!done() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view token() {
    skip_blanks();
    const std::size_t start = at_;
    while (!done() && is_token(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  /// A token, or what stands between quotes, escapes untouched; nullopt when neither is there.
  std::optional<std::string_view> value() {
    if (!take('"')) {
      const auto word = token();
      if (word.empty()) return std::nullopt;
      return word;
    }
    const std::size_t start = at_;
    for (; !done(); ++at_) {
      if (text_[at_] == '"') return text_.substr(start, at_++ - start);
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    }
    return std::nullopt;
  }
  std::size_t at() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<Duration> parse_ms(std::string_view text) {
  double ms = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!(ms >= 0 && ms <= kYearMs)) return std::nullopt;
  return Duration{std::llround(ms * 1e6)};
}

Error malformed(std::string_view value, std::size_t at) {
  return Error{Code::kInvalidArgument,
               "not a Server-Timing value: '" + std::string(value) + "', at " + std::to_string(at)};
}

}  // namespace

void append_server_timing(std::span<const Timing> timings, std::string& out) {
  bool first = true;
  for (const Timing& t : timings) {
    if (!first) out += ", ";
    first = false;
    out += t.name;
    out += ";dur=";
    append_ms(t.duration, out);
  }
}

Status parse_server_timing(std::string_view value, std::vector<Timing>& out) {
  const std::size_t before = out.size();
  Scanner in(value);
  const auto fail = [&] {
    out.resize(before);
    return malformed(value, in.at());
  };
  for (in.skip_blanks(); !in.done(); in.skip_blanks()) {
    if (in.take(',')) continue;  // lists may have empty elements
    const auto name = in.token();
    if (name.empty()) return fail();
    std::optional<Duration> duration;
    while (in.take(';')) {
      const auto key = in.token();
      if (key.empty()) return fail();
      if (!in.take('=')) continue;
      const auto text = in.value();
      if (!text) return fail();
      if (key != "dur" || duration) continue;
      duration = parse_ms(*text);
      if (!duration) return fail();
    }
    if (duration) out.push_back({name, *duration});
    in.skip_blanks();
    if (!in.done() && !in.take(',')) return fail();
  }
  return Unit{};
}

}  // namespace tauto::wire
