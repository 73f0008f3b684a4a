//===- ElementalModels.cpp - attaches ElementalOpInterface ----------------===//

#include "backend/cpu/emit/ElementalModels.h"

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/Scans.h"
#include "backend/cpu/ir/TreeOps.h"
#include "graph/nn/NnOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static Kind kindOfBitcast(stablehlo::BitcastConvertOp op) {
  return isAlias(op) ? Kind::Alias : Kind::Movement;
}

/// Windows are known.
static bool hasKnownWindow(stablehlo::ConvolutionOp op) {
  auto kernel = tensorOf(op.getRhs());
  auto numbers = op.getDimensionNumbers();
  return !kernel.isDynamicDim(numbers.getKernelOutputFeatureDimension()) &&
         llvm::none_of(numbers.getKernelSpatialDimensions(),
                       [&](int64_t dim) { return kernel.isDynamicDim(dim); });
}

static Kind kindOfWindow(stablehlo::ReduceWindowOp op) {
  return scanOf(op) ? Kind::Whole : Kind::Window;
}

/// Where padding goes over the operand more than once, or where it has no
/// elements, it is decomposed.
static Kind kindOfPadMode(nn::PadModeOp op) {
  for (auto [i, size] : llvm::enumerate(dimsOf(op.getOperand())))
    if (size < Dim(op.leastSize(i)))
      return Kind::Unknown;
  return Kind::Movement;
}

namespace {

/// Whether elements are as well computed again as loaded.
enum Cost : bool { Cheap = true, Costly = false };

/// Whether the code of an element is right for sizes that are known only when
/// the program runs.
enum Sizes : bool { Open = true, Known = false };

/// The interface by a kind, or a function from the operation to one, likewise
/// whether sizes may be dynamic, and a member of Elemental that writes an
/// element; null where none does.
template <typename Op, auto kindOrFunction, Cost cost, auto element,
          auto sizesOrFunction>
struct Model
    : ElementalOpInterface::ExternalModel<
          Model<Op, kindOrFunction, cost, element, sizesOrFunction>, Op> {
  Kind kind(Operation *op) const {
    if constexpr (std::is_same_v<decltype(kindOrFunction), Kind>)
      return kindOrFunction;
    else
      return kindOrFunction(cast<Op>(op));
  }
  bool isCheap(Operation *) const { return cost == Cheap; }
  bool keepsDynamicSizes(Operation *op) const {
    if constexpr (std::is_same_v<decltype(sizesOrFunction), Sizes>)
      return sizesOrFunction == Open;
    else
      return sizesOrFunction(cast<Op>(op));
  }
  std::optional<SmallVector<Value>>
  elementsAt(Operation *op, Elemental &elemental,
             ArrayRef<Coordinate> place) const {
    if constexpr (std::is_null_pointer_v<decltype(element)>)
      llvm_unreachable("FormKernels computes these elements all at once");
    else
      return (elemental.*element)(cast<Op>(op), place);
  }
};

template <typename Op, auto kindOrFunction, Cost cost = Costly,
          auto element = nullptr, auto sizesOrFunction = Known>
void row(MLIRContext *context) {
  Op::template attachInterface<
      Model<Op, kindOrFunction, cost, element, sizesOrFunction>>(*context);
}

} // namespace

namespace sinter::cpu {

/// Reaches Elemental's rules. A row is all that has to be said of an operation.
struct ElementRules {
  template <Cost cost, typename... Ops>
  static void elementwise(MLIRContext *context) {
    (row<Ops, Kind::Elementwise, cost, &Elemental::elementwiseAt, Open>(
         context),
     ...);
  }

