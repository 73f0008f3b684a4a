//===- StablehloSource.cpp - a StableHLO program --------------------------===//

#include "engine/compiler/StablehloSource.h"

#include "formats/stablehlo/StablehloReader.h"
#include "passes/FlattenBorder.h"

namespace sinter {

Result<std::unique_ptr<ModelSource>>
StablehloSource::open(const ModelRequest &request) {
  const std::string &path = request.path;
  Result<Model> model = readStablehlo(path);
  if (!model)
    return model.takeError();
  if (!request.function.empty())
    if (auto chosen = selectEntry(model->module(), request.function); !chosen) {
      Error error = chosen.takeError();
      error.message = path + ": " + error.message;
      return error;
    }
  std::optional<Model> flat;
  if (hasBorderToFlatten(*model)) {
    flat = model->clone();
    flattenBorder(*flat);
  }
  Result<ModelDescription> description = describe(flat ? *flat : *model);
  if (!description)
    return description.takeError();
  if (Result<void> named = checkShapeNames(path, *description, request.shapes);
      !named)
    return named.takeError();
  std::unique_ptr<StablehloSource> source(
      new StablehloSource(std::move(*model)));
  source->flat = std::move(flat);
  source->known = std::move(*description);
  return std::unique_ptr<ModelSource>(std::move(source));
}

Result<Model>
StablehloSource::specialized(const std::vector<Shape> &shapes,
                             const std::vector<std::optional<Tensor>> &values) {
  for (ModelInput &input : known.inputs)
    input.feedsShapes = false;
  const Model &runnable = flat ? *flat : model;
  markShapeInputs(runnable, known);
  return runnable.clone();
}

} // namespace sinter
