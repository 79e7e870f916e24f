// Stands for an ONNX Runtime that is too old: it knows no API as new as ours. Opened by tests only.
namespace {

struct ApiBase {
  const void* (*get_api)(unsigned version) noexcept;
  const char* (*get_version_string)() noexcept;
};

const void* no_api(unsigned) noexcept { return nullptr; }
const char* version() noexcept { return "1.10.0"; }
const ApiBase kBase{no_api, version};

}  // namespace

extern "C" const ApiBase* OrtGetApiBase() noexcept;
extern "C" const ApiBase* OrtGetApiBase() noexcept { return &kBase; }
