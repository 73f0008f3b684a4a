//===- WholeSource.cpp - a file that is read once -------------------------===//

#include "engine/compiler/WholeSource.h"

#include "engine/compiler/CheckModel.h"
#include "passes/FlattenSignature.h"

namespace sinter {

Result<std::unique_ptr<ModelSource>>
WholeSource::open(const Format &format, ModelFile &file,
                  const ModelRequest &request) {
  const std::string &path = request.path;
  ReadOptions options;
  options.note = request.note;
  Result<Model> model = file.read(options);
  if (!model)
    return model.takeError();
  if (!request.function.empty())
    if (auto chosen = selectEntry(model->module(), request.function); !chosen)
      return inFile(chosen.takeError(), path);
  if (Result<void> sound = checkModel(*model); !sound)
    return sound.takeError();
  std::unique_ptr<WholeSource> source(
      new WholeSource(format, std::move(*model)));
  source->dataFiles = source->known.dataFiles = file.dataFiles();
  source->metadata = source->known.metadata = metadataOf(format, file);
  if (request.shapes.empty() && request.dimensionNames.empty())
    return std::unique_ptr<ModelSource>(std::move(source));
  if (Result<void> described = source->describe(); !described)
    return described.takeError();
  if (Result<void> named = checkShapeNames(request, source->known); !named)
    return named.takeError();
  return std::unique_ptr<ModelSource>(std::move(source));
}

Result<void> WholeSource::describe() {
  if (hasSignatureToFlatten(model)) {
    flat = model.clone();
    flattenSignature(*flat);
  }
  Result<ModelDescription> description = describeModel(flat ? *flat : model);
  if (!description)
    return description.takeError();
  known = std::move(*description);
  known.dataFiles = dataFiles;
  known.metadata = metadata;
  return {};
}

Result<Model>
WholeSource::specialized(const std::vector<Shape> &shapes,
                         const std::vector<std::optional<Tensor>> &values) {
  for (ModelInput &input : known.inputs)
    input.feedsShapes = false;
  const Model &runnable = flat ? *flat : model;
  markShapeInputs(runnable, known);
  return runnable.clone();
}

Result<ModelSource::ForAnyValues>
WholeSource::forAnyValues(const AtHand &given) {
  for (ModelInput &input : known.inputs)
    input.feedsShapes = false;
  const Model &runnable = flat ? *flat : model;
  return ForAnyValues{runnable.clone(),
                      hasResultOfUnknownSize(runnable.module())};
}

} // namespace sinter
