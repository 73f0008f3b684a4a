//===- Pass.h - base class of passes --------------------------------------===//

#ifndef SINTER_PASSES_PASS_H
#define SINTER_PASSES_PASS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"

namespace sinter {

/// A pass over a module whose patterns have labels: within a pipeline a common
/// PatternRun enables them; on its own the pass has options for them.
template <typename Derived>
class LabelledPass
    : public mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
  using Base = mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>>;

public:
  explicit LabelledPass(std::shared_ptr<PatternRun> run = nullptr)
      : shared(std::move(run)) {}
  LabelledPass(const LabelledPass &other) : Base(other), shared(other.shared) {}

  mlir::LogicalResult initialize(mlir::MLIRContext *context) final {
    if (shared)
      return mlir::success();
    auto created = PatternRun::create(
        std::vector<std::string>(disabled.begin(), disabled.end()),
        std::vector<std::string>(enabled.begin(), enabled.end()),
        std::vector<std::string>(allowed.begin(), allowed.end()));
    if (!created)
      return mlir::emitError(mlir::UnknownLoc::get(context),
                             created.error().message());
    shared = *created;
    return mlir::success();
  }

protected:
  PatternRun &patternRun() { return *shared; }

private:
  std::shared_ptr<PatternRun> shared;
  mlir::Pass::ListOption<std::string> disabled{
      *this, "disable-patterns",
      llvm::cl::desc("Patterns that do not apply (all: none)")};
  mlir::Pass::ListOption<std::string> enabled{
      *this, "enable-patterns",
      llvm::cl::desc("Patterns that apply though they do not by default")};
  mlir::Pass::ListOption<std::string> allowed{
      *this, "allow", llvm::cl::desc("What floats may be taken for")};
};

} // namespace sinter

#endif // SINTER_PASSES_PASS_H
