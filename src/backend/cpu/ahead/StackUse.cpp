//===- StackUse.cpp - how much stack a module's functions take ------------===//

#include "backend/cpu/ahead/StackUse.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

#include <optional>

using namespace sinter;
using namespace sinter::cpu;

namespace {

class StackWalk {
public:
  explicit StackWalk(const StackFrames &frames) : frames(frames) {}

  /// Nothing if \p function calls itself in the end.
  std::optional<uint64_t> useOf(const llvm::Function &function) {
    if (function.isDeclaration())
      return 0;
    const auto [known, isNew] = uses.try_emplace(&function, std::nullopt);
    if (!isNew)
      return known->second;
    uint64_t below = 0;
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &instruction : block) {
        const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (!call)
          continue;
        for (const llvm::Function *callee : calleesOf(*call)) {
          const std::optional<uint64_t> use = useOf(*callee);
          if (!use)
            return std::nullopt;
          below = std::max(below, *use);
        }
      }
    const uint64_t use =
        frames.lookup(function.getName()) + besideFrame + below;
    uses[&function] = use;
    return use;
  }

private:
  /// What \p call may call: a function, those that it says an address is one
  /// of, and what is handed to others, to be called back.
  static llvm::SmallVector<const llvm::Function *>
  calleesOf(const llvm::CallBase &call) {
    llvm::SmallVector<const llvm::Function *> callees;
    for (const llvm::Use &operand : call.operands())
      if (const auto *function = llvm::dyn_cast<llvm::Function>(operand.get()))
        callees.push_back(function);
    if (const llvm::MDNode *known =
            call.getMetadata(llvm::LLVMContext::MD_callees))
      for (const llvm::MDOperand &each : known->operands())
        if (const auto *function =
                llvm::mdconst::dyn_extract_or_null<llvm::Function>(each))
          callees.push_back(function);
    return callees;
  }

  const StackFrames &frames;
  llvm::DenseMap<const llvm::Function *, std::optional<uint64_t>> uses;
};

} // namespace

void cpu::reportStackFrames(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("warn-stack-size", "0");
}

Result<uint64_t> cpu::stackUse(const llvm::Module &module,
                               const StackFrames &frames) {
  StackWalk walk(frames);
  uint64_t most = 0;
  for (const llvm::Function &function : module) {
    const std::optional<uint64_t> use = walk.useOf(function);
    if (!use)
      return systemError("function " + function.getName().str() +
                         " calls itself, so that its stack has no bound");
    most = std::max(most, *use);
  }
  return most;
}
