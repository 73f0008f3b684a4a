//===- Sweep.h - a model at several sizes of one dimension ----------------===//

#ifndef SINTER_DRIVER_SWEEP_H
#define SINTER_DRIVER_SWEEP_H

#include "engine/Binding.h"

#include <string>
#include <vector>

namespace sinter::driver {

/// A dynamic dimension of a model, by its symbol, and the sizes to measure.
struct Sweep {
  std::string symbol;
  std::vector<int64_t> sizes;

  /// Parses "sequence=16,33,128". Usage error for other texts.
  static Result<Sweep> parse(const std::string &text);

  /// The --shape for \p size: \p given, with this size wherever an input of \p
  /// model has the dimension. Usage error if none has, or if \p given has
  /// another size there.
  Result<NamedShapes> shapesAt(int64_t size, const ModelDescription &model,
                               const NamedShapes &given) const;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_SWEEP_H
