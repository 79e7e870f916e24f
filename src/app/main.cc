// The program: one subcommand a file.

#include <signal.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "app/bench_command.h"
#include "app/serve_command.h"
#include "base/text.h"
#include "serve/version.h"

namespace {

constexpr std::string_view kHelp =
    "tauto: an inference server that keeps its latency promises, and the laboratory that proves "
    "it\n"
    "\n"
    "  tauto serve   serve models over KServe v2, with Triton's repository and config\n"
    "  tauto bench   load a server and say where each millisecond went\n"
    "  tauto version\n"
    "\n"
    "'tauto COMMAND --help' says more.\n";

}  // namespace

int main(int argc, char** argv) {
  // A client that goes away must not end the server; SIGTERM and SIGINT are taken by the commands.
  signal(SIGPIPE, SIG_IGN);
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "serve") return tauto::app::run_serve(argc - 1, argv + 1);
  if (command == "bench") return tauto::app::run_bench(argc - 1, argv + 1);
  if (command == "version" || command == "--version") {
    std::printf("tauto %s\n", tauto::serve::kVersion.data());
    return 0;
  }
  if (command == "help" || command == "--help" || command == "-h") {
    std::fputs(kHelp.data(), stdout);
    return 0;
  }
  constexpr std::array<std::string_view, 3> kCommands{"serve", "bench", "version"};
  const auto nearest = tauto::nearest_word(command, kCommands);
  if (command.empty()) {
    std::fputs(kHelp.data(), stderr);
  } else if (nearest.empty()) {
    std::fprintf(stderr, "tauto: unknown command %s; see tauto --help\n", argv[1]);
  } else {
    std::fprintf(stderr, "tauto: unknown command %s; did you mean %s?\n", argv[1], nearest.data());
  }
  return 2;
}
