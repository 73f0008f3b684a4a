// Batch normalisation and its like; softmax.

#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;

namespace sinter::paddle {

/// With running statistics. Those of the batch would need a program for
/// training: they are taken unless use_global_stats, or is_test without
/// trainable_statistics, says otherwise.
static LogicalResult importBatchNorm(OperatorContext &op) {
  Value x = op.operand("X"), mean = op.operand("Mean"),
        variance = op.operand("Variance");
  if (!x || !mean || !variance)
    return failure();
  const bool usesRunning = op.getBool("use_global_stats", false) ||
                           (op.getBool("is_test", false) &&
                            !op.getBool("trainable_statistics", false));
  if (!usesRunning)
    return op.unsupported("it normalises by the statistics of the batch, as in "
                          "training; export the program for inference");
  if (op.rank(x) < 2)
    return op.fail("X is not [N, C, ...]");
  const bool isLast = hasChannelsLast(
      op, op.hasAttribute("data_layout") ? "data_layout" : "data_format");
  const uint64_t feature = isLast ? op.rank(x) - 1 : 1;
  Type given = op.element(x), wide = op.element(mean);
  auto parameter = [&](StringRef slot, double otherwise) {
    return op.has(slot) ? op.cast(op.operand(slot), wide)
                        : op.splat(wide, otherwise, op.shape(mean));
  };
  Value result = op.op<stablehlo::BatchNormInferenceOp>(
      op.cast(x, wide), parameter("Scale", 1), parameter("Bias", 0), mean,
      op.cast(variance, wide),
      APFloat(static_cast<float>(op.getFloat("epsilon", 1e-5f))), feature);
  result = result ? op.cast(result, given) : Value();
  if (result && op.getBool("fuse_with_relu", false))
    result = op.op<nn::ReluOp>(result);
  return op.result("Y", result);
}

OperatorReaders normalizationReaders() {
  static const OperatorReader table[] = {
      {"batch_norm", importBatchNorm},
  };
  return table;
}

} // namespace sinter::paddle
