//===- Passes.cpp - the CPU backend's rewrites in their order -------------===//

#include "backend/cpu/pipeline/Passes.h"
#include "backend/cpu/precision/BFloat16Roundings.h"
#include "backend/cpu/quantized/AlignZeroPoints.h"

#include "backend/cpu/fusion/FormKernels.h"
#include "backend/cpu/fusion/GroupLoops.h"
#include "backend/cpu/fusion/KeepSplitOperands.h"
#include "backend/cpu/fusion/ShareKernels.h"
#include "backend/cpu/fusion/UpdateInPlace.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/DeadCode.h"
#include "backend/cpu/kernels/common/Arithmetic.h"
#include "backend/cpu/layout/AbsorbTransposes.h"
#include "backend/cpu/layout/AssignLayouts.h"
#include "backend/cpu/layout/BFloat16Products.h"
#include "backend/cpu/layout/FormAttention.h"
#include "backend/cpu/layout/FormTrees.h"
#include "backend/cpu/layout/SimplifyConvolutions.h"
#include "backend/cpu/layout/SimplifyProducts.h"
#include "backend/cpu/legalize/CheckCalls.h"
#include "backend/cpu/legalize/CheckProgram.h"
#include "backend/cpu/legalize/Decompose.h"
#include "backend/cpu/legalize/ExpandRegions.h"
#include "backend/cpu/legalize/Flatten.h"
#include "backend/cpu/legalize/HostCalls.h"
#include "backend/cpu/legalize/LowerBatchNorms.h"
#include "backend/cpu/legalize/LowerStrings.h"
#include "backend/cpu/legalize/MarkFronts.h"
#include "backend/cpu/legalize/SplitConcatenates.h"
#include "backend/cpu/precision/CarryBiases.h"
#include "backend/cpu/precision/MarkAmplified.h"
#include "backend/cpu/precision/SetPrecisions.h"
#include "backend/cpu/precision/WidenOnce.h"
#include "backend/cpu/quantized/FuseMinMax.h"
#include "backend/cpu/quantized/Int8Products.h"
#include "backend/cpu/quantized/PairMinMax.h"
#include "backend/cpu/quantized/StoreInt8.h"
#include "backend/cpu/quantized/TabulateInt8.h"
#include "backend/cpu/quantized/WidenInt8.h"
#include "backend/cpu/shapes/AssumeSpatialSizes.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "backend/cpu/shapes/NestPrograms.h"
#include "backend/cpu/shapes/OutlineDynamic.h"
#include "backend/cpu/shapes/SizedCalls.h"
#include "backend/cpu/weights/ComputeWeights.h"
#include "backend/cpu/weights/HalfWeights.h"
#include "backend/cpu/weights/LowBitProducts.h"
#include "backend/cpu/weights/LowBitTables.h"
#include "backend/cpu/weights/PackWeights.h"
#include "backend/cpu/weights/ScaledWeights.h"
#include "graph/chlo/KnownCalls.h"
#include "graph/nn/NnOps.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/LowerQuantized.h"
#include "passes/MoveRescales.h"
#include "passes/Pass.h"

#include <mutex>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// What a pass is given.
struct Subject {
  func::FuncOp function;
  const PassSetting &setting;
  PatternRun &run;
};

/// Whether a pass is right where sizes are known only when the program runs, or
/// is there for such graphs only.
enum class Sizes { Known, Open, OnlyComputed };

/// A pass: adding one costs this row.
struct Row {
  llvm::StringLiteral name, description;
  Result<void> (*rewrite)(const Subject &);
  Sizes sizes = Sizes::Known;
  /// Its patterns (PatternLabels.h), if it has any.
  ArrayRef<PatternInfo> (*patterns)() = nullptr;
};

