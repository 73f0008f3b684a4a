#include "engine/compiler/MlirCompiler.h"
namespace sinter {
Result<OptimizeReport> MlirCompiler::optimize(const OptimizeRequest &request) {
  return unsupported(request.input +
                     ": simplification is not part of this build");
}
std::vector<std::pair<std::string, std::string>> MlirCompiler::patterns() {
  return {};
}
Result<std::shared_ptr<const Program>>
MlirCompilerModel::compile(const CompileRequest &request) {
  return unsupported(
      "the cpu backend is not part of this build; use --backend interpreter");
}
} // namespace sinter
