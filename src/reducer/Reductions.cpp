//===- Reductions.cpp - ways to make a program smaller --------------------===//

#include "reducer/Reductions.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <set>

using namespace mlir;

namespace sinter {

//===----------------------------------------------------------------------===//
// Shared helpers
//===----------------------------------------------------------------------===//

static Operation *terminator(const Model &model) {
  return model.entry().front().getTerminator();
}

static bool isConstant(Operation *op) { return isa<stablehlo::ConstantOp>(op); }

/// The entry function's operations that compute something, in order.
static SmallVector<Operation *> computations(const Model &model) {
  SmallVector<Operation *> found;
  for (Operation &op : model.entry().front().without_terminator())
    if (!isConstant(&op))
      found.push_back(&op);
  return found;
}

static void setResults(const Model &model, ValueRange results) {
  func::FuncOp function = model.entry();
  terminator(model)->setOperands(results);
  function.setFunctionType(
      FunctionType::get(model.context(), function.front().getArgumentTypes(),
                        results.getTypes()));
  // The names of removed results would apply to others.
  function.removeResAttrsAttr();
}

static Value addArgument(const Model &model, Type type) {
  func::FuncOp function = model.entry();
  function.insertArgument(function.getNumArguments(), type, {},
                          function.getLoc());
  return function.getArguments().back();
}

int operationCount(const Model &model) {
  int count = 0;
  model.module().walk([&](Operation *op) {
    count += !op->hasTrait<OpTrait::IsTerminator>() &&
             !isa<ModuleOp, func::FuncOp>(op);
  });
  return count;
}

void removeDeadCode(Model &model) {
  func::FuncOp entry = model.entry();
  // Users are behind their operands, so operations are erased from the last on.
  model.module()->walk<WalkOrder::PostOrder, mlir::ReverseIterator>(
      [](Operation *op) {
        if (isOpTriviallyDead(op))
          op->erase();
      });
  for (int i = entry.getNumArguments() - 1; i >= 0; --i)
    if (entry.getArgument(i).use_empty())
      entry.eraseArgument(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto function :
         llvm::make_early_inc_range(model.module().getOps<func::FuncOp>()))
      if (function != entry && SymbolTable::symbolKnownUseEmpty(
                                   function, model.module().getOperation())) {
        function.erase();
        changed = true;
      }
  }
}

//===----------------------------------------------------------------------===//
// Fewer results, earlier results
//===----------------------------------------------------------------------===//

static int resultCount(const Model &model) {
  const int count = terminator(model)->getNumOperands();
  return count > 1 ? count : 0;
}

static bool dropResults(Model &model, int first, int count) {
  SmallVector<Value> kept(terminator(model)->getOperands());
  if (count >= static_cast<int>(kept.size()))
    return false;
  kept.erase(kept.begin() + first, kept.begin() + first + count);
  setResults(model, kept);
  return true;
}

static int computationCount(const Model &model) {
  return computations(model).size();
}

/// return f(g(x))  ->  return g(x)
static bool returnEarlier(Model &model, int first, int count) {
  SmallVector<Operation *> ops = computations(model);
  Operation *last = ops[first];
  if (count != 1 || last->getNumResults() == 0 ||
      llvm::all_of(terminator(model)->getOperands(),
                   [&](Value value) { return value.getDefiningOp() == last; }))
    return false;
  setResults(model, last->getResults());
  return true;
}

//===----------------------------------------------------------------------===//
// Operations replaced
//===----------------------------------------------------------------------===//

/// f(x)  ->  an input
static bool replaceByInput(Model &model, int first, int count) {
  SmallVector<Operation *> ops = computations(model);
  bool changed = false;
  for (Operation *op : ArrayRef(ops).slice(first, count))
    for (Value result : op->getResults()) {
      // A result that is only returned would become an input that is returned.
      if (llvm::all_of(result.getUsers(), [&](Operation *user) {
            return user == terminator(model);
          }))
        continue;
      result.replaceUsesWithIf(
          addArgument(model, result.getType()),
          [&](OpOperand &use) { return use.getOwner() != terminator(model); });
      changed = true;
    }
  return changed;
}

