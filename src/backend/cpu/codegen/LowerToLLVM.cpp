//===- LowerToLLVM.cpp - from kernels' dialects to the LLVM dialect -------===//

#include "backend/cpu/codegen/Codegen.h"

#include "backend/cpu/codegen/ExpandBFloat16.h"
#include "backend/cpu/codegen/ExpandMinMax.h"
#include "backend/cpu/codegen/NarrowIndices.h"
#include "graph/Verification.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace sinter;

void cpu::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, complex::ComplexDialect,
                  func::FuncDialect, index::IndexDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

namespace {

/// Whether upstream's expansion of \p pattern's root loses the sign of zero.
bool isInexact(const RewritePattern &pattern) {
  static constexpr StringRef roots[] = {"arith.maximumf", "arith.minimumf"};
  std::optional<OperationName> root = pattern.getRootKind();
  return root && llvm::is_contained(roots, root->getStringRef());
}

/// Lowers math.atan2 of f64 to scalar calls of the C library, before any
/// folding: upstream folds the angle of two zeros to NaN; it is 0 or pi with
/// the sign of the first.
struct AnglePass : PassWrapper<AnglePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AnglePass)

  void runOnOperation() override {
    SmallVector<math::Atan2Op> angles;
    getOperation().walk([&](math::Atan2Op op) {
      if (getElementTypeOrSelf(op.getType()).isF64())
        angles.push_back(op);
    });
    for (math::Atan2Op op : angles) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(angleOf(builder, op));
      op.erase();
    }
  }

private:
  Value angleOf(OpBuilder &builder, math::Atan2Op op) {
    const Location location = op.getLoc();
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type)
      return call(builder, location, op.getLhs(), op.getRhs());
    Value result = builder.create<arith::ConstantOp>(location, type,
                                                     builder.getZeroAttr(type));
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      SmallVector<int64_t> place =
          delinearize(i, computeStrides(type.getShape()));
      auto lane = [&](Value of) {
        return builder.create<vector::ExtractOp>(location, of, place);
      };
      result = builder.create<vector::InsertOp>(
          location,
          call(builder, location, lane(op.getLhs()), lane(op.getRhs())), result,
          place);
    }
    return result;
  }

  Value call(OpBuilder &builder, Location location, Value y, Value x) {
    return builder.create<func::CallOp>(location, declared(), ValueRange{y, x})
        .getResult(0);
  }

  /// The declaration of the C library's function.
  func::FuncOp declared() {
    static constexpr StringRef name = "atan2";
    if (auto known = getOperation().lookupSymbol<func::FuncOp>(name))
      return known;
    auto builder = OpBuilder::atBlockBegin(getOperation().getBody());
    Type f64 = builder.getF64Type();
    auto function = builder.create<func::FuncOp>(
        getOperation().getLoc(), name,
        builder.getFunctionType({f64, f64}, {f64}));
    function.setPrivate();
    function->setAttr(LLVM::LLVMDialect::getReadnoneAttrName(),
                      builder.getUnitAttr());
    return function;
  }
};

/// Expands operations without a counterpart in the LLVM dialect into simpler
/// ones of the same dialects.
struct ExpandPass : PassWrapper<ExpandPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandPass)
  explicit ExpandPass(const cpu::Target &target) : target(target) {}

  void runOnOperation() override {
    if (!target.convertsBF16)
      cpu::expandBFloat16(getOperation());
    RewritePatternSet patterns(&getContext());
    arith::populateArithExpandOpsPatterns(patterns);
    llvm::erase_if(patterns.getNativePatterns(),
                   [](const auto &pattern) { return isInexact(*pattern); });
    cpu::populateExpandMinMaxPatterns(patterns);
    populateExpandCtlzPattern(patterns);
    populateVectorPatterns(patterns);
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            config)))
      signalPassFailure();
  }

private:
  void populateVectorPatterns(RewritePatternSet &patterns) {
    vector::VectorTransformsOptions options;
    options.setVectorTransposeLowering(
        target.f32Lanes == 16 ? vector::VectorTransposeLowering::Shuffle16x16
                              : vector::VectorTransposeLowering::Shuffle1D);
    vector::populateVectorTransposeLoweringPatterns(patterns, options);
    vector::populateVectorContractLoweringPatterns(patterns, options);
    vector::populateVectorOuterProductLoweringPatterns(patterns);
    vector::populateVectorMultiReductionLoweringPatterns(
        patterns, vector::VectorMultiReductionLowering::InnerParallel);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorGatherLoweringPatterns(patterns);
  }

  cpu::Target target;
};

