//===- HalfOperations.cpp - operations without f16 and bf16 instructions --===//

#include "backend/cpu/codegen/HalfOperations.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Operator.h"

using namespace sinter::cpu;

static bool isHalf(const llvm::Value *value) {
  return value->getType()->getScalarType()->is16bitFPTy();
}

static llvm::Type *floatLike(llvm::Type *half) {
  return half->getWithNewType(llvm::Type::getFloatTy(half->getContext()));
}

static void widenOperands(llvm::Instruction &instruction) {
  llvm::IRBuilder<> builder(&instruction);
  for (llvm::Use &operand : instruction.operands())
    if (isHalf(operand))
      operand.set(builder.CreateFPExt(operand, floatLike(operand->getType())));
}

/// \p half with \p change applied to its bits.
static llvm::Value *
onBits(llvm::IRBuilder<> &builder, llvm::Value *half,
       llvm::function_ref<llvm::Value *(llvm::Value *)> change) {
  llvm::Type *bits = half->getType()->getWithNewType(builder.getInt16Ty());
  return builder.CreateBitCast(change(builder.CreateBitCast(half, bits)),
                               half->getType());
}

/// A selection between the bits of two values.
static llvm::Value *chosenBits(llvm::IRBuilder<> &builder,
                               llvm::SelectInst &select) {
  llvm::Type *type = select.getType();
  llvm::Type *bits = type->getWithNewType(builder.getInt16Ty());
  llvm::Value *chosen = builder.CreateSelect(
      select.getCondition(), builder.CreateBitCast(select.getTrueValue(), bits),
      builder.CreateBitCast(select.getFalseValue(), bits));
  return builder.CreateBitCast(chosen, type);
}

/// The replacement of \p instruction; null if it may stay.
static llvm::Value *replacement(llvm::Instruction &instruction) {
  constexpr uint64_t sign = 0x8000, magnitude = 0x7fff;
  llvm::IRBuilder<> builder(&instruction);
  auto constant = [](llvm::Value *like, uint64_t bits) {
    return llvm::ConstantInt::get(like->getType(), bits);
  };
  if (instruction.getOpcode() == llvm::Instruction::FNeg)
    return onBits(builder, instruction.getOperand(0), [&](llvm::Value *bits) {
      return builder.CreateXor(bits, constant(bits, sign));
    });
  if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
    return chosenBits(builder, *select);
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call)
    return nullptr;
  switch (call->getIntrinsicID()) {
  case llvm::Intrinsic::fabs:
    return onBits(builder, call->getArgOperand(0), [&](llvm::Value *bits) {
      return builder.CreateAnd(bits, constant(bits, magnitude));
    });
  case llvm::Intrinsic::floor:
  case llvm::Intrinsic::ceil:
  case llvm::Intrinsic::trunc:
  case llvm::Intrinsic::rint:
  case llvm::Intrinsic::nearbyint:
  case llvm::Intrinsic::round:
  case llvm::Intrinsic::roundeven: {
    llvm::Type *type = call->getType();
    llvm::Value *wide =
        builder.CreateFPExt(call->getArgOperand(0), floatLike(type));
    return builder.CreateFPTrunc(
        builder.CreateUnaryIntrinsic(call->getIntrinsicID(), wide), type);
  }
  default:
    return nullptr;
  }
}

llvm::PreservedAnalyses
WidenHalfOperations::run(llvm::Function &function,
                         llvm::FunctionAnalysisManager &) {
  bool changed = false;
  for (llvm::Instruction &instruction :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    const unsigned first = llvm::isa<llvm::SelectInst>(instruction);
    if (instruction.getNumOperands() == 0 ||
        !isHalf(instruction.getOperand(first)))
      continue;
    if (llvm::isa<llvm::FCmpInst>(instruction)) {
      widenOperands(instruction);
      changed = true;
    } else if (llvm::Value *by = replacement(instruction)) {
      instruction.replaceAllUsesWith(by);
      instruction.eraseFromParent();
      changed = true;
    }
  }
  return changed ? llvm::PreservedAnalyses::none()
                 : llvm::PreservedAnalyses::all();
}

/// Whether \p phi carries no float, or a sum that may be reassociated.
static bool mayReorder(const llvm::PHINode &phi, const llvm::Loop &loop) {
  if (!phi.getType()->isFPOrFPVectorTy())
    return true;
  const llvm::BasicBlock *latch = loop.getLoopLatch();
  const auto *next = latch ? llvm::dyn_cast<llvm::FPMathOperator>(
                                 phi.getIncomingValueForBlock(latch))
                           : nullptr;
  return next && next->hasAllowReassoc() &&
         llvm::is_contained(next->operands(), &phi);
}

llvm::PreservedAnalyses
VectorizeHalfLoops::run(llvm::Function &function,
                        llvm::FunctionAnalysisManager &analyses) const {
  auto isConverted = [&](const llvm::Type *type) {
    return (type->isHalfTy() && convertsF16) ||
           (type->isBFloatTy() && convertsBF16);
  };
  auto computesHalf = [&](const llvm::Instruction &instruction) {
    return llvm::isa<llvm::FPMathOperator, llvm::FPExtInst, llvm::FPTruncInst>(
               instruction) &&
           (isConverted(instruction.getType()) ||
            isConverted(instruction.getOperand(0)->getType()));
  };
  llvm::LLVMContext &context = function.getContext();
  for (llvm::Loop *loop :
       analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (!loop->isInnermost() || loop->getLoopID())
      continue;
    if (!llvm::all_of(loop->getHeader()->phis(),
                      [&](const auto &phi) { return mayReorder(phi, *loop); }))
      continue;
    const bool isOfHalf =
        llvm::any_of(loop->blocks(), [&](const llvm::BasicBlock *block) {
          return llvm::any_of(*block, computesHalf);
        });
    if (!isOfHalf)
      continue;
    llvm::Metadata *width[] = {
        llvm::MDString::get(context, "llvm.loop.vectorize.width"),
        llvm::ConstantAsMetadata::get(
            llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), lanes))};
    llvm::MDNode *id = llvm::MDNode::getDistinct(
        context, {nullptr, llvm::MDNode::get(context, width)});
    id->replaceOperandWith(0, id);
    loop->setLoopID(id);
  }
  return llvm::PreservedAnalyses::all();
}
