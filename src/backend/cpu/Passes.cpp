//===- Passes.cpp - the CPU backend's rewrites in their order -------------===//

#include "backend/cpu/Passes.h"
#include "backend/cpu/AlignZeroPoints.h"
#include "backend/cpu/BFloat16Roundings.h"

#include "backend/cpu/Amplified.h"
#include "backend/cpu/CheckCalls.h"
#include "backend/cpu/CheckProgram.h"
#include "backend/cpu/Decompose.h"
#include "backend/cpu/EstimateAreas.h"
#include "backend/cpu/Flatten.h"
#include "backend/cpu/FormKernels.h"
#include "backend/cpu/FuseExtremes.h"
#include "backend/cpu/HostCalls.h"
#include "backend/cpu/KeepParts.h"
#include "backend/cpu/NameSizes.h"
#include "backend/cpu/PartOpen.h"
#include "backend/cpu/RemoveUnused.h"
#include "backend/cpu/SetPrecisions.h"
#include "backend/cpu/ShareKernels.h"
#include "backend/cpu/SizedCalls.h"
#include "backend/cpu/SplitJoints.h"
#include "backend/cpu/SpreadBatchNorms.h"
#include "backend/cpu/StoreBytes.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/kernels/Arithmetic.h"
#include "backend/cpu/layout/AbsorbTransposes.h"
#include "backend/cpu/layout/AssignLayouts.h"
#include "backend/cpu/layout/BFloat16Products.h"
#include "backend/cpu/layout/ByteProducts.h"
#include "backend/cpu/layout/CarryBiases.h"
#include "backend/cpu/layout/ComputeWeights.h"
#include "backend/cpu/layout/FormAttention.h"
#include "backend/cpu/layout/HalfWeights.h"
#include "backend/cpu/layout/NarrowProducts.h"
#include "backend/cpu/layout/NarrowTables.h"
#include "backend/cpu/layout/PackWeights.h"
#include "backend/cpu/layout/PairExtremes.h"
#include "backend/cpu/layout/ScaledWeights.h"
#include "backend/cpu/layout/SimplifyConvolutions.h"
#include "backend/cpu/layout/SimplifyProducts.h"
#include "backend/cpu/layout/TabulateBytes.h"
#include "backend/cpu/layout/WidenBytes.h"
#include "backend/cpu/layout/WidenOnce.h"
#include "backend/cpu/regions/ExpandRegions.h"
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

struct Row {
  llvm::StringLiteral name, description;
  Result<void> (*rewrite)(const Subject &);
  Sizes sizes = Sizes::Known;
};

template <auto rewrite> Result<void> onFunction(const Subject &s) {
  if constexpr (std::is_void_v<decltype(rewrite(s.function))>) {
    rewrite(s.function);
    return {};
  } else {
    return rewrite(s.function);
  }
}

template <auto rewrite> Result<void> withPatterns(const Subject &s) {
  if constexpr (std::is_void_v<decltype(rewrite(s.function, s.run))>) {
    rewrite(s.function, s.run);
    return {};
  } else {
    return rewrite(s.function, s.run);
  }
}

template <bool keepsSampling> Result<void> decomposed(const Subject &s) {
  return decompose(s.function, keepsSampling, s.setting, s.run);
}

Result<void> convolutionsSimplified(const Subject &s) {
  simplifyConvolutions(s.function, s.setting, s.run);
  return {};
}

Result<void> productsSimplified(const Subject &s) {
  simplifyProducts(s.function, s.setting, s.run);
  return {};
}

Result<void> narrowProductsFormed(const Subject &s) {
  formNarrowProducts(s.function, s.setting, s.run);
  return {};
}

Result<void> layoutsAssigned(const Subject &s) {
  assignLayouts(s.function, s.setting, s.run);
  return {};
}

Result<void> bfloat16ProductsFormed(const Subject &s) {
  formBFloat16Products(s.function, s.setting, s.run);
  return {};
}

Result<void> bytesTabulated(const Subject &s) {
  tabulateBytes(s.function, s.setting.target, s.run);
  return {};
}

