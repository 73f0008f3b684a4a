//===- FuseMinMax.cpp - fuse min and max into convolutions ----------------===//

#include "backend/cpu/quantized/FuseMinMax.h"

#include "backend/cpu/emit/KernelEmitter.h"
#include "backend/cpu/target/Target.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr llvm::StringLiteral fuseLabel = "fuse-min-max",
                              fusePass = "cpu-fuse-min-max";

/// A reduction of one tensor, or of its rows, to minimum and maximum.
struct MinMax {
  stablehlo::ReduceOp reduce;
  /// The index of the result that is the minimum.
  unsigned least;

  /// Matches \p op, which may be null; nothing for any other reduction.
  static std::optional<MinMax> of(stablehlo::ReduceOp op) {
    if (!op || op.getInputs().size() != 2)
      return std::nullopt;
    Block &body = op.getBody().front();
    std::array<bool, 2> areLeast;
    for (unsigned i : {0u, 1u}) {
      Operation *combine = body.getTerminator()->getOperand(i).getDefiningOp();
      if (!isa_and_nonnull<stablehlo::MaxOp, stablehlo::MinOp>(combine) ||
          !llvm::is_contained(combine->getOperands(), body.getArgument(i)) ||
          !llvm::is_contained(combine->getOperands(), body.getArgument(i + 2)))
        return std::nullopt;
      areLeast[i] = isa<stablehlo::MinOp>(combine);
      // Initial values must be neutral.
      const std::optional<double> initial = splatNumber(op.getInitValues()[i]);
      if (!initial || *initial != (areLeast[i] ? 1 : -1) *
                                      std::numeric_limits<double>::infinity())
        return std::nullopt;
    }
    if (areLeast[0] == areLeast[1])
      return std::nullopt;
    return MinMax{op, areLeast[0] ? 0u : 1u};
  }
};

class MinMaxFuser {
public:
  MinMaxFuser(const Target &target, PatternRun &run)
      : target(target), run(run) {}

  /// Makes \p kernel, if it reduces to min and max, read the per-task min and
  /// max of the convolution.
  void fuse(KernelOp kernel) {
    const std::optional<MinMax> rows = ofRows(kernel);
    if (!rows)
      return;
    SmallVector<Operation *> between;
    Value numbers = kernel.getInputs()[0];
    while (auto reshape = numbers.getDefiningOp<stablehlo::ReshapeOp>()) {
      between.push_back(reshape);
      numbers = reshape.getOperand();
    }
    auto stores = numbers.getDefiningOp<KernelOp>();
    auto found = tensorOf(kernel.getResult(0));
    const int64_t count = found.getDimSize(0), lanes = found.getDimSize(1);
    const int64_t tasks = stores ? tasksOf(stores, lanes) : 0;
    if (tasks == 0)
      return;
    const auto each = static_cast<int64_t>(llvm::divideCeil(tasks, count));
    const Type element = found.getElementType();
    KernelOp both = withMinMax(
        stores, RankedTensorType::get({count * each, lanes}, element));
    readRows(kernel, *rows, both,
             RankedTensorType::get({count, each, lanes}, element));
    for (Operation *reshape : between)
      if (reshape->use_empty())
        reshape->erase();
    run.count(fuseLabel);
  }

private:
  /// Matches a kernel that only reduces rows to min and max per lane.
  static std::optional<MinMax> ofRows(KernelOp kernel) {
    if (kernel.getNumResults() != 2 || kernel.getInputs().size() != 1 ||
        kernel.getUpdated())
      return std::nullopt;
    std::optional<MinMax> found =
        MinMax::of(dyn_cast_or_null<stablehlo::ReduceOp>(kernel.rootOp()));
    if (!found)
      return std::nullopt;
    stablehlo::ReduceOp reduce = found->reduce;
    Value all = kernel.getBody().getArgument(0);
    auto type = tensorOf(all);
    const bool areRows =
        type.getRank() == 3 && reduce.getDimensions() == ArrayRef<int64_t>{1} &&
        kernel.getResult(0).getType() == reduce.getResults()[0].getType();
    const bool isPlain =
        llvm::all_of(reduce.getInputs(),
                     [&](Value input) { return input == all; }) &&
        llvm::equal(reduce.getResults(),
                    kernel.getBody().front().getTerminator()->getOperands());
    if (!isPlain || !areRows || !type.hasStaticShape() ||
        hasNamedSizes(Type(type)) || !type.getElementType().isF32())
      return std::nullopt;
    return found;
  }

