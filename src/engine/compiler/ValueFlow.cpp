//===- ValueFlow.cpp - where values come from and lead to -----------------===//

#include "engine/compiler/ValueFlow.h"

#include "graph/Broadcast.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter {

/// The shape alone: two models may compute in different precisions.
static llvm::hash_code shapeHash(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return llvm::hash_value(0);
  return llvm::hash_combine(
      type.getRank(),
      llvm::hash_combine_range(type.getShape().begin(), type.getShape().end()));
}

ValueFlow::ValueFlow(func::FuncOp entry) {
  Block &body = entry.front();
  for (BlockArgument argument : body.getArguments())
    before[argument] =
        llvm::hash_combine(StringRef("input"), argument.getArgNumber());
  forward(body);
  backward(body);
}

void ValueFlow::forward(Block &block) {
  llvm::DenseSet<Value> constants;
  for (Operation &op : block.without_terminator()) {
    llvm::hash_code hash = llvm::hash_value(op.getName().getStringRef());
    for (Value operand : op.getOperands())
      hash = llvm::hash_combine(hash, before.lookup(operand));
    const bool isConstant = op.getNumRegions() == 0 &&
                            isMemoryEffectFree(&op) &&
                            llvm::all_of(op.getOperands(), [&](Value operand) {
                              return constants.contains(operand);
                            });
    for (OpResult result : op.getResults()) {
      if (isConstant)
        constants.insert(result);
      before[result] =
          isConstant
              ? llvm::hash_combine(StringRef("constant"), shapeHash(result))
              : llvm::hash_combine(hash, result.getResultNumber(),
                                   shapeHash(result));
    }
  }
}

void ValueFlow::backward(Block &block) {
  for (Operation &op : llvm::reverse(block.without_terminator()))
    for (OpResult result : op.getResults()) {
      SmallVector<uint64_t> uses;
      for (OpOperand &use : result.getUses()) {
        Operation *user = block.findAncestorOpInBlock(*use.getOwner());
        if (user == block.getTerminator()) {
          uses.push_back(
              llvm::hash_combine(StringRef("output"), use.getOperandNumber()));
          continue;
        }
        // Users inside of a branch or loop read what it reads.
        const unsigned number =
            user == use.getOwner() ? use.getOperandNumber() : 0;
        llvm::hash_code hash =
            llvm::hash_combine(user->getName().getStringRef(), number);
        uint64_t leads = 0;
        for (OpResult next : user->getResults())
          if (const uint64_t to = behind.lookup(next))
            leads = llvm::hash_combine(leads, next.getResultNumber(), to);
        if (leads)
          uses.push_back(llvm::hash_combine(hash, leads));
      }
      if (uses.empty())
        continue;
      llvm::sort(uses);
      behind[result] = llvm::hash_combine(
          shapeHash(result),
          llvm::hash_combine_range(uses.begin(), uses.end()));
    }
}

//===----------------------------------------------------------------------===//
// Constants of channels behind a product
//===----------------------------------------------------------------------===//

/// Whether \p use is the operand of an operation that shifts or scales channels
/// by constants.
static bool isChannelwise(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<stablehlo::BatchNormInferenceOp>(op))
    return use.getOperandNumber() == 0 &&
           llvm::all_of(llvm::drop_begin(op->getOperands()),
                        followsFromConstants);
  return isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
             stablehlo::DivOp>(op) &&
         followsFromConstants(op->getOperand(1 - use.getOperandNumber()));
}

/// Whether \p op only gives its operand another shape.
static bool reshapes(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::TransposeOp>(op);
}

/// Whether \p value is a product, or follows from one by constants of channels.
static bool isOfProduct(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(op))
      return true;
    auto operand = llvm::find_if(op->getOpOperands(), isChannelwise);
    if (operand != op->getOpOperands().end())
      value = operand->get();
    else if (reshapes(op))
      value = op->getOperand(0);
    else
      return false;
  }
  return false;
}

/// The operand of \p op that is no constant, if it does arithmetic with one
/// such operand; null otherwise.
static Value variableOperand(Operation *op) {
  if (isa<stablehlo::ConvertOp, stablehlo::BitcastConvertOp,
          stablehlo::ReshapeOp, stablehlo::UniformDequantizeOp>(op))
    return op->getOperand(0);
  if (!isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
           stablehlo::DivOp, stablehlo::MinOp, stablehlo::MaxOp,
           stablehlo::ClampOp>(op))
    return {};
  Value found;
  for (Value operand : op->getOperands())
    if (!followsFromConstants(operand)) {
      if (found)
        return {};
      found = operand;
    }
  return found;
}

Value ValueFlow::rounded(Value value) {
  if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return {};
  while (Operation *op = value.getDefiningOp()) {
    if (isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(op))
      return op->getOperand(0);
    if (isa<stablehlo::RoundOp, stablehlo::RoundNearestEvenOp>(op)) {
      Operation *scaling = op->getOperand(0).getDefiningOp();
      return isa_and_nonnull<stablehlo::MulOp, stablehlo::DivOp>(scaling)
                 ? variableOperand(scaling)
                 : Value();
    }
    value = variableOperand(op);
    if (!value)
      return {};
  }
  return {};
}

std::string ValueFlow::unfolded(Value value) {
  SmallVector<StringRef> names;
  if (!isOfProduct(value))
    return "";
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    Operation *op = use.getOwner();
    if (isChannelwise(use)) {
      names.push_back(op->getName().stripDialect());
    } else if (isa<stablehlo::RoundOp, stablehlo::RoundNearestEvenOp>(op)) {
      // The scale of a quantisation.
      if (!names.empty())
        names.pop_back();
      break;
    } else if (!reshapes(op)) {
      break;
    }
    value = op->getResult(0);
  }
  return llvm::join(names, " ");
}

} // namespace sinter
