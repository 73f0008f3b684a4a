//===- WholeSource.h - a file that is read once ---------------------------===//

#ifndef SINTER_ENGINE_COMPILER_WHOLESOURCE_H
#define SINTER_ENGINE_COMPILER_WHOLESOURCE_H

#include "engine/compiler/ModelSource.h"

#include <optional>

namespace sinter {

class WholeSource : public ModelSource {
public:
  static Result<std::unique_ptr<ModelSource>>
  open(const Format &format, ModelFile &file, const ModelRequest &request);

  Result<void> describe() override;
  Result<Model> asItIs() override { return model.clone(); }
  Result<std::shared_ptr<const Model>> view() override {
    return std::shared_ptr<const Model>(std::shared_ptr<void>(), &model);
  }
  Result<Model>
  specialized(const std::vector<Shape> &shapes,
              const std::vector<std::optional<Tensor>> &values) override;
  Result<ForAnyValues> forAnyValues(const AtHand &given) override;

private:
  WholeSource(const Format &format, Model model)
      : ModelSource(format), model(std::move(model)) {}

  /// As it is in the file.
  Model model;
  std::vector<std::string> dataFiles;
  ModelMetadata metadata;
  /// The same without tuples and tokens in its signature, if it has such.
  std::optional<Model> flat;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_WHOLESOURCE_H
