//===- KernelModule.cpp - all kernels of a program in one LLVM module -----===//

#include "backend/cpu/ahead/KernelModule.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Target/TargetMachine.h"

using namespace sinter;
using namespace sinter::cpu;

/// Makes what \p module defines internal, with the names that begin with \p
/// prefix.
static void internalize(llvm::Module &module, llvm::StringRef prefix) {
  const auto hide = [&](llvm::GlobalValue &value) {
    if (value.isDeclaration() || value.hasPrivateLinkage())
      return;
    value.setLinkage(llvm::GlobalValue::InternalLinkage);
    value.setName(prefix + "." + value.getName());
  };
  for (llvm::Function &function : module)
    hide(function);
  for (llvm::GlobalVariable &variable : module.globals())
    hide(variable);
}

Result<std::unique_ptr<llvm::Module>>
cpu::joinKernels(llvm::LLVMContext &context, llvm::ArrayRef<ObjectFile> kernels,
                 llvm::StringRef prefix, const Target &target) {
  Result<std::unique_ptr<llvm::TargetMachine>> machine = target.createMachine();
  if (!machine)
    return machine.takeError();
  auto joined = std::make_unique<llvm::Module>(prefix, context);
  joined->setTargetTriple(target.triple);
  joined->setDataLayout((*machine)->createDataLayout());
  joined->setPICLevel(llvm::PICLevel::BigPIC);
  llvm::Linker linker(*joined);
  for (const ObjectFile &kernel : kernels) {
    llvm::Expected<std::unique_ptr<llvm::Module>> module =
        llvm::parseBitcodeFile(
            llvm::MemoryBufferRef({kernel.data(), kernel.size()}, "kernel"),
            context);
    if (!module)
      return systemError("cannot read a kernel's bitcode: " +
                         llvm::toString(module.takeError()));
    if (linker.linkInModule(std::move(*module)))
      return systemError("cannot join the kernels' bitcode");
  }
  internalize(*joined, prefix);
  return joined;
}
