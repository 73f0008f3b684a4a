//===- LayerProfile.h - layers' times over several runs -------------------===//

#ifndef SINTER_DRIVER_LAYERPROFILE_H
#define SINTER_DRIVER_LAYERPROFILE_H

#include "runtime/Executor.h"

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace sinter::driver {

class LayerProfile {
public:
  /// Adds one run. If control flow differs from the first run, layers that do
  /// not match are skipped.
  void add(std::span<const LayerTime> run);

  /// Operations per run.
  double flops() const;
  /// [{"name", "op", "kernel", "ms", "gflops"}] in the order of execution.
  nlohmann::json json() const;
  /// The layers, each with its least time, which other load disturbs less than
  /// the mean, in the order of execution. Texts are the profile's.
  std::vector<LayerTime> fastest() const;
  /// The same as text, the slowest first, with shares of the total.
  std::string table() const;

private:
  struct Layer {
    std::string name, op, kernel;
    /// Of the first run: operations, bytes and the kernel.
    double flops = 0, bytes = 0;
    ElementType arithmetic = ElementType::F32;
    unsigned threads = 1;
    double seconds = 0; ///< Of all runs.
    double least = std::numeric_limits<double>::infinity();
    unsigned runs = 0;

    double milliseconds() const { return seconds * 1000 / runs; }
    double gflops() const {
      return seconds > 0 ? flops * runs / seconds / 1e9 : 0;
    }
  };
  std::vector<Layer> layers;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_LAYERPROFILE_H
