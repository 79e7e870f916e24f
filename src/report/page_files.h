#pragma once
#include <string_view>

namespace tauto::report {

/// The files of src/report/page, built into the program.
std::string_view bench_style();
std::string_view bench_script();

}  // namespace tauto::report