/// Adds patterns for scalar functions of the C library. Not for operations with
/// a short vector expansion: which of two patterns applies is undefined, and
/// this one would scalarise vectors.
void populateLibmPatterns(RewritePatternSet &patterns) {
  static constexpr StringRef ofInstructions[] = {
      "math.absf",  "math.ceil",      "math.copysign", "math.floor", "math.fma",
      "math.round", "math.roundeven", "math.sqrt",     "math.trunc"};
  RewritePatternSet calls(patterns.getContext());
  populateMathToLibmConversionPatterns(calls);
  llvm::erase_if(calls.getNativePatterns(), [](const auto &pattern) {
    std::optional<OperationName> root = pattern->getRootKind();
    return root && llvm::is_contained(ofInstructions, root->getStringRef());
  });
  for (auto &pattern : calls.getNativePatterns())
    patterns.add(std::move(pattern));
}

/// Converts all remaining operations to the LLVM dialect.
struct ConvertPass : PassWrapper<ConvertPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertPass)
  explicit ConvertPass(unsigned indexBits) : indexBits(indexBits) {}

  void runOnOperation() override {
    LowerToLLVMOptions options(&getContext());
    options.useBarePtrCallConv = true;
    options.overrideIndexBitwidth(indexBits);
    LLVMTypeConverter converter(&getContext(), options);
    RewritePatternSet patterns(&getContext());
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateComplexToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateLibmPatterns(patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }

private:
  unsigned indexBits;
};

/// Computes bf16 operations in f32: few CPUs have them.
struct BFloat16Pass : PassWrapper<BFloat16Pass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BFloat16Pass)

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, {BFloat16Type::get(context)}, Float32Type::get(context));
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

/// Runs the passes that \p build adds only if a kernel has an operation that
/// satisfies \p concerns: most kernels have none, and the passes would visit
/// all operations.
struct PassesWhere : PassWrapper<PassesWhere, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PassesWhere)
  PassesWhere(bool (*concerns)(Operation *), void (*build)(OpPassManager &))
      : concerns(concerns), build(build) {}

  void runOnOperation() override {
    const WalkResult walk = getOperation().walk([&](Operation *op) {
      return concerns(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!walk.wasInterrupted())
      return;
    OpPassManager passes(ModuleOp::getOperationName());
    build(passes);
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }

private:
  bool (*concerns)(Operation *);
  void (*build)(OpPassManager &);
};

bool isComplex(Operation *op) {
  return isa_and_nonnull<complex::ComplexDialect>(op->getDialect());
}

bool isAngle(Operation *op) { return isa<math::Atan2Op>(op); }

void addAnglePass(OpPassManager &passes) {
  passes.addPass(std::make_unique<AnglePass>());
}

void addComplexPasses(OpPassManager &passes) {
  passes.addPass(createConvertComplexToStandardPass());
}

/// Whether \p op is a memref view that ConvertPass does not support.
bool isView(Operation *op) {
  return isa_and_nonnull<memref::MemRefDialect>(op->getDialect()) &&
         !isa<memref::AllocaOp, memref::GetGlobalOp, memref::GlobalOp,
              memref::LoadOp, memref::PrefetchOp, memref::ReinterpretCastOp,
              memref::StoreOp, memref::ViewOp>(op);
}

void addViewPasses(OpPassManager &passes) {
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
}

/// Builds the pipeline for kernels without `vector.transfer_read`,
/// `vector.transfer_write` and `affine` operations, which no generator emits.
void buildPipeline(PassManager &passes, const cpu::Target &target) {
  passes.addPass(std::make_unique<PassesWhere>(isComplex, addComplexPasses));
  passes.addPass(std::make_unique<PassesWhere>(isAngle, addAnglePass));
  passes.addPass(std::make_unique<BFloat16Pass>());
  passes.addPass(std::make_unique<ExpandPass>(target));
  passes.addPass(std::make_unique<PassesWhere>(isView, addViewPasses));
  passes.addPass(createConvertSCFToCFPass());
  passes.addPass(std::make_unique<ConvertPass>(target.pointerBits));
  passes.addPass(createReconcileUnrealizedCastsPass());
}

} // namespace

Result<void> cpu::lowerToLLVM(ModuleOp module, const Target &target) {
  std::string diagnostics;
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    if (!diagnostics.empty())
                                      diagnostics += "; ";
                                    diagnostics += diagnostic.str();
                                  });
  if (target.pointerBits == 32)
    narrowIndices(module);
  PassManager passes(module.getContext());
  const bool verifies = verifiesEachStage();
  passes.enableVerifier(verifies);
  buildPipeline(passes, target);
  if ((verifies && failed(verify(module))) || failed(passes.run(module)))
    return systemError("cannot lower kernels to machine code: " + diagnostics);
  return {};
}
