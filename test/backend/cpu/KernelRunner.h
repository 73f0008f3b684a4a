//===- KernelRunner.h - compiles and calls kernels in tests ---------------===//

#ifndef SINTER_TEST_BACKEND_CPU_KERNELRUNNER_H
#define SINTER_TEST_BACKEND_CPU_KERNELRUNNER_H

#include "backend/cpu/codegen/Image.h"
#include "backend/cpu/codegen/KernelFunction.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::cpu {

/// A context and a module to put kernels into, and what becomes of it.
class KernelRunner {
public:
  explicit KernelRunner(const Target &target);
  KernelRunner();

  mlir::MLIRContext &context() { return *mlirContext; }
  mlir::ModuleOp module() { return *mlirModule; }
  const Target &target() const { return machine; }

  /// Compiles the module and loads it, if it is for a machine like this one;
  /// dies with a message if that fails. With SINTER_DUMP set in the
  /// environment, prints the assembly.
  void compile();
  /// Calls the kernel `kernel`, or the one of another \p name, which keeps to
  /// \p contract, for all its tasks, on copies of the buffers between pages
  /// that nobody may touch; where it is for another machine, under an emulator
  /// (ForeignRunner.h), which knows `kernel` only. Dies with a message if that
  /// fails.
  void run(const KernelContract &contract, std::span<void *const> buffers,
           const std::string &name = "kernel");
  KernelFunction *kernel(const std::string &name) const;
  double compileSeconds() const { return seconds; }

private:
  Target machine;
  std::unique_ptr<mlir::MLIRContext> mlirContext;
  mlir::OwningOpRef<mlir::ModuleOp> mlirModule;
  std::vector<std::string> names;
  ObjectFile object;
  std::optional<LoadedCode> code;
  double seconds = 0;
};

} // namespace sinter::cpu

#endif // SINTER_TEST_BACKEND_CPU_KERNELRUNNER_H
