//===- VerifyNumerics.h - two graphs, the same inputs, the oracle ---------===//

#ifndef SINTER_PASSES_VERIFYNUMERICS_H
#define SINTER_PASSES_VERIFYNUMERICS_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include <string>
#include <vector>

namespace sinter {

/// What the entry function of a module computes of random inputs.
struct Observation {
  std::vector<std::string> names;
  std::vector<Tensor> outputs;
};

/// Interprets `main` on inputs that depend on their positions and types only;
/// unknown dimensions are \p unknownDimension.
Result<Observation> observe(mlir::ModuleOp module, int64_t unknownDimension);

/// "" if all elements of \p after lie within \p tolerance times the largest
/// magnitude before; else the first output that does not, and where.
std::string difference(const Observation &before, const Observation &after,
                       double tolerance);

} // namespace sinter

#endif // SINTER_PASSES_VERIFYNUMERICS_H
