//===- StablehloSource.cpp - a StableHLO program --------------------------===//

#include "engine/compiler/StablehloSource.h"

#include "engine/compiler/CheckModel.h"
#include "formats/stablehlo/StablehloReader.h"
#include "passes/FlattenBorder.h"

namespace sinter {

Result<std::unique_ptr<ModelSource>>
StablehloSource::open(const ModelRequest &request) {
  const std::string &path = request.path;
  std::string leftOut;
  Result<Model> model = readStablehlo(path, &leftOut);
  if (!model)
    return model.takeError();
  if (!leftOut.empty() && request.note)
    request.note(leftOut);
  if (!request.function.empty())
    if (auto chosen = selectEntry(model->module(), request.function); !chosen) {
      Error error = chosen.takeError();
      error.message = path + ": " + error.message;
      return error;
    }
  if (Result<void> sound = checkModel(*model); !sound)
    return sound.takeError();
  std::unique_ptr<StablehloSource> source(
      new StablehloSource(std::move(*model)));
  if (request.shapes.empty())
    return std::unique_ptr<ModelSource>(std::move(source));
  if (Result<void> described = source->describe(); !described)
    return described.takeError();
  if (Result<void> named = checkShapeNames(path, source->known, request.shapes);
      !named)
    return named.takeError();
  return std::unique_ptr<ModelSource>(std::move(source));
}

Result<void> StablehloSource::describe() {
  if (hasBorderToFlatten(model)) {
    flat = model.clone();
    flattenBorder(*flat);
  }
  Result<ModelDescription> description = describeModel(flat ? *flat : model);
  if (!description)
    return description.takeError();
  known = std::move(*description);
  return {};
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
