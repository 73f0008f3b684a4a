//===- AssumeSpatialSizes.cpp - how large images of unknown sizes may be
//---===//

#include "backend/cpu/shapes/AssumeSpatialSizes.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/shapes/SizeTable.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Larger images take as long a pixel; what is counted of them does not
/// overflow.
static constexpr int64_t mostEstimated = 4096;

/// The parameters of \p table if all that follow from no others are
/// estimatedDimension; those that are too large then are unknown.
static std::vector<int64_t> estimatedParameters(const SizeTable &table) {
  DynamicProgram dynamic;
  dynamic.parameters = table.parameters;
  dynamic.following = table.following;
  std::vector<int64_t> parameters(table.parameters.size(), estimatedDimension);
  for (const FollowingSize &each : table.following)
    parameters[each.parameter] = unknownParameter;
  // What follows from one that is too large stays unknown, too.
  (void)setFollowing(dynamic, parameters);
  return parameters;
}

void cpu::assumeSpatialSizes(func::FuncOp function) {
  const std::optional<SizeTable> table =
      SizeTable::of(function->getParentOfType<ModuleOp>());
  if (!table)
    return;
  const std::vector<int64_t> parameters = estimatedParameters(*table);
  auto estimated = [&](Dim size) {
    return std::min(
        knownSize(table->expressionOf(size), parameters).value_or(0),
        mostEstimated);
  };
  function.walk([&](ConvolutionOp op) {
    const ArrayRef<Dim> sizes = dimsOf(op.getResult());
    if (!sizes[2].isNamed() && !sizes[3].isNamed())
      return;
    const int64_t height = estimated(sizes[2]), width = estimated(sizes[3]);
    if (height > 0 && width > 0)
      op.setEstimatedArea(ArrayRef<int64_t>{height, width});
  });
}