/// f(x)  ->  x, where the types are the same
static bool replaceByOperand(Model &model, int first, int count) {
  SmallVector<Operation *> ops = computations(model);
  bool changed = false;
  for (Operation *op : ArrayRef(ops).slice(first, count)) {
    if (op->getNumResults() != 1)
      continue;
    for (Value operand : op->getOperands())
      if (operand.getType() == op->getResult(0).getType() &&
          !operand.getDefiningOp<stablehlo::ConstantOp>()) {
        op->getResult(0).replaceAllUsesWith(operand);
        changed = true;
        break;
      }
  }
  return changed;
}

/// An operation without uses -> nothing
static bool eraseUnused(Model &model, int first, int count) {
  SmallVector<Operation *> ops = computations(model);
  bool changed = false;
  for (Operation *op : llvm::reverse(ArrayRef(ops).slice(first, count)))
    if (op->use_empty()) {
      op->erase();
      changed = true;
    }
  return changed;
}

/// The regions of the entry function's operations that could replace their
/// operation: their arguments are among its operands, and their results are of
/// its types.
static SmallVector<Region *> inlinableRegions(const Model &model) {
  SmallVector<Region *> found;
  for (Operation *op : computations(model))
    for (Region &region : op->getRegions()) {
      if (!region.hasOneBlock() ||
          region.getNumArguments() > op->getNumOperands())
        continue;
      ValueRange operands =
          op->getOperands().take_front(region.getNumArguments());
      if (llvm::equal(region.front().back().getOperandTypes(),
                      op->getResultTypes()) &&
          llvm::equal(region.getArgumentTypes(), operands.getTypes()))
        found.push_back(&region);
    }
  return found;
}
static int inlinableCount(const Model &model) {
  return inlinableRegions(model).size();
}

/// Replaces \p op by \p block, inlined on its operands.
static void inlineBlock(Block &block, Operation *op) {
  IRMapping mapping;
  for (auto [argument, operand] :
       llvm::zip(block.getArguments(), op->getOperands()))
    mapping.map(argument, operand);
  OpBuilder builder(op);
  for (Operation &inner : block.without_terminator())
    builder.clone(inner, mapping);
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), block.back().getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  op->erase();
}

/// if p { a } else { b }  ->  a, or b
static bool inlineRegion(Model &model, int first, int count) {
  if (count != 1)
    return false;
  Region *region = inlinableRegions(model)[first];
  inlineBlock(region->front(), region->getParentOp());
  return true;
}

static SmallVector<func::CallOp> calls(const Model &model) {
  SmallVector<func::CallOp> found;
  for (func::CallOp call : model.entry().getOps<func::CallOp>())
    found.push_back(call);
  return found;
}
static int callCount(const Model &model) { return calls(model).size(); }

/// call @f(x)  ->  the body of f
static bool inlineCalls(Model &model, int first, int count) {
  SmallVector<func::CallOp> all = calls(model);
  bool changed = false;
  for (func::CallOp call : ArrayRef(all).slice(first, count)) {
    auto callee = model.module().lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || !callee.getBody().hasOneBlock() || callee == model.entry())
      continue;
    inlineBlock(callee.front(), call);
    changed = true;
  }
  return changed;
}

static SmallVector<Operation *> attributedComputations(const Model &model) {
  SmallVector<Operation *> found;
  model.module().walk([&](Operation *op) {
    if (!op->getDiscardableAttrs().empty() && !isa<func::FuncOp>(op))
      found.push_back(op);
  });
  return found;
}
static int attributedCount(const Model &model) {
  return attributedComputations(model).size();
}
static bool dropAttributes(Model &model, int first, int count) {
  SmallVector<Operation *> ops = attributedComputations(model);
  for (Operation *op : ArrayRef(ops).slice(first, count))
    op->setDiscardableAttrs(DictionaryAttr::get(model.context()));
  return true;
}

//===----------------------------------------------------------------------===//
// Plainer constants
//===----------------------------------------------------------------------===//

static SmallVector<stablehlo::ConstantOp> richConstants(const Model &model) {
  SmallVector<stablehlo::ConstantOp> found;
  model.module().walk([&](stablehlo::ConstantOp op) {
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (dense && !dense.isSplat() && dense.getNumElements() > 1)
      found.push_back(op);
  });
  return found;
}
static int richConstantCount(const Model &model) {
  return richConstants(model).size();
}

