//===- AheadOfTime.h - from a model to the files of a bundle --------------===//
//
// `sinter compile`, for the command and the C interface.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERFACE_AHEADOFTIME_H
#define SINTER_INTERFACE_AHEADOFTIME_H

#include "interface/CommonOptions.h"
#include "runtime/Bundle.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace sinter {

/// What is asked besides the model and its code (CommonOptions).
struct AheadOptions {
  /// A file or, without an extension, a folder.
  std::string output;
  /// Empty: that of the file or, for a folder, of the model.
  std::string name;
  std::string weights = "code", triple;
  /// "b8:batch=8": entry points; none: one.
  std::vector<std::string> entries;
  /// "N=64": the largest sizes.
  std::vector<std::string> most;
  /// "2" or "s".
  std::string goal = "2";
  /// Of the caches; 0: as is known.
  int64_t l1Bytes = 0, l2Bytes = 0;
  bool force = false, isParallel = false, hasDebugInfo = false;
  bool emitsLlvm = false, savesTemporaries = false, mayCallRuntime = false;
};

/// --name, --weights, --target, -O, --l1, --l2, --entry, --max, --parallel,
/// --with-runtime, --debug-info, --emit-llvm, --save-temps, --force
void addAhead(CLI::App &app, AheadOptions &options);

struct WrittenBundle {
  Bundle bundle;
  /// Its files, code first.
  std::vector<std::string> paths;
};

/// Compiles the model of \p common, and writes the files: all or none.
/// \p request has the callbacks for progress; the rest of it is set here.
/// Errors name the output \p flag.
Result<WrittenBundle> compileAhead(const CommonOptions &common,
                                   AheadOptions options, BundleRequest request,
                                   const char *flag);

/// The report of \p written, made from \p model.
nlohmann::json asJson(const WrittenBundle &written, const std::string &model);

} // namespace sinter

#endif // SINTER_INTERFACE_AHEADOFTIME_H
