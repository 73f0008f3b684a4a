//===- Emitter.cpp - from LLVM IR to a file -------------------------------===//

#include "backend/cpu/codegen/Emitter.h"

#include "graph/Verification.h"

#include "llvm/IR/Function.h"
#include "llvm/Pass.h"
#include "llvm/Target/TargetMachine.h"

using namespace sinter;
using namespace sinter::cpu;

Result<std::unique_ptr<llvm::TargetMachine>> cpu::createMachine(Target target,
                                                                CodeKind kind) {
  if (kind == CodeKind::Tiles && !target.hasMatrixUnits)
    return systemError("a kernel uses matrix units, which the target does not "
                       "have");
  if (kind == CodeKind::Loops && target.hasMatrixUnits)
    target.features +=
        (target.features.empty() ? "" : ",") + std::string("-amx-tile");
  return target.createMachine();
}

void cpu::setCodeAttributes(llvm::Function &function, const Target &target,
                            const llvm::TargetMachine &machine) {
  function.addFnAttr("target-cpu", machine.getTargetCPU());
  function.addFnAttr("target-features", machine.getTargetFeatureString());
  function.addFnAttr("prefer-vector-width",
                     std::to_string(target.vectorBytes() * 8));
  function.addFnAttr("no-trapping-math", "true");
  if (target.isSmall)
    function.addFnAttr(llvm::Attribute::OptimizeForSize);
}

void KernelPasses::add(llvm::Pass *pass) {
  const llvm::StringRef name = pass->getPassName();
  if (name == "Loop Strength Reduction" ||
      name == "X86 Domain Reassignment Pass" ||
      (kind == CodeKind::Tiles &&
       name == "Early Machine Loop Invariant Code Motion"))
    delete pass;
  else
    llvm::legacy::PassManager::add(pass);
}

Emitter::Emitter(llvm::TargetMachine &machine, CodeKind kind,
                 llvm::CodeGenFileType type)
    : stream(output), passes(kind),
      canEmit(!machine.addPassesToEmitFile(
          passes, stream, nullptr, type,
          /*DisableVerify=*/!verifiesEachStage())) {}

Result<llvm::ArrayRef<char>> Emitter::emit(llvm::Module &module) & {
  if (!canEmit)
    return systemError("the target cannot emit this kind of file");
  output.clear();
  passes.run(module);
  return llvm::ArrayRef<char>(output);
}
