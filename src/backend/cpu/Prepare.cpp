//===- Prepare.cpp - a graph in the operations that have kernels ----------===//

#include "backend/cpu/Prepare.h"

#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "passes/FoldConstants.h"

#include <set>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Whether a kernel computes \p op as it stands.
static bool hasKernel(Operation *op) { return isa<nn::ErfOp>(op); }

/// Decompositions may use operations that have one themselves.
static constexpr int maxRounds = 16;

static Result<void> decomposeAll(func::FuncOp function) {
  for (int round = 0; round < maxRounds; ++round) {
    SmallVector<DecomposableOpInterface> found;
    function.walk([&](DecomposableOpInterface op) {
      if (!hasKernel(op))
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

/// Floats whose arithmetic the code generator knows.
static bool isComputable(Type element) {
  if (auto complexType = dyn_cast<ComplexType>(element))
    return isComputable(complexType.getElementType());
  if (isa<FloatType>(element))
    return element.isF16() || element.isBF16() || element.isF32() ||
           element.isF64();
  return isa<IntegerType, IndexType>(element);
}

static Result<void> checkTypes(func::FuncOp function) {
  std::set<std::string> bad;
  auto check = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << value.getType();
    if (!type || !type.hasStaticShape() ||
        !elementTypeOf(type.getElementType()) ||
        !isComputable(type.getElementType()))
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

Result<void> cpu::prepare(Model &model) {
  func::FuncOp function = model.entry();
  if (!function)
    return invalidModel("the model has no entry function");
  if (Result<void> done = decomposeAll(function); !done)
    return done;
  // Decompositions leave tables and the like to be computed once.
  PatternRun everything;
  foldConstants(model.module(), defaultConstantByteLimit, everything);
  removeUnused(function);
  return checkTypes(function);
}
