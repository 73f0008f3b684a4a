//===- CommonOptions.h - options that several sub-commands share ----------===//

#ifndef SINTER_DRIVER_COMMONOPTIONS_H
#define SINTER_DRIVER_COMMONOPTIONS_H

#include "driver/Text.h"
#include "interface/CommonOptions.h"
#include "runtime/CompileStage.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sinter::driver {

/// Those, and what is reported.
struct CommonOptions : sinter::CommonOptions {
  CommonOptions() { note = printNote; }

  bool json = false;
  bool verbose = false;
  std::string traceFile;
  /// The stages of reading and compiling, for --trace.
  std::shared_ptr<std::vector<CompileStage>> stages =
      std::make_shared<std::vector<CompileStage>>();
};

/// --json, -v
void addReport(CLI::App &app, CommonOptions &options);
/// --trace
void addTrace(CLI::App &app, CommonOptions &options);

/// With -v, prints the candidate kernels of each matmul and convolution.
std::function<void(const std::string &)>
choicePrinter(const CommonOptions &options);
/// With -v, prints the time of each stage of compiling; stores the stages for
/// --trace.
CompileObserver stageObserver(const CommonOptions &options);
Result<SessionOptions> sessionOptions(const CommonOptions &options);
/// \p error, of a model that is not valid; a Usage error if the file itself is
/// valid and leaves sizes, or values that decide on sizes, to be given: then
/// those that were given do not fit.
Error blamed(Error error, const CommonOptions &options);

} // namespace sinter::driver

#endif // SINTER_DRIVER_COMMONOPTIONS_H
