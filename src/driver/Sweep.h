//===- Sweep.h - a model at several sizes of one dimension ----------------===//

#ifndef SINTER_DRIVER_SWEEP_H
#define SINTER_DRIVER_SWEEP_H

#include "engine/Binding.h"

#include <string>
#include <vector>

namespace sinter::driver {

/// An unknown dimension of a model, by its name, and the sizes that it takes in
/// turn.
struct Sweep {
  std::string symbol;
  std::vector<int64_t> sizes;

  /// "sequence=16,33,128". Usage where it is not of that form.
  static Result<Sweep> parse(const std::string &text);

  /// What --shape would say for \p size: \p given, with it wherever an input
  /// of \p model has the dimension. Usage where none has, or where \p given has
  /// another size there.
  Result<NamedShapes> shapesAt(int64_t size, const ModelDescription &model,
                               const NamedShapes &given) const;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_SWEEP_H