func::FuncOp argument(const Subject &s, std::type_identity<func::FuncOp>) {
  return s.function;
}
Operation *argument(const Subject &s, std::type_identity<Operation *>) {
  return s.function;
}
const PassSetting &argument(const Subject &s,
                            std::type_identity<const PassSetting &>) {
  return s.setting;
}
const Target &argument(const Subject &s, std::type_identity<const Target &>) {
  return s.setting.target;
}
PatternRun &argument(const Subject &s, std::type_identity<PatternRun &>) {
  return s.run;
}

/// Calls a function with what it asks for of a subject.
template <typename Answer, typename... Asked>
Result<void> call(Answer (*function)(Asked...), const Subject &s) {
  if constexpr (std::is_void_v<Answer>) {
    function(argument(s, std::type_identity<Asked>())...);
    return {};
  } else {
    return function(argument(s, std::type_identity<Asked>())...);
  }
}
template <auto... lists> ArrayRef<PatternInfo> patternsOf() {
  static const std::vector<PatternInfo> all = [] {
    std::vector<PatternInfo> all;
    (llvm::append_range(all, lists()), ...);
    return all;
  }();
  return all;
}

template <auto function> Result<void> pass(const Subject &s) {
  return call(function, s);
}

template <bool keepsSampling> Result<void> decomposed(const Subject &s) {
  return decompose(s.function, keepsSampling, s.setting, s.run);
}

Result<void> quantizedLowered(const Subject &s) {
  const bool wantsUnsigned =
      Arithmetic::bestInt8(s.setting.target) == ElementType::UI8;
  storeInt8(s.function,
            IntegerType::get(func::FuncOp(s.function).getContext(), 8,
                             wantsUnsigned ? IntegerType::Unsigned
                                           : IntegerType::Signless));
  return lowerQuantized(s.function);
}

Result<void> programsNested(const Subject &s) {
  if (s.setting.nesting && s.setting.unknown != PassSetting::UnknownSizes::None)
    nestPrograms(s.function, *s.setting.nesting);
  return {};
}

Result<void> precisionSet(const Subject &s) {
  setPrecisions(s.function, s.setting.precision);
  if (!s.setting.target.convertsBF16)
    markRoundings(s.function);
  if (s.setting.target.hasMatrixUnits) {
    setOperandTypes(s.function);
    markAmplified(s.function);
  }
  return {};
}

Result<void> kernelsComputed(const Subject &s) {
  computeKernels(s.function, Int8Convolution::readsBytes, s.run);
  return {};
}

Result<void> operandsComputed(const Subject &s) {
  computeOperands(s.function, defaultConstantByteLimit, s.run);
  return {};
}

/// Loops that stand for regions may nest deeper than those of the model.
Result<void> regionsExpanded(const Subject &s) {
  expandRegions(s.function);
  return checkNesting(s.function);
}

/// Where constants fold: weights must be constants, however they were brought
/// into their form, and decompositions leave tables to be computed once.
constexpr llvm::StringLiteral foldConstantsHere = "fold-constants";

/// Where rescales move once more: what the passes before have taken away stood
/// between them.
constexpr llvm::StringLiteral moveRescalesHere = "move-rescales";

