//===- TrainCommandOptions.h - the options of sinter train ----------------===//

#ifndef SINTER_DRIVER_TRAINCOMMANDOPTIONS_H
#define SINTER_DRIVER_TRAINCOMMANDOPTIONS_H

#include "driver/CommonOptions.h"
#include "train/TrainOptions.h"

namespace CLI {
class App;
}

namespace sinter::driver {

struct TrainCommandOptions : TrainOptions {
  CommonOptions common;
  std::string output, logFile, curveFile, stepFile;
  /// Whether the written step has states.
  bool writesStates = false;
  OverwriteOptions overwrite;

  void addTo(CLI::App &app);
  /// A Usage error if options contradict each other, or a number is out of
  /// range.
  Result<void> check() const;

private:
  void addData(CLI::App &app);
  void addAugmentation(CLI::App &app);
  void addOptimization(CLI::App &app);
  void addCheckpoints(CLI::App &app);
  void addFiles(CLI::App &app);
  void addProcesses(CLI::App &app);
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_TRAINCOMMANDOPTIONS_H
