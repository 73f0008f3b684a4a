//===- StablehloSource.cpp - a StableHLO program --------------------------===//

#include "engine/compiler/StablehloSource.h"

#include "formats/stablehlo/StablehloReader.h"

namespace sinter {

Result<std::unique_ptr<ModelSource>>
StablehloSource::open(const std::string &path, const NamedShapes &shapes) {
  Result<Model> model = readStablehlo(path);
  if (!model)
    return model.takeError();
  Result<ModelDescription> description = describe(*model);
  if (!description)
    return description.takeError();
  if (Result<void> named = checkShapeNames(path, *description, shapes); !named)
    return named.takeError();
  std::unique_ptr<StablehloSource> source(
      new StablehloSource(std::move(*model)));
  source->known = std::move(*description);
  return std::unique_ptr<ModelSource>(std::move(source));
}

Result<Model>
StablehloSource::specialized(const std::vector<Shape> &shapes,
                             const std::vector<std::optional<Tensor>> &values) {
  for (ModelInput &input : known.inputs)
    input.feedsShapes = false;
  markShapeInputs(model, known);
  for (ModelInput &input : known.inputs)
    input.feedsShapes = false;
  markShapeInputs(model, known);
  return asItIs();
}

} // namespace sinter
