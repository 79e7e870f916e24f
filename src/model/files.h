#pragma once
// Small file reads for configs, labels and warm-up data.

#include <cstddef>
#include <string>

#include "base/result.h"

namespace tauto::model {

/// The whole file. Errors: kNotFound when it cannot be read, kInvalidArgument when it is larger
/// than `bytes_max`; both name the path.
Result<std::string> read_file(const std::string& path, std::size_t bytes_max);

/// Reads a file, or every regular file right inside a directory, through the page cache and throws
/// the bytes away: so disk time is told apart from engine time. Unreadable parts are skipped.
void read_through(const std::string& path);

}  // namespace tauto::model
