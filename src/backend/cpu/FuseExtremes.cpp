//===- FuseExtremes.cpp - extremes of what convolutions store -------------===//

#include "backend/cpu/FuseExtremes.h"

#include "backend/cpu/codegen/Target.h"
#include "backend/cpu/emit/KernelEmitter.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr llvm::StringLiteral fuseLabel = "fuse-extremes",
                              fusePass = "cpu-fuse-extremes";

/// A reduction of one tensor to its least and its greatest number, or numbers
/// of rows of it.
struct Extremes {
  stablehlo::ReduceOp reduce;
  /// The number of the result that is the least.
  unsigned least;

  /// That of \p op, which may be null; nothing if it is something else.
  static std::optional<Extremes> of(stablehlo::ReduceOp op) {
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
      // All numbers count, and none besides.
      const std::optional<double> initial = splatNumber(op.getInitValues()[i]);
      if (!initial || *initial != (areLeast[i] ? 1 : -1) *
                                      std::numeric_limits<double>::infinity())
        return std::nullopt;
    }
    if (areLeast[0] == areLeast[1])
      return std::nullopt;
    return Extremes{op, areLeast[0] ? 0u : 1u};
  }
};

class ExtremesFuser {
public:
  ExtremesFuser(const Target &target, PatternRun &run)
      : target(target), run(run) {}

  /// Lets \p kernel, if it finds extremes, read those of tasks.
  void fuse(KernelOp kernel) {
    const std::optional<Extremes> rows = ofRows(kernel);
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
    KernelOp both = withExtremes(
        stores, RankedTensorType::get({count * each, lanes}, element));
    readRows(kernel, *rows, both,
             RankedTensorType::get({count, each, lanes}, element));
    for (Operation *reshape : between)
      if (reshape->use_empty())
        reshape->erase();
    run.count(fuseLabel);
  }

private:
  /// What \p kernel finds of rows of each lane, if it does nothing else.
  static std::optional<Extremes> ofRows(KernelOp kernel) {
    if (kernel.getNumResults() != 2 || kernel.getInputs().size() != 1 ||
        kernel.getUpdated())
      return std::nullopt;
    std::optional<Extremes> found =
        Extremes::of(dyn_cast_or_null<stablehlo::ReduceOp>(kernel.rootOp()));
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

  /// Lets \p kernel, which finds \p rows, do so of the rows of \p both, as
  /// \p type; it is gone then.
  static void readRows(KernelOp kernel, const Extremes &rows, KernelOp both,
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

  /// How many tasks of \p kernel could leave the extremes of what they store,
  /// in vectors of \p lanes; 0 if they cannot.
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
    return isOneByOne && plan.stages.empty() && plan.taskParts.empty()
               ? plan.tasks
               : 0;
  }

  /// \p kernel with extremes of \p type besides; it is gone then.
  static KernelOp withExtremes(KernelOp kernel, RankedTensorType type) {
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
    auto extremes = builder.create<ExtremesOp>(kernel.getLoc(), type, type,
                                               yield->getOperand(0));
    yield->insertOperands(1, extremes.getResults());
    kernel.getResult(0).replaceAllUsesWith(both.getResult(0));
    kernel.erase();
    return both;
  }

  const Target &target;
  PatternRun &run;
};

} // namespace

ArrayRef<PatternInfo> cpu::fuseExtremesPatterns() {
  static const PatternInfo infos[] = {
      {fuseLabel,
       "y = cpu.kernel { f(convolution) }, cpu.kernel(y) { reduce<min, max>(y) "
       "} -> cpu.kernel { f(convolution), extremes(f(convolution)) }",
       fusePass}};
  return infos;
}

void cpu::fuseExtremes(func::FuncOp function, const Target &target,
                       PatternRun &run) {
  if (!run.isEnabled(fuseLabel))
    return;
  SmallVector<KernelOp> kernels;
  function.walk([&](KernelOp kernel) {
    if (kernel.getNumResults() == 2)
      kernels.push_back(kernel);
  });
  ExtremesFuser fuser(target, run);
  for (KernelOp kernel : kernels)
    fuser.fuse(kernel);
}
