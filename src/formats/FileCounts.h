//===- FileCounts.h - what a model's file consists of ---------------------===//

#ifndef SINTER_FORMATS_FILECOUNTS_H
#define SINTER_FORMATS_FILECOUNTS_H

#include <cstdint>
#include <map>
#include <string>

namespace sinter {

/// In the file's own terms, whatever the graph language makes of them.
struct FileCounts {
  /// Operators by name: ONNX's "Conv", or "com.microsoft.FusedMatMul" of
  /// another domain; "stablehlo.add"; Paddle's "conv2d". With those in
  /// branches, loops and functions, each as often as the file has it, but
  /// without the bodies of reductions and the like, which compute single
  /// elements.
  std::map<std::string, int64_t> operators;
  /// The bytes of all constants as the file stores them: a constant with all
  /// elements alike may be one element, two 4-bit elements are a byte.
  int64_t weightBytes = 0;

  /// How many operators there are.
  int64_t total() const {
    int64_t sum = 0;
    for (const auto &[name, count] : operators)
      sum += count;
    return sum;
  }
};

} // namespace sinter

#endif // SINTER_FORMATS_FILECOUNTS_H
