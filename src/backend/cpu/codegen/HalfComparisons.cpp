#include "backend/cpu/codegen/HalfComparisons.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace sinter::cpu;

llvm::PreservedAnalyses
WidenHalfComparisons::run(llvm::Function &function,
                          llvm::FunctionAnalysisManager &analyses) {
  bool changed = false;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction);
    if (!compare)
      continue;
    llvm::Type *type = compare->getOperand(0)->getType();
    if (!type->getScalarType()->is16bitFPTy())
      continue;
    llvm::IRBuilder<> builder(compare);
    llvm::Type *wide =
        type->getWithNewType(llvm::Type::getFloatTy(function.getContext()));
    for (llvm::Use &operand : compare->operands())
      operand.set(builder.CreateFPExt(operand.get(), wide));
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none()
                 : llvm::PreservedAnalyses::all();
}
