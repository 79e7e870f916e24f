#pragma once
// An engine without a model: answers with its inputs or with constants, in a time l(b) that the
// config's `parameters` state. Runs everywhere, needs no file and no network. Also answers to
// backend "echo" of our peers' repositories. The parameters are listed in synthetic_settings.h.

#include <memory>

#include "base/time.h"
#include "engine/engine.h"

namespace tauto::engine {

/// `time` outlives the engine and its models, and goes on by itself: waits are real time.
///
/// Output i is a copy of input i when type and dims fit and no constant is set for it; otherwise a
/// constant (0, or an empty string), and then its dims must be fixed.
std::unique_ptr<Engine> make_synthetic_engine(const TimeSource& time);

}  // namespace tauto::engine
