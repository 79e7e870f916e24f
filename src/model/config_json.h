#pragma once
// The normalised config as GET /v2/models/M/config prints it: proto field names, defaults printed,
// 64-bit integers as numbers, map keys as strings in order, members in Triton's order.

#include <string>

#include "model/config_document.h"

namespace tauto::model {

std::string config_json(const ConfigDocument& document);

}  // namespace tauto::model