/// In the order in which they run.
constexpr Row rows[] = {
    {"cpu-lower-strings",
     "Replace strings by handles, and what reads texts by "
     "runtime calls",
     pass<lowerStrings>, Sizes::Open},
    {"cpu-raise-known-calls", "Replace known custom calls by operations",
     pass<raiseKnownCalls>, Sizes::Open},
    {"cpu-lower-checks", "Lower `check.expect_*` and prints to runtime calls",
     pass<lowerChecks>, Sizes::Open},
    {"cpu-lower-host-calls",
     "Lower to runtime calls what the runtime's functions compute",
     pass<lowerToHostCalls>, Sizes::Open},
    {"cpu-flatten", "Remove tuples, tokens, futures and barriers",
     pass<flatten>, Sizes::Open},
    {"cpu-outline-sized-calls",
     "Outline operations with data-dependent result shapes: one counts, a call "
     "fills",
     pass<outlineSizedCalls>, Sizes::Open},
    {"cpu-nest-programs",
     "Make programs of loops and branches in which shapes change",
     programsNested, Sizes::Open},
    {"cpu-outline-dynamic",
     "Outline regions of dynamic shape, for passes that know static shapes",
     pass<outlineDynamic>, Sizes::OnlyComputed},
    {moveRescalesHere, "", nullptr, Sizes::Open},
    {"cpu-lower-quantized",
     "Lower quantised tensors to integers, int8 of the sign that the CPU "
     "prefers",
     quantizedLowered, Sizes::Open},
    {"cpu-form-trees", "Make tables of tree ensembles", pass<formTrees>,
     Sizes::Open, formTreesPatterns},
    {"cpu-decompose-but-sampling",
     "Decompose operations without a kernel, except pools, resizes and "
     "norms of groups",
     decomposed</*keepsSampling=*/true>, Sizes::Open},
    {"cpu-lower-batch-norms", "Lower batch norm to multiply-add",
     pass<lowerBatchNorms>, Sizes::Open},
    {"cpu-low-bit-tables",
     "Keep low-bit operands of gathers in their storage type",
     pass<lowBitTables>, Sizes::Open, lowBitTablesPatterns},
    {"cpu-low-bit-products",
     "Keep low-bit weights of matmuls in their storage type",
     pass<formLowBitProducts>, Sizes::Open, lowBitProductsPatterns},
    {foldConstantsHere, "", nullptr, Sizes::Open},
    {"cpu-compute-kernels", "Fold computed weights of convolutions",
     kernelsComputed, Sizes::Open, computeWeightsPatterns},
    {"cpu-simplify-convolutions",
     "Bring convolutions into forms that have a kernel",
     pass<simplifyConvolutions>, Sizes::Open, simplifyConvolutionsPatterns},
    {foldConstantsHere, "", nullptr, Sizes::Open},
    {"cpu-pair-min-max", "Compute min and max in one reduction",
     pass<pairMinMax>, Sizes::Open, pairMinMaxPatterns},
    {"cpu-assign-layouts", "Block activations by channel", pass<assignLayouts>,
     Sizes::Open,
     patternsOf<assignLayoutsPatterns, scaledWeightsPatterns,
                halfWeightsPatterns>},
    {"cpu-pack-weights", "Pack weights that are known only at run time",
     pass<packWeights>, Sizes::Open},
    {"cpu-decompose",
     "Decompose operations without a kernel, pools and resizes included",
     decomposed</*keepsSampling=*/false>, Sizes::Open},
    {"cpu-expand-regions", "Make loops of regions that no kernel can hold",
     regionsExpanded, Sizes::Open},
    {"cpu-absorb-transposes", "Let matmuls read transposed operands",
     pass<absorbTransposes>, Sizes::Open, absorbTransposesPatterns},
    {"cpu-simplify-products", "Bring matmuls into forms that have a kernel",
     pass<simplifyProducts>, Sizes::Open, simplifyProductsPatterns},
    {"cpu-compute-operands", "Compute packed operands at load",
     operandsComputed, Sizes::Open},
    {"cpu-carry-biases",
     "Fuse the bias of f16 before rounding, if `contract` is allowed",
     pass<carryBiases>, Sizes::Open, carryBiasesPatterns},
    {"cpu-form-attention", "Let attention read its operands where they are",
     pass<formAttention>, Sizes::Open, formAttentionPatterns},
    {foldConstantsHere, "", nullptr, Sizes::Open},
    {"cpu-split-concatenates",
     "Split concatenates of more than 64 operands; make short slices of one "
     "tensor a gather",
     pass<splitConcatenates>, Sizes::Open, splitConcatenatesPatterns},
    {"cpu-inline-dynamic", "Inline outlined regions of dynamic shape",
     pass<inlineDynamic>, Sizes::OnlyComputed},
    {foldConstantsHere, "", nullptr, Sizes::OnlyComputed},
    {"cpu-set-precision", "Record the precision of matmuls and convolutions",
     precisionSet, Sizes::Open},
    {"cpu-infer-dimensions", "Infer symbolic dimensions", pass<inferDimensions>,
     Sizes::Open},
    {"cpu-assume-spatial-sizes", "Assume spatial sizes for the cost model",
     pass<assumeSpatialSizes>, Sizes::Open},
    {"cpu-tabulate-int8", "Turn int8 element-wise chains into look-up tables",
     pass<tabulateInt8>, Sizes::Open, tabulateInt8Patterns},
    {"cpu-widen-int8", "Widen int8 operands for 16-bit multiplies",
     pass<widenInt8>, Sizes::Open, widenInt8Patterns},
    {"cpu-form-bfloat16-products",
     "Keep bf16 operands of matmuls and convolutions if that is faster",
     pass<formBFloat16Products>, Sizes::Open, bfloat16ProductsPatterns},
    {"cpu-widen-once",
     "Materialise bf16-to-f32 casts that several matmuls read", pass<widenOnce>,
     Sizes::Open, widenOncePatterns},
    {"cpu-remove-dead-code", "Remove dead code", pass<removeDeadCode>,
     Sizes::Open},
    {"cpu-check-types", "Reject types and shapes that cannot be computed",
     pass<checkTypes>, Sizes::Open},
    {"cpu-mark-fronts", "Mark sorts of which only the front is read",
     pass<markFronts>, Sizes::Open},
    {"cpu-form-kernels", "Form fusion groups, and collapse their dimensions",
     pass<formKernels>, Sizes::Open, formKernelsPatterns},
    {"cpu-fuse-min-max", "Fuse range computation into the producer",
     pass<fuseMinMax>, Sizes::Known, fuseMinMaxPatterns},
    {"cpu-keep-split-operands",
     "Keep activations split into bf16 terms between AMX matmuls",
     pass<keepSplitOperands>, Sizes::Open, keepSplitOperandsPatterns},
    {"cpu-share-kernels",
     "Make constants kernel arguments so that kernels are shared",
     pass<shareKernels>, Sizes::Open,
     patternsOf<shareKernelsPatterns, alignZeroPointsPatterns>},
    {"cpu-group-loops", "Bring independent loops together", pass<groupLoops>,
     Sizes::Open, groupLoopsPatterns},
    {"cpu-update-in-place", "Write states in place", pass<updateInPlace>,
     Sizes::Open, updateInPlacePatterns},
};

