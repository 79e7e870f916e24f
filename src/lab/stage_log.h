#pragma once
// The Server-Timing headers of a run as columns. Our eleven stages and `total` have fixed columns;
// names of foreign servers take the remaining ones in the order in which they come.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "journey/stage.h"
#include "lab/sample.h"
#include "wire/server_timing.h"

namespace tauto::lab {

class StageLog {
 public:
  static constexpr std::size_t kTotalColumn = journey::kStageCount;

  StageLog();

  /// Parses one header value. Returns the row's number, or Sample::kNoStages when nothing could be
  /// read: a foreign server's header is no reason to fail a request.
  std::uint32_t add(std::string_view server_timing);

  const BlockLog<StageRow>& rows() const { return rows_; }
  /// Names by column; the first twelve are ours.
  const std::vector<std::string>& names() const { return names_; }
  /// True when names did not fit the columns: some stages of the server are not shown.
  bool overflowed() const { return overflowed_; }

 private:
  /// The column of `name`, or kStageColumnCount when all are taken. `guess` is looked at first:
  /// a server keeps its order.
  std::size_t column_of(std::string_view name, std::size_t guess);

  BlockLog<StageRow> rows_;
  std::vector<std::string> names_;
  std::vector<wire::Timing> timings_;  // of one header; kept for its memory
  bool overflowed_ = false;
};

}  // namespace tauto::lab
