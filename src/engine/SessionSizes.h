//===- SessionSizes.h - sizes of a session's inputs -----------------------===//
//
//     bind             a size for every dimension of every input
//     dynamicShapes    -1 for each dimension that stays dynamic in a program
//
// bind() serves callers without data for all inputs; a program for data at hand
// takes the sizes of that.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_SESSIONSIZES_H
#define SINTER_ENGINE_SESSIONSIZES_H

#include "engine/SampleSizes.h"
#include "engine/SessionOptions.h"

#include <mutex>

namespace sinter {

class SessionSizes {
public:
  explicit SessionSizes(const SessionOptions &options)
      : options(options), sizes(options.shapes) {}

  /// The sizes that are bound from now on, instead of those of the options.
  void set(NamedShapes shapes);

  /// As bindShapes().
  Result<std::vector<Shape>>
  bind(const ModelDescription &model,
       std::span<const std::optional<Tensor>> given) const;
  /// As knownShapes().
  Result<std::vector<Shape>>
  known(const ModelDescription &model,
        std::span<const std::optional<Tensor>> given) const;

  /// The shapes of \p inputs with -1 for what stays dynamic; none if nothing
  /// does.
  std::vector<Shape> dynamicShapes(const ModelDescription &model,
                                   std::span<const Tensor> inputs) const;

private:
  NamedShapes bound() const;
  bool staysDynamic(const ModelDescription &model, const ModelInput &input,
                    size_t dim) const;

  const SessionOptions &options;
  mutable std::mutex setting;
  NamedShapes sizes;
};

} // namespace sinter

#endif // SINTER_ENGINE_SESSIONSIZES_H
