//===- KernelRunner.cpp - compiles and calls kernels in tests -------------===//

#include "backend/cpu/KernelRunner.h"

#include "backend/cpu/emit/KernelBuilder.h"

#include "mlir/IR/DialectRegistry.h"

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
    die(result.error().message);
  return std::move(*result);
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
  ObjectFile object = orDie(cpu::compile(module(), machine, dumps));
  CodeImage linked = orDie(cpu::link(std::span(&object, 1), names));
  seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::fputs(assembly.c_str(), stderr);
  code.emplace(orDie(LoadedCode::load(linked)));
}

KernelFunction *KernelRunner::kernel(const std::string &name) const {
  auto found = llvm::find(names, name);
  if (!code || found == names.end())
    die("no kernel " + name);
  return code->kernel(found - names.begin());
}
