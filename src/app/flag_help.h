#pragma once
// What to say about a flag that nobody knows.

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace tauto::app {

/// "--http-port=8" -> "http-port"; a word that is no flag stays as it is.
inline std::string flag_name(std::string_view word) {
  word = word.substr(0, word.find('='));
  while (word.starts_with("-")) word.remove_prefix(1);
  return std::string(word);
}

/// "unknown flag --htp-port; did you mean --http-port?"
inline Error unknown_flag(std::string_view word, const CLI::App& cli) {
  std::vector<std::string> names;
  for (const CLI::Option* option : cli.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back(name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto nearest = nearest_word(flag_name(word), views);
  std::string text = word.starts_with("-") ? "unknown flag " : "unexpected word ";
  text += word.substr(0, word.find('='));
  text += nearest.empty() ? "; see --help" : "; did you mean --" + std::string(nearest) + "?";
  return {Code::kInvalidArgument, text};
}

}  // namespace tauto::app