Result<void> bytesWidened(const Subject &s) {
  widenBytes(s.function, s.setting.target, s.run);
  return {};
}

Result<void> quantizedLowered(const Subject &s) {
  const bool wantsUnsigned =
      Arithmetic::bestBytes(s.setting.target) == ElementType::UI8;
  storeBytes(s.function,
             IntegerType::get(func::FuncOp(s.function).getContext(), 8,
                              wantsUnsigned ? IntegerType::Unsigned
                                            : IntegerType::Signless));
  return lowerQuantized(s.function);
}

Result<void> precisionSet(const Subject &s) {
  setPrecisions(s.function, s.setting.precision);
  if (!s.setting.target.convertsBF16)
    sayWhatIsRounded(s.function);
  if (s.setting.target.hasMatrixUnits) {
    sayWhichNumbers(s.function);
    sayWhatWeighsMost(s.function);
  }
  return {};
}

Result<void> weightsPacked(const Subject &s) {
  packWeights(s.function, s.setting.target);
  return {};
}

Result<void> extremesFused(const Subject &s) {
  fuseExtremes(s.function, s.setting.target, s.run);
  return {};
}

Result<void> partsKept(const Subject &s) {
  keepParts(s.function, s.setting.target, s.run);
  return {};
}

Result<void> kernelsComputed(const Subject &s) {
  computeKernels(s.function, ByteConvolution::readsBytes, s.run);
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
    {"cpu-raise-known-calls", "Make operations of custom calls that are known",
     onFunction<raiseKnownCalls>, Sizes::Open},
    {"cpu-lower-checks", "Make calls of expectations and prints",
     onFunction<lowerChecks>, Sizes::Open},
    {"cpu-lower-host-calls", "Make calls of what functions of the process do",
     onFunction<lowerToHostCalls>, Sizes::Open},
    {"cpu-flatten", "Remove tuples, tokens, futures and barriers",
     onFunction<flatten>, Sizes::Open},
    {"cpu-form-sized-calls",
     "Make calls of what has sizes that follow from values",
     onFunction<formSizedCalls>, Sizes::Open},
    {"cpu-part-open", "Set apart what has sizes that are computed",
     onFunction<partOpen>, Sizes::OnlyComputed},
    {moveRescalesHere, "", nullptr, Sizes::Open},
    {"cpu-lower-quantized", "Make integers of quantised tensors",
     quantizedLowered, Sizes::Open},
    {"cpu-decompose-but-sampling",
     "Build what has no kernel from stablehlo operations, pools and resizes "
     "excepted",
     decomposed</*keepsSampling=*/true>, Sizes::Open},
    {"cpu-spread-batch-norms", "Make a product and a sum of a batch norm",
     withPatterns<spreadBatchNorms>, Sizes::Open},
    {"cpu-narrow-tables", "Leave tables as narrow as they are",
     withPatterns<narrowTables>, Sizes::Open},
    {"cpu-narrow-products", "Leave weights of products as narrow as they are",
     narrowProductsFormed, Sizes::Open},
    {foldConstantsHere, "", nullptr, Sizes::Open},
    {"cpu-compute-kernels", "Compute convolutions' weights of constants",
     kernelsComputed, Sizes::Open},
    {"cpu-simplify-convolutions",
     "Bring convolutions into forms that have a kernel", convolutionsSimplified,
     Sizes::Open},
    {foldConstantsHere, "", nullptr, Sizes::Open},
    {"cpu-pair-extremes", "Find the least and the greatest number together",
     withPatterns<pairExtremes>, Sizes::Open},
    {"cpu-assign-layouts", "Block activations by channel", layoutsAssigned,
     Sizes::Open},
    {"cpu-pack-weights", "Pack weights that are known only at run time",
     weightsPacked, Sizes::Open},
    {"cpu-decompose", "Build what has no kernel from stablehlo operations",
     decomposed</*keepsSampling=*/false>, Sizes::Open},
    {"cpu-expand-regions", "Make loops of regions that no kernel can hold",
     regionsExpanded, Sizes::Open},
    {"cpu-absorb-transposes", "Let products read transposed operands",
     withPatterns<absorbTransposes>, Sizes::Open},
    {"cpu-simplify-products", "Bring products into forms that have a kernel",
     productsSimplified, Sizes::Open},
    {"cpu-compute-operands", "Compute large operands of products when packed",
     operandsComputed, Sizes::Open},
    {"cpu-carry-biases", "Round a product once, with its bias",
     withPatterns<carryBiases>, Sizes::Open},
    {"cpu-form-attention", "Let attention read its operands where they are",
     withPatterns<formAttention>, Sizes::Open},
    {foldConstantsHere, "", nullptr, Sizes::Open},
    {"cpu-split-joints", "Join a bounded number of pieces at once",
     withPatterns<splitJoints>, Sizes::Open},
    {"cpu-join-open", "Put back what has sizes that are computed",
     onFunction<joinOpen>, Sizes::OnlyComputed},
    {foldConstantsHere, "", nullptr, Sizes::OnlyComputed},
    {"cpu-set-precision", "Let every product say how exactly it is computed",
     precisionSet, Sizes::Open},
    {"cpu-name-sizes", "Name sizes that are known when the program runs",
     onFunction<nameSizes>, Sizes::Open},
    {"cpu-estimate-areas", "Estimate images of sizes that are named",
     onFunction<estimateAreas>, Sizes::Open},
    {"cpu-tabulate-bytes", "Make tables of functions of bytes", bytesTabulated,
     Sizes::Open},
    {"cpu-widen-bytes", "Make words of bytes where words are multiplied",
     bytesWidened, Sizes::Open},
    {"cpu-form-bfloat16-products",
     "Multiply bf16 as it is where that is faster", bfloat16ProductsFormed,
     Sizes::Open},
    {"cpu-widen-once", "Let what products read in f32 lie in memory so",
     withPatterns<widenOnce>, Sizes::Open},
    {"cpu-remove-unused", "Remove what nobody reads", onFunction<removeUnused>,
     Sizes::Open},
    {"cpu-check-types", "Refuse what has no known shape or no arithmetic",
     onFunction<checkTypes>, Sizes::Open},
    {"cpu-form-kernels", "Put together what is computed together",
     withPatterns<formKernels>, Sizes::Open},
    {"cpu-fuse-extremes",
     "Let convolutions find the extremes of what they store", extremesFused},
    {"cpu-keep-parts",
     "Let numbers between products on matrix units lie in memory in parts",
     partsKept, Sizes::Open},
    {"cpu-share-kernels", "Make inputs of numbers in which kernels differ",
     withPatterns<shareKernels>, Sizes::Open},
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
      for (func::FuncOp part : openPartsOf(function))
        if (done)
          done = row.rewrite({part, **known, patternRun()});
    if (done)
      return;
    getOperation().emitError(done.error().message);
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
        PassSetting{std::move(*target), *wanted, {}, nullptr});
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
      llvm::cl::desc("What products of f32 may be computed with: f32-exact, "
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
    for (ArrayRef<PatternInfo> patterns :
         {narrowTablesPatterns(),     narrowProductsPatterns(),
          computeWeightsPatterns(),   simplifyConvolutionsPatterns(),
          assignLayoutsPatterns(),    scaledWeightsPatterns(),
          halfWeightsPatterns(),      absorbTransposesPatterns(),
          simplifyProductsPatterns(), carryBiasesPatterns(),
          pairExtremesPatterns(),     formAttentionPatterns(),
          tabulateBytesPatterns(),    widenOncePatterns(),
          widenBytesPatterns(),       bfloat16ProductsPatterns(),
          splitJointsPatterns(),      formKernelsPatterns(),
          fuseExtremesPatterns(),     keepPartsPatterns(),
          alignZeroPointsPatterns(),  shareKernelsPatterns()})
      llvm::append_range(all, patterns);
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
          llvm::errs() << "error: " << target.error().message << "\n";
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
            PassSetting{std::move(*target), *precision, {}, nullptr});
        for (auto &pass : createPasses(std::make_shared<PatternRun>(), setting))
          manager.addPass(std::move(pass));
      });
}
