//===- PassSetting.h - what the backend's passes are run for --------------===//
//
// The machine and how exact products are; and, where a pass may do one of
// several things, who is told what each of them should take.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_TARGET_PASSSETTING_H
#define SINTER_BACKEND_CPU_TARGET_PASSSETTING_H

#include "backend/cpu/target/Alternative.h"
#include "backend/cpu/target/Target.h"
#include "mlir/IR/Location.h"
#include "runtime/Precision.h"

#include <functional>

namespace sinter::cpu {

struct ProgramNesting;

struct PassSetting {
  Target target;
  /// Of products of which the model does not say it.
  Precision precision = Precision::Default;
  /// Which sizes are known only when the program runs: those of inputs, or
  /// some that it computes. Passes that do not keep such sizes are left out, or
  /// see only what has none.
  enum class UnknownSizes { None, OfInputs, Computed };
  UnknownSizes unknown = UnknownSizes::None;
  /// Which loops and branches become programs of their own; null for none.
  ProgramNesting *nesting = nullptr;
  /// Told of what passes choose from, once a choice; may be null.
  std::function<void(mlir::Location, const Alternatives &)> onChoice;

  /// The fastest of \p alternatives, of which there is one at least, for what
  /// stands at \p location.
  llvm::StringRef choose(mlir::Location location,
                         const Alternatives &alternatives) const {
    if (onChoice)
      onChoice(location, alternatives);
    return alternatives.front().kernel;
  }
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_TARGET_PASSSETTING_H
