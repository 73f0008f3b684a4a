//===- KernelRunner.cpp - compiles and calls kernels in tests -------------===//

#include "backend/cpu/KernelRunner.h"

#include "backend/cpu/kernels/common/KernelBuilder.h"

#include "backend/cpu/ForeignRunner.h"
#include "mlir/IR/DialectRegistry.h"
#include "runtime/GuardedBuffers.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace sinter;
using namespace sinter::cpu;

[[noreturn]] static void die(const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

template <typename T> static T orDie(Result<T> result) {
  if (!result)
    die(result.error().message());
  return std::move(*result);
}

/// Whether code for \p target could run here, as far as the architecture goes.
static bool isOfHost(const Target &target) {
  return llvm::Triple(target.triple).getArch() ==
         llvm::Triple(llvm::sys::getProcessTriple()).getArch();
}

KernelRunner::KernelRunner() : KernelRunner(orDie(Target::host())) {}

KernelRunner::KernelRunner(const Target &target) : machine(target) {
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  mlirContext = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  mlirContext->loadAllAvailableDialects();
  mlirModule = mlir::ModuleOp::create(mlir::UnknownLoc::get(mlirContext.get()));
  tellMachine(module(), machine);
}

void KernelRunner::compile() {
  auto start = std::chrono::steady_clock::now();
  std::string assembly;
  CodegenDumps dumps;
  if (std::getenv("SINTER_DUMP"))
    dumps.assembly = &assembly;
  for (mlir::func::FuncOp function : module().getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isDeclaration())
      names.push_back(function.getName().str());
  object = orDie(cpu::compile(module(), machine, dumps));
  CodeImage linked = orDie(cpu::link(std::span(&object, 1), names));
  seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::fputs(assembly.c_str(), stderr);
  if (isOfHost(machine))
    code.emplace(orDie(LoadedCode::load(linked)));
}

void KernelRunner::run(const KernelContract &contract,
                       std::span<void *const> buffers,
                       const std::string &name) {
  if (!isOfHost(machine)) {
    std::vector<std::span<std::byte>> bytes;
    for (size_t i = 0; i < buffers.size(); ++i)
      bytes.emplace_back(static_cast<std::byte *>(buffers[i]),
                         contract.buffers[i].bytes);
    return runForeign(object, machine.cpu, bytes, contract.tasks);
  }
  KernelFunction *function = kernel(name);
  Result<void> done = callGuarded(contract, buffers, [&](void *const *copies) {
    function(copies, 0, contract.tasks);
  });
  if (!done)
    die(done.error().message());
}

KernelFunction *KernelRunner::kernel(const std::string &name) const {
  auto found = llvm::find(names, name);
  if (!code || found == names.end())
    die("no kernel " + name);
  return code->kernel(found - names.begin());
}