  /// Replaces \p kernel, which reduces \p rows, by one on the results of
  /// \p both, reshaped to \p type.
  static void readRows(KernelOp kernel, const MinMax &rows, KernelOp both,
                       RankedTensorType type) {
    OpBuilder builder(kernel);
    SmallVector<Value> inputs;
    for (unsigned i : {0u, 1u})
      inputs.push_back(builder.create<stablehlo::ReshapeOp>(
          kernel.getLoc(), type, both.getResult(i == rows.least ? 1 : 2)));
    auto reads = builder.create<KernelOp>(kernel.getLoc(),
                                          kernel.getResultTypes(), inputs);
    reads->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    reads.setRowsAttr(kernel.getRowsAttr());
    reads.getBody().takeBody(kernel.getBody());
    Block &body = reads.getBody().front();
    body.getArgument(0).setType(type);
    Value second = body.addArgument(type, kernel.getLoc());
    stablehlo::ReduceOp reduce = rows.reduce;
    reduce.getInputsMutable().slice(1, 1).assign(second);
    kernel.replaceAllUsesWith(reads.getResults());
    kernel.erase();
  }

  /// The task count of \p kernel, if each task can also store min and max of
  /// its results, in vectors of \p lanes; else 0.
  int64_t tasksOf(KernelOp kernel, int64_t lanes) const {
    Block &body = kernel.getBody().front();
    const auto convolutions = body.getOps<cpu::ConvolutionOp>();
    if (kernel.getNumResults() != 1 || kernel.getUpdated() ||
        !llvm::hasSingleElement(convolutions))
      return 0;
    cpu::ConvolutionOp convolution = *convolutions.begin();
    auto stored = tensorOf(body.getTerminator()->getOperand(0));
    if (!stored.hasStaticShape() || hasNamedSizes(Type(stored)) ||
        !stored.getElementType().isF32() || stored.getRank() != 5 ||
        stored.getDimSize(4) != lanes ||
        stored.getDimSize(1) * lanes != convolution.kernelShape()[0])
      return 0;
    const KernelPlan plan = planKernel(kernel, target);
    const bool isOneByOne = plan.name == "direct" || plan.name == "depthwise";
    const auto *loop = std::get_if<TaskLoop>(&plan.work);
    return isOneByOne && loop ? loop->tasks : 0;
  }

  /// Replaces \p kernel by one that also returns min and max of type \p type.
  static KernelOp withMinMax(KernelOp kernel, RankedTensorType type) {
    OpBuilder builder(kernel);
    auto both = builder.create<KernelOp>(
        kernel.getLoc(), TypeRange{kernel.getResult(0).getType(), type, type},
        kernel.getInputs());
    both->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    both.setConstantInputsAttr(kernel.getConstantInputsAttr());
    both.setRowsAttr(kernel.getRowsAttr());
    both.getBody().takeBody(kernel.getBody());
    Operation *yield = both.getBody().front().getTerminator();
    builder.setInsertionPoint(yield);
    auto minMax = builder.create<MinMaxOp>(kernel.getLoc(), type, type,
                                           yield->getOperand(0));
    yield->insertOperands(1, minMax.getResults());
    kernel.getResult(0).replaceAllUsesWith(both.getResult(0));
    kernel.erase();
    return both;
  }

  const Target &target;
  PatternRun &run;
};

} // namespace

ArrayRef<PatternInfo> cpu::fuseMinMaxPatterns() {
  static const PatternInfo infos[] = {
      {fuseLabel,
       "y = cpu.kernel { f(convolution) }, cpu.kernel(y) { reduce<min, max>(y) "
       "} -> cpu.kernel { f(convolution), min_max(f(convolution)) }",
       fusePass}};
  return infos;
}

void cpu::fuseMinMax(func::FuncOp function, const Target &target,
                     PatternRun &run) {
  if (!run.isEnabled(fuseLabel))
    return;
  SmallVector<KernelOp> kernels;
  function.walk([&](KernelOp kernel) {
    if (kernel.getNumResults() == 2)
      kernels.push_back(kernel);
  });
  MinMaxFuser fuser(target, run);
  for (KernelOp kernel : kernels)
    fuser.fuse(kernel);
}
