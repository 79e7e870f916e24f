#include "model/files.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

namespace tauto::model {

namespace fs = std::filesystem;

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) {
    return Error{Code::kNotFound, path + ": no such file"};
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{Code::kNotFound, path + ": cannot be opened"};
  std::string out;
  std::array<char, 16384> part;
  while (in.read(part.data(), part.size()) || in.gcount() > 0) {
    out.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (out.size() > bytes_max) {
      return Error{Code::kInvalidArgument,
                   path + ": larger than " + std::to_string(bytes_max) + " bytes"};
    }
  }
  if (in.bad()) return Error{Code::kNotFound, path + ": cannot be read"};
  return out;
}

void read_through(const std::string& path) {
  std::error_code ec;
  if (fs::is_directory(path, ec)) {
    for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec)) {
      std::error_code inner;
      if (it->is_regular_file(inner)) read_through(it->path().string());
    }
    return;
  }
  constexpr std::size_t part_bytes = std::size_t{1} << 20;
  const auto part = std::make_unique<char[]>(part_bytes);
  std::ifstream in(path, std::ios::binary);
  while (in.read(part.get(), part_bytes) || in.gcount() > 0) {
  }
}

}  // namespace tauto::model