  static void attachElementwise(MLIRContext *c) {
    using namespace stablehlo;
    elementwise<Cheap, AbsOp, AddOp, AndOp, ClampOp, CompareOp, ConvertOp,
                ImagOp, MaxOp, MinOp, MulOp, NegOp, NotOp, OrOp, RealOp,
                SelectOp, ShiftLeftOp, ShiftRightArithmeticOp,
                ShiftRightLogicalOp, SubtractOp, XorOp>(c);
    elementwise<Costly, Atan2Op, CbrtOp, CeilOp, ClzOp, ComplexOp, CosineOp,
                DivOp, ExpOp, Expm1Op, FloorOp, IsFiniteOp, Log1pOp, LogOp,
                LogisticOp, PopcntOp, PowOp, ReducePrecisionOp, RemOp,
                RoundNearestEvenOp, RoundOp, RsqrtOp, SignOp, SineOp, SqrtOp,
                TanOp, TanhOp, nn::AcosOp, nn::AsinOp, nn::AtanOp, nn::ErfOp,
                nn::ErfcOp>(c);
    row<MapOp, Kind::Elementwise, Costly, &Elemental::mapAt, Open>(c);
    row<LookupOp, Kind::Elementwise, Costly, &Elemental::lookupAt, Open>(c);
  }

  static void attachMovement(MLIRContext *c) {
    using namespace stablehlo;
    constexpr Kind moves = Kind::Movement;
    row<BitcastConvertOp, kindOfBitcast, Costly, &Elemental::bitcastAt, Open>(
        c);
    row<BroadcastInDimOp, moves, Cheap, &Elemental::broadcastAt, Open>(c);
    row<ConcatenateOp, moves, Costly, &Elemental::concatenateAt, Open>(c);
    row<DynamicSliceOp, moves, Costly, &Elemental::dynamicSliceAt, Open>(c);
    row<DynamicUpdateSliceOp, moves, Costly, &Elemental::dynamicUpdateAt, Open>(
        c);
    row<GatherOp, moves, Costly, &Elemental::gatherAt, Open>(c);
    row<IotaOp, moves, Cheap, &Elemental::iotaAt, Open>(c);
    row<PadOp, moves, Costly, &Elemental::padAt, Open>(c);
    row<nn::PadModeOp, kindOfPadMode, Costly, &Elemental::padModeAt, Open>(c);
    row<ReshapeOp, Kind::Alias, Cheap, &Elemental::reshapeAt, Open>(c);
    row<ReverseOp, moves, Cheap, &Elemental::reverseAt, Open>(c);
    row<SliceOp, moves, Cheap, &Elemental::sliceAt, Open>(c);
    row<TransposeOp, moves, Cheap, &Elemental::transposeAt, Open>(c);
    row<ConstantOp, Kind::Constant, Costly, &Elemental::constantAt, Open>(c);
    row<ComputedConstantOp, Kind::Constant>(c);
  }

  static void attachSums(MLIRContext *c) {
    using namespace stablehlo;
    row<ReduceOp, Kind::Reduction, Costly, &Elemental::reduceAt, Open>(c);
    row<ReduceWindowOp, kindOfWindow, Costly, &Elemental::reduceWindowAt, Open>(
        c);
    row<DotGeneralOp, Kind::Product, Costly, &Elemental::dotAt, Open>(c);
    row<stablehlo::ConvolutionOp, Kind::Product, Costly,
        &Elemental::convolutionAt, hasKnownWindow>(c);
    row<cpu::ConvolutionOp, Kind::Product>(c);
    row<Int8ProductOp, Kind::Product>(c);
    row<ZeroPointProductOp, Kind::Product>(c);
    row<LowBitProductOp, Kind::Product>(c);
    row<PoolOp, Kind::Product>(c);
    row<WeightGradientOp, Kind::Product>(c);
    row<DepthwiseGradientOp, Kind::Product>(c);
    row<cpu::AttentionOp, Kind::Product>(c);
    row<cpu::TreeEnsembleOp, Kind::Product>(c);
  }

  static void attachWhole(MLIRContext *c) {
    using namespace stablehlo;
    row<ScatterOp, Kind::Whole, Costly, nullptr, Open>(c);
    row<SelectAndScatterOp, Kind::Whole, Costly, nullptr, Open>(c);
    row<SortOp, Kind::Whole, Costly, nullptr, Open>(c);
    row<CaseOp, Kind::Control>(c);
    row<IfOp, Kind::Control>(c);
    row<WhileOp, Kind::Control>(c);
    row<HostCallOp, Kind::Call>(c);
    row<DefineSizesOp, Kind::Call>(c);
  }
};

} // namespace sinter::cpu

void cpu::attachElementals(MLIRContext *context) {
  ElementRules::attachElementwise(context);
  ElementRules::attachMovement(context);
  ElementRules::attachSums(context);
  ElementRules::attachWhole(context);
}
