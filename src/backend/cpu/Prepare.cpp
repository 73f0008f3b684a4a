//===- Prepare.cpp - a graph in the operations that have kernels ----------===//

#include "backend/cpu/Prepare.h"

#include "backend/cpu/CheckCalls.h"
#include "backend/cpu/Flatten.h"
#include "backend/cpu/HostCalls.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/layout/AbsorbTransposes.h"
#include "backend/cpu/layout/AssignLayouts.h"
#include "backend/cpu/layout/ComputeWeights.h"
#include "backend/cpu/layout/FormAttention.h"
#include "backend/cpu/layout/PackWeights.h"
#include "backend/cpu/layout/SimplifyConvolutions.h"
#include "backend/cpu/layout/SimplifyProducts.h"
#include "backend/cpu/regions/ExpandRegions.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/chlo/KnownCalls.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/Wide.h"
#include "passes/FoldConstants.h"
#include "passes/LowerQuantized.h"
#include "runtime/Program.h"

#include <set>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Whether a kernel computes \p op as it stands.
static bool hasKernel(Operation *op) {
  // The C library's are beyond what loops are made of.
  if (isa<nn::ErfcOp>(op))
    return !getElementTypeOrSelf(op->getResult(0).getType()).isF64();
  if (auto attention = dyn_cast<nn::AttentionOp>(op))
    return computesWhole(attention);
  return isa<nn::ErfOp, stablehlo::MapOp>(op);
}

/// Decompositions may use operations that have one themselves.
static constexpr int maxRounds = 16;

/// Decomposes all operations but those that \p isKept says.
static Result<void> decomposeAll(func::FuncOp function,
                                 llvm::function_ref<bool(Operation *)> isKept) {
  for (int round = 0; round < maxRounds; ++round) {
    SmallVector<DecomposableOpInterface> found;
    function.walk([&](DecomposableOpInterface op) {
      if (!isKept(op))
        found.push_back(op);
    });
    if (found.empty())
      return {};
    for (DecomposableOpInterface op : llvm::reverse(found)) {
      if (op->use_empty()) {
        op->erase();
        continue;
      }
      OpBuilder builder(op);
      FailureOr<SmallVector<Value>> values = op.decompose(builder);
      if (failed(values))
        return unsupported("the CPU backend cannot compute " +
                           op->getName().getStringRef().str() +
                           ": it has no decomposition for these operands");
      op->replaceAllUsesWith(*values);
      op->erase();
    }
  }
  return unsupported("decompositions of operations do not come to an end");
}

/// (x - mean) / sqrt(variance + epsilon) * scale + offset as x * a + b with one
/// a and b a channel, which are constants where the statistics are. Floats
/// narrower than f32 are rounded once.
static void spreadBatchNorms(func::FuncOp function) {
  function.walk([](stablehlo::BatchNormInferenceOp op) {
    OpBuilder builder(op);
    nn::Emit emit(builder, op.getLoc());
    auto type = cast<RankedTensorType>(op.getType());
    Type element = type.getElementType();
    auto widened = [&](Value x) {
      return emit.convert(
          x, nn::isNarrowFloat(element) ? Type(builder.getF32Type()) : element);
    };
    Value variance =
        emit.add(widened(op.getVariance()), op.getEpsilon().convertToDouble());
    Value factor = emit.div(widened(op.getScale()), emit.sqrt(variance));
    Value shift = emit.sub(widened(op.getOffset()),
                           emit.mul(widened(op.getMean()), factor));
    int64_t feature = op.getFeatureIndex();
    auto spread = [&](Value x) {
      return emit.broadcast(x, {feature}, type.getShape());
    };
    Value result = emit.add(emit.mul(widened(op.getOperand()), spread(factor)),
                            spread(shift));
    op.getResult().replaceAllUsesWith(emit.convert(result, element));
    op.erase();
  });
}

static void removeUnused(func::FuncOp function) {
  auto sweep = [](auto &self, Block &block) -> void {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (isOpTriviallyDead(&op)) {
        op.erase();
        continue;
      }
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          self(self, inner);
    }
  };
  sweep(sweep, function.getBody().front());
}

static Result<void> checkTypes(func::FuncOp function) {
  std::set<std::string> bad;
  auto check = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    const std::optional<ElementType> element =
        type ? elementTypeOf(type.getElementType()) : std::nullopt;
    if (element && type.hasStaticShape() &&
        !isa<quant::QuantizedType>(type.getElementType()) &&
        byteCount(*element, type.getShape()))
      return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << value.getType();
    bad.insert(text);
  };
  function.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), check);
    for (Region &region : op->getRegions())
      if (!region.empty())
        llvm::for_each(region.getArguments(), check);
  });
  if (bad.empty())
    return {};
  std::string list;
  for (const std::string &type : bad)
    list += (list.empty() ? "" : ", ") + type;
  return unsupported("the CPU backend has no arithmetic on " + list);
}

/// Before any work: what nests deeper would be no sound program.
static Result<void> checkNesting(func::FuncOp function) {
  auto isDeeper = [](auto &self, Operation *op, unsigned depth) -> bool {
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (inner.getNumRegions() > 0 &&
            (depth == maxStepNesting || self(self, &inner, depth + 1)))
          return true;
    return false;
  };
  if (!isDeeper(isDeeper, function, 0))
    return {};
  return unsupported("control flow nests more than " +
                     std::to_string(maxStepNesting) + " deep");
}

Result<void> cpu::prepare(Model &model, const Target &target,
                          bool allowsFastConvolution) {
  func::FuncOp function = model.entry();
  if (!function)
    return invalidModel("the model has no entry function");
  if (Result<void> flat = checkNesting(function); !flat)
    return flat;
  raiseKnownCalls(function);
  lowerChecks(function);
  lowerToHostCalls(function);
  flatten(function);
  if (Result<void> done = lowerQuantized(function); !done)
    return done;
  auto isPool = [](Operation *op) {
    return isa<nn::MaxPoolOp, nn::AveragePoolOp>(op);
  };
  auto isKept = [&](Operation *op) { return hasKernel(op) || isPool(op); };
  if (Result<void> done = decomposeAll(function, isKept); !done)
    return done;
  spreadBatchNorms(function);
  // The weights must be constants, however they were brought into their form.
  PatternRun everything;
  foldConstants(model.module(), defaultConstantByteLimit, everything);
  computeKernels(function);
  if (simplifyConvolutions(function, target))
    foldConstants(model.module(), defaultConstantByteLimit, everything);
  assignLayouts(function, target, allowsFastConvolution);
  packWeights(function, target);
  if (Result<void> done = decomposeAll(function, hasKernel); !done)
    return done;
  expandRegions(function);
  if (Result<void> flat = checkNesting(function); !flat)
    return flat;
  absorbTransposes(function);
  simplifyProducts(function);
  computeOperands(function, defaultConstantByteLimit);
  formAttention(function);
  // Decompositions leave tables and the like to be computed once.
  foldConstants(model.module(), defaultConstantByteLimit, everything);
  removeUnused(function);
  return checkTypes(function);
}
