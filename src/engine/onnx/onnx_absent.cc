// Takes the place of the engine in a build without ONNX Runtime's headers.
#include "engine/onnx/onnx_engine.h"

namespace tauto::engine {
namespace {

class AbsentEngine final : public Engine {
 public:
  std::string name() const override { return "onnx"; }
  std::string version() const override { return ""; }
  Result<std::unique_ptr<Model>> load(const LoadOptions&) override {
    return Error{Code::kUnavailable,
                 "this program was built without ONNX Runtime's headers: run `./dev setup`, then "
                 "`./dev build`"};
  }
};

}  // namespace

std::unique_ptr<Engine> make_onnx_engine(OnnxOptions, const TimeSource&) {
  return std::make_unique<AbsentEngine>();
}

}  // namespace tauto::engine
