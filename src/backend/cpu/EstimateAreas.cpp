//===- EstimateAreas.cpp - how large images of unknown sizes may be -------===//

#include "backend/cpu/EstimateAreas.h"

#include "backend/cpu/SizeTable.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/NamedSizes.h"

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
  OpenProgram open;
  open.parameters = table.parameters;
  open.following = table.following;
  std::vector<int64_t> parameters(table.parameters.size(), estimatedDimension);
  for (const FollowingSize &each : table.following)
    parameters[each.parameter] = unknownParameter;
  // What follows from one that is too large stays unknown, too.
  (void)setFollowing(open, parameters);
  return parameters;
}

void cpu::estimateAreas(func::FuncOp function) {
  const std::optional<SizeTable> table =
      SizeTable::of(function->getParentOfType<ModuleOp>());
  if (!table)
    return;
  const std::vector<int64_t> parameters = estimatedParameters(*table);
  auto estimated = [&](int64_t size) {
    return std::min(
        knownSize(table->expressionOf(size), parameters).value_or(0),
        mostEstimated);
  };
  function.walk([&](ConvolutionOp op) {
    const ArrayRef<int64_t> sizes = shapeOf(op.getResult());
    if (!isNamed(sizes[2]) && !isNamed(sizes[3]))
      return;
    const int64_t height = estimated(sizes[2]), width = estimated(sizes[3]);
    if (height > 0 && width > 0)
      op.setEstimatedArea(ArrayRef<int64_t>{height, width});
  });
}
