#include "backend/cpu/ir/RescaleModels.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/interfaces/Rescale.h"

using namespace mlir;

namespace sinter::cpu {
namespace {

using Ways = SmallVector<RescaleWay>;

/// Elements move; what stands in lanes beyond the channels is read by nobody.
template <typename Op>
struct MoveModel : RescaleOpInterface::ExternalModel<MoveModel<Op>, Op> {
  Ways getRescaleWays(Operation *) const { return {{{0}, RescaleRanges::Any}}; }
  bool absorbsRescaleOfOperand(Operation *, unsigned) const { return false; }
  bool absorbsRescaleOfResult(Operation *) const { return false; }
  static RescaleSummary summarizeRescales() {
    return {"the first", "any", false, false};
  }
};

struct PoolModel : RescaleOpInterface::ExternalModel<PoolModel, PoolOp> {
  Ways getRescaleWays(Operation *op) const {
    const bool isMaximum = cast<PoolOp>(op).getKind() == "max";
    return {{{0}, isMaximum ? RescaleRanges::Any : RescaleRanges::CutsNothing}};
  }
  bool absorbsRescaleOfOperand(Operation *, unsigned) const { return true; }
  bool absorbsRescaleOfResult(Operation *) const { return true; }
  static RescaleSummary summarizeRescales() {
    return {"the first",
            "any; of a mean: nothing is cut, rounding differs by one", true,
            true};
  }
};

} // namespace

void attachRescales(MLIRContext *context) {
  PackOp::attachInterface<MoveModel<PackOp>>(*context);
  UnpackOp::attachInterface<MoveModel<UnpackOp>>(*context);
  PoolOp::attachInterface<PoolModel>(*context);
}

} // namespace sinter::cpu
