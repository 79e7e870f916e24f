#pragma once
// A run as one HTML page that needs nothing else: style, script and data are inside. Pure. Words
// and tables are the terminal's, made by the same functions; the plots are drawn by the page's
// script.

#include <string>

#include "report/bench_result.h"

namespace tauto::report {

std::string bench_html(const BenchResult& result);

}  // namespace tauto::report
