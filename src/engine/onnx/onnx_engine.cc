#include "engine/onnx/onnx_engine.h"

#include <filesystem>

#include "base/mutex.h"
#include "engine/onnx/onnx_session.h"

namespace tauto::engine {
namespace onnx {
namespace {

namespace fs = std::filesystem;

/// A model path may be a folder that holds model.onnx and its external data.
Result<std::string> file_of(const std::string& path) {
  std::error_code error;
  const fs::path file =
      fs::is_directory(path, error) ? fs::path(path) / "model.onnx" : fs::path(path);
  if (!fs::is_regular_file(file, error)) {
    return Error{Code::kNotFound, "no model file " + file.string()};
  }
  return file.string();
}

/// Weights as they lie on disk: the file, or all files of the folder.
std::uint64_t bytes_on_disk(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto bytes = fs::file_size(path, error);
    return error ? 0 : bytes;
  }
  std::uint64_t sum = 0;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const auto bytes = entry.is_regular_file(error) ? entry.file_size(error) : 0;
    if (!error) sum += bytes;
  }
  return sum;
}

class OnnxModel final : public Model {
 public:
  OnnxModel(std::shared_ptr<const Session> session, std::uint64_t bytes, const TimeSource& time)
      : session_(std::move(session)), bytes_(bytes), time_(time) {}

  const ModelDescription& description() const override { return session_->description; }
  Result<std::unique_ptr<Instance>> make_instance(const Signature& signature) override {
    TAUTO_RETURN_IF_ERROR(check_signature(*session_, signature));
    return make_onnx_instance(session_, signature, time_);
  }
  /// The weights' size on disk: ONNX Runtime does not report its arenas through its C API of 1.21.
  std::uint64_t memory_bytes() const override { return bytes_; }

 private:
  const std::shared_ptr<const Session> session_;
  const std::uint64_t bytes_;
  const TimeSource& time_;
};

class OnnxEngine final : public Engine {
 public:
  OnnxEngine(OnnxOptions options, const TimeSource& time)
      : options_(std::move(options)), time_(time) {}

  std::string name() const override { return "onnx"; }

  std::string version() const override {
    const auto library = open();
    return library.ok() ? library.value()->version : "";
  }

  Result<std::unique_ptr<Model>> load(const LoadOptions& options) override {
    TAUTO_ASSIGN_OR_RETURN(auto parameters, parse_parameters(options.parameters));
    TAUTO_ASSIGN_OR_RETURN(const auto file, file_of(options.model_path));
    TAUTO_ASSIGN_OR_RETURN(const auto library, open());
    TAUTO_ASSIGN_OR_RETURN(const auto session_options,
                           make_session_options(*library, options, parameters));
    const OrtApi& api = library->api;
    auto made = make<OrtSession>(api, api.ReleaseSession, api.CreateSession, library->env.get(),
                                 file.c_str(), session_options.get());
    if (!made.ok()) {
      return Error{made.error().code, "ONNX Runtime " + library->version + " cannot load " + file +
                                          ": " + made.error().message};
    }
    auto session = std::make_shared<Session>(
        Session{library, std::move(made).value(), std::move(parameters), {}, {}});
    TAUTO_RETURN_IF_ERROR(describe(*session, options.declared));
    return std::unique_ptr<Model>(
        std::make_unique<OnnxModel>(std::move(session), bytes_on_disk(options.model_path), time_));
  }

 private:
  /// Opened once; a failure is tried again, since the library may have been installed meanwhile.
  Result<std::shared_ptr<const Library>> open() const {
    const MutexLock lock(mutex_);
    if (library_ == nullptr) {
      TAUTO_ASSIGN_OR_RETURN(library_, open_library(options_));
    }
    return library_;
  }

  const OnnxOptions options_;
  const TimeSource& time_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const Library> library_ TAUTO_GUARDED_BY(mutex_);
};

}  // namespace
}  // namespace onnx

std::unique_ptr<Engine> make_onnx_engine(OnnxOptions options, const TimeSource& time) {
  return std::make_unique<onnx::OnnxEngine>(std::move(options), time);
}

}  // namespace tauto::engine
