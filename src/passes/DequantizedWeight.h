//===- DequantizedWeight.h - integers with a scale a channel, as a weight -===//
//
// A weight that a file keeps in integers, and what a factor a channel makes of
// it:
//
//   (q - z) * s  times f       ->   (q - z) * (s * f)            where f > 0
//   (q - z) * s  times -f      ->   ((2 z - q) - z) * (s * f)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_DEQUANTIZEDWEIGHT_H
#define SINTER_PASSES_DEQUANTIZEDWEIGHT_H

#include "mlir/IR/Builders.h"
#include "passes/FoldedNames.h"
#include "runtime/Tensor.h"
#include <optional>

namespace sinter {

struct DequantizedWeight {
  /// multiply(subtract(convert(q), z), s), the subtraction if there is one, s a
  /// vector along one dimension that nothing else reads. Nothing else.
  static std::optional<DequantizedWeight> find(mlir::Value weight);

  /// Whether every factor along dimension \p dimension can be taken up: scales
  /// stay positive and finite, and integers of channels with a negative one fit
  /// their type the other way round.
  bool takesUp(int64_t dimension, llvm::ArrayRef<double> factors) const;
  /// Takes them up: new constants in place of those it reads, called by
  /// \p names. The operations stay. Returns the constants that were read.
  llvm::SmallVector<mlir::Operation *> scale(llvm::ArrayRef<double> factors,
                                             FoldedNames &names) const;

  mlir::OpOperand *integers = nullptr, *scales = nullptr;
  int64_t dimension = -1;
  /// One, or one a channel; empty for none.
  std::vector<int64_t> zeroPoints;

private:
  /// Channel i of the integers the other way round; nothing if one does not
  /// fit.
  std::optional<Tensor> flipped(llvm::ArrayRef<double> factors) const;
};

} // namespace sinter

#endif // SINTER_PASSES_DEQUANTIZEDWEIGHT_H