class CpuPass : public LabelledPass<CpuPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuPass)

  explicit CpuPass(const Row &row, std::shared_ptr<PatternRun> run = nullptr,
                   std::shared_ptr<const PassSetting> setting = nullptr)
      : LabelledPass(std::move(run)), row(row), setting(std::move(setting)) {}
  CpuPass(const CpuPass &other)
      : LabelledPass(other), row(other.row), setting(other.setting) {}

  StringRef getArgument() const final { return row.name; }
  StringRef getDescription() const final { return row.description; }
  StringRef getName() const final { return row.name; }

  void getDependentDialects(DialectRegistry &registry) const final {
    registry
        .insert<CpuDialect, nn::NnDialect, sinter::stablehlo::StablehloDialect,
                quant::QuantizationDialect>();
  }

  void runOnOperation() final {
    func::FuncOp function = entryOf(getOperation());
    if (!function)
      return;
    Result<std::shared_ptr<const PassSetting>> known = settingOf();
    Result<void> done = known ? row.rewrite({function, **known, patternRun()})
                              : Result<void>(known.takeError());
    // Others know nothing of the parts with unknown sizes.
    if (row.sizes == Sizes::Open)
      for (func::FuncOp part : dynamicRegionsOf(function))
        if (done)
          done = row.rewrite({part, **known, patternRun()});
    if (done)
      return;
    getOperation().emitError(done.error().message());
    patternRun().fail(done.takeError());
    signalPassFailure();
  }

