//===- StablehloSource.h - a StableHLO program ----------------------------===//

#ifndef SINTER_ENGINE_COMPILER_STABLEHLOSOURCE_H
#define SINTER_ENGINE_COMPILER_STABLEHLOSOURCE_H

#include "engine/compiler/ModelSource.h"

#include <optional>

namespace sinter {

class StablehloSource : public ModelSource {
public:
  static Result<std::unique_ptr<ModelSource>> open(const ModelRequest &request);

  Result<void> describe() override;
  bool isOnnx() const override { return false; }
  Result<Model> asItIs() override { return model.clone(); }
  Result<Model>
  specialized(const std::vector<Shape> &shapes,
              const std::vector<std::optional<Tensor>> &values) override;

private:
  explicit StablehloSource(Model model) : model(std::move(model)) {}

  /// As it is in the file.
  Model model;
  /// The same without tuples and tokens at its border, where it has such.
  std::optional<Model> flat;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_STABLEHLOSOURCE_H
