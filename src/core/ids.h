#pragma once
#include <cstdint>

#include "base/strong.h"

namespace tauto {

using RequestId = Strong<struct RequestIdTag>;                   // unique while the process lives
using BatchId = Strong<struct BatchIdTag>;                       // given by the scheduler, from 1
using ModelId = Strong<struct ModelIdTag, std::uint32_t>;        // one loaded version of a model
using InstanceId = Strong<struct InstanceIdTag, std::uint32_t>;  // unique within a device group
using CompatKey = Strong<struct CompatKeyTag>;                   // equal keys may share a batch

}  // namespace tauto