/// dense<[a, b, c]>  ->  dense<a>
static bool splatConstants(Model &model, int first, int count) {
  auto constants = richConstants(model);
  for (stablehlo::ConstantOp op : ArrayRef(constants).slice(first, count)) {
    auto dense = cast<DenseElementsAttr>(op.getValue());
    op.setValueAttr(DenseElementsAttr::get(dense.getType(),
                                           dense.getValues<Attribute>()[0]));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Smaller dimensions
//===----------------------------------------------------------------------===//

/// The sizes above one that occur, and smaller sizes for each.
static SmallVector<std::pair<int64_t, int64_t>> shrinkings(const Model &model) {
  std::set<int64_t> sizes;
  model.module().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        sizes.insert(tensor.getShape().begin(), tensor.getShape().end());
  });
  for (Type type : model.entry().getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      sizes.insert(tensor.getShape().begin(), tensor.getShape().end());
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t size : sizes) {
    for (int64_t smaller : {size - 1, size / 2, int64_t(2), int64_t(1)})
      if (smaller >= 1 && smaller < size)
        pairs.emplace_back(size, smaller);
  }
  return pairs;
}
static int shrinkingCount(const Model &model) {
  return shrinkings(model).size();
}

static Type shrunk(Type type, int64_t from, int64_t to) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  std::replace(shape.begin(), shape.end(), from, to);
  return tensor.clone(shape);
}

/// The first elements of \p constant, as many as the new type has.
static void shrinkConstant(stablehlo::ConstantOp constant, int64_t from,
                           int64_t to) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  auto type =
      cast<RankedTensorType>(shrunk(constant.getOutput().getType(), from, to));
  if (!dense || type == constant.getOutput().getType())
    return;
  DenseElementsAttr value;
  if (dense.isSplat()) {
    value = dense.resizeSplat(type);
  } else {
    auto elements = llvm::to_vector(dense.getValues<Attribute>());
    elements.truncate(type.getNumElements());
    value = DenseElementsAttr::get(type, elements);
  }
  constant.setValueAttr(value);
}

/// tensor<..n..>  ->  tensor<..m..>, m < n, everywhere
static bool shrinkDimension(Model &model, int first, int count) {
  if (count != 1)
    return false;
  const auto [from, to] = shrinkings(model)[first];
  auto shrinkValue = [&, from = from, to = to](Value value) {
    value.setType(shrunk(value.getType(), from, to));
  };
  model.module()->walk<WalkOrder::PreOrder>(
      [&, from = from, to = to](Operation *op) {
        if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
          shrinkConstant(constant, from, to);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            llvm::for_each(block.getArguments(), shrinkValue);
        auto inference = dyn_cast<InferTypeOpInterface>(op);
        SmallVector<Type> types;
        // Definitions are visited before uses: operands have their new types
        // here.
        if (inference &&
            succeeded(inference.inferReturnTypes(
                op->getContext(), op->getLoc(), op->getOperands(),
                op->getAttrDictionary(), op->getPropertiesStorage(),
                op->getRegions(), types)) &&
            types.size() == op->getNumResults())
          for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
            result.setType(type);
        else
          llvm::for_each(op->getResults(), shrinkValue);
      });
  for (auto function : model.module().getOps<func::FuncOp>())
    if (!function.isExternal())
      function.setFunctionType(FunctionType::get(
          model.context(), function.front().getArgumentTypes(),
          function.front().getTerminator()->getOperandTypes()));
  return true;
}

llvm::ArrayRef<Reduction> allReductions() {
  static constexpr Reduction reductions[] = {
      {"drop results", resultCount, dropResults},
      {"return earlier", computationCount, returnEarlier},
      {"replace by an input", computationCount, replaceByInput},
      {"replace by an operand", computationCount, replaceByOperand},
      {"erase", computationCount, eraseUnused},
      {"inline a call", callCount, inlineCalls},
      {"inline a region", inlinableCount, inlineRegion},
      {"shrink a dimension", shrinkingCount, shrinkDimension},
      {"make a constant a splat", richConstantCount, splatConstants},
      {"drop attributes", attributedCount, dropAttributes},
  };
  return reductions;
}

} // namespace sinter
