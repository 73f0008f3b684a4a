//===- GuardedCompiler.h - the compiler, safe from LLVM's fatal errors ----===//

#ifndef SINTER_ENGINE_COMPILER_GUARDEDCOMPILER_H
#define SINTER_ENGINE_COMPILER_GUARDEDCOMPILER_H

#include "engine/compiler/MlirCompiler.h"

namespace sinter {

/// The compiler, with each call that reads, rewrites or compiles a model on a
/// guarded thread with a deep stack (runtime/DeepStack.h): it may be called
/// from threads with any stack. Fatal errors of LLVM and MLIR become errors:
/// Unsupported, or System if memory is short.
class GuardedCompiler : public MlirCompiler {
public:
  /// Enables this for the process.
  GuardedCompiler();

  Result<std::unique_ptr<CompilerModel>>
  open(const ModelRequest &request) override;
  Result<std::vector<FunctionDescription>>
  functions(const ModelRequest &request) override;
  Result<OptimizeReport> optimize(const OptimizeRequest &request) override;
  Result<void> convert(const ConvertRequest &request) override;
  Result<QuantizeReport> quantize(const QuantizeRequest &request) override;
  Result<std::unique_ptr<TrainableModel>>
  train(const TrainRequest &request) override;
  Result<void> test(const std::string &path, size_t first,
                    const TestRequest &request,
                    TestObserver &observer) override;
  Result<ReduceOutcome> reduce(const ReduceRequest &request) override;
  Result<MachineCeilings> measureMachine(double seconds) override;
  Result<std::vector<TargetFacts>> targets(const std::string &triple) override;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_GUARDEDCOMPILER_H