private:
  /// As given, or as the options say.
  Result<std::shared_ptr<const PassSetting>> settingOf() {
    if (setting)
      return setting;
    Result<Target> target = triple.empty() && cpu.empty() && features.empty()
                                ? Target::host()
                                : Target::named(triple, cpu, features);
    if (!target)
      return target.takeError();
    const std::optional<Precision> wanted = precisionNamed(precision);
    if (!wanted)
      return usageError("unknown precision '" + precision + "'");
    setting = std::make_shared<const PassSetting>(
        PassSetting{std::move(*target), *wanted, {}, nullptr, nullptr});
    return setting;
  }

  const Row &row;
  std::shared_ptr<const PassSetting> setting;
  Option<std::string> triple{*this, "triple",
                             llvm::cl::desc("The machine, as LLVM names it")};
  Option<std::string> cpu{*this, "cpu",
                          llvm::cl::desc("Its CPU, as LLVM names it")};
  Option<std::string> features{
      *this, "features", llvm::cl::desc("What it has besides: +avx2,...")};
  Option<std::string> precision{
      *this, "precision", llvm::cl::init(name(Precision::Default).data()),
      llvm::cl::desc("How to compute f32 matmuls and convolutions: f32-exact, "
                     "f32 or bf16")};
};

std::unique_ptr<Pass> createPass(const Row &row,
                                 const std::shared_ptr<PatternRun> &run,
                                 std::shared_ptr<const PassSetting> setting) {
  if (row.name == moveRescalesHere)
    return createMoveRescales(run);
  if (!row.rewrite)
    return createFoldConstants(run);
  return std::make_unique<CpuPass>(row, run, std::move(setting));
}

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> triple{*this, "triple"};
  Option<std::string> cpu{*this, "cpu"};
  Option<std::string> features{*this, "features"};
  Option<std::string> precision{
      *this, "precision", llvm::cl::init(name(Precision::Default).data())};
};

} // namespace

Passes cpu::createPasses(const std::shared_ptr<PatternRun> &run,
                         const std::shared_ptr<const PassSetting> &setting) {
  Passes passes;
  using enum PassSetting::UnknownSizes;
  for (const Row &row : rows)
    if (row.sizes == Sizes::Open ||
        (row.sizes == Sizes::Known && setting->unknown != OfInputs) ||
        (row.sizes == Sizes::OnlyComputed && setting->unknown == Computed))
      passes.push_back(createPass(row, run, setting));
  return passes;
}

void cpu::registerPatternLabels() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::vector<PatternInfo> all;
    for (const Row &row : rows)
      if (row.patterns)
        llvm::append_range(all, row.patterns());
    registerPatterns(all);
    registerPassNames(llvm::map_to_vector(
        rows, [](const Row &row) -> StringRef { return row.name; }));
  });
}

void cpu::registerPasses() {
  registerPatternLabels();
  for (const Row &row : rows)
    if (row.rewrite)
      registerPass([&row] { return createPass(row, nullptr, nullptr); });
  PassPipelineRegistration<PipelineOptions>(
      "cpu", "From a simplified graph to kernels of the CPU backend",
      [](OpPassManager &manager, const PipelineOptions &options) {
        const bool isHost = options.triple.empty() && options.cpu.empty() &&
                            options.features.empty();
        Result<Target> target =
            isHost
                ? Target::host()
                : Target::named(options.triple, options.cpu, options.features);
        if (!target) {
          llvm::errs() << "error: " << target.error().message() << "\n";
          return;
        }
        const std::optional<Precision> precision =
            precisionNamed(options.precision);
        if (!precision) {
          llvm::errs() << "error: unknown precision '" << options.precision
                       << "'\n";
          return;
        }
        auto setting = std::make_shared<const PassSetting>(
            PassSetting{std::move(*target), *precision, {}, nullptr, nullptr});
        for (auto &pass : createPasses(std::make_shared<PatternRun>(), setting))
          manager.addPass(std::move(pass));
      });
}
