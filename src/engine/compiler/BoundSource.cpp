//===- BoundSource.cpp - a model with some inputs bound -------------------===//

#include "engine/compiler/BoundSource.h"

#include "graph/storage/Storage.h"
#include "passes/BindArguments.h"
#include "passes/FlattenSignature.h"

namespace sinter {

Result<std::unique_ptr<ModelSource>>
BoundSource::create(std::unique_ptr<ModelSource> whole, NamedTensors bound,
                    std::vector<std::string> files) {
  if (Result<void> described = whole->describe(); !described)
    return described.takeError();
  Result<Model> model = whole->asItIs();
  if (!model)
    return model.takeError();
  flattenSignature(*model);
  Result<Storage> storage = Storage::of(*model);
  if (!storage)
    return storage.takeError();
  std::unique_ptr<BoundSource> source(
      new BoundSource(std::move(whole), std::move(bound), std::move(files)));
  source->places.resize(source->whole->description().inputs.size());
  const ArgumentNames names(model->entry());
  for (size_t i = 0; i < source->bound.size(); ++i) {
    Result<unsigned> index =
        names.find(source->bound[i].first, bindOption(source->files, i));
    if (!index)
      return index.takeError();
    // States are arguments, but not inputs.
    const auto *place = llvm::find(storage->inputs(), *index);
    source->places[place - storage->inputs().begin()] = i;
  }
  // Mismatches are reported now.
  if (Result<void> done = bindArguments(*model, source->bound, source->files);
      !done)
    return done.takeError();
  Result<ModelDescription> rest = describeModel(*model);
  if (!rest)
    return rest.takeError();
  source->rest = std::move(*rest);
  source->describeRest();
  return std::unique_ptr<ModelSource>(std::move(source));
}

void BoundSource::describeRest() {
  const ModelDescription &all = whole->description();
  known = all;
  known.inputs.clear();
  known.outputs = rest.outputs;
  for (size_t i = 0; i < all.inputs.size(); ++i) {
    if (places[i])
      continue;
    const size_t next = known.inputs.size();
    known.inputs.push_back(all.inputs[i]);
    // Sizes of the arrays may depend on this one.
    known.inputs[next].spec = rest.inputs[next].spec;
    known.inputs[next].symbols = rest.inputs[next].symbols;
  }
}

Result<Model> BoundSource::bind(Result<Model> model) const {
  if (!model)
    return model;
  flattenSignature(*model);
  if (Result<void> done = bindArguments(*model, bound, files); !done)
    return done.takeError();
  return model;
}

Result<Model> BoundSource::asItIs() { return bind(whole->asItIs()); }
Result<Model> BoundSource::spelledOut() { return bind(whole->spelledOut()); }

Result<Model> BoundSource::spelledOutFor(const AtHand &given) {
  return bind(
      whole->spelledOutFor(given.shapes.empty() ? given : ofAll(given)));
}

Result<Model>
BoundSource::specialized(const std::vector<Shape> &shapes,
                         const std::vector<std::optional<Tensor>> &values) {
  const AtHand all = ofAll({shapes, values});
  Result<Model> model = bind(whole->specialized(all.shapes, all.values));
  describeRest();
  return model;
}

/// \p given, with the bound inputs inserted.
ModelSource::AtHand BoundSource::ofAll(const AtHand &given) const {
  AtHand all;
  size_t next = 0;
  for (const std::optional<size_t> &place : places) {
    if (place) {
      const Tensor &value = bound[*place].second;
      all.shapes.push_back(value.shape());
      all.values.emplace_back(value);
      continue;
    }
    all.shapes.push_back(next < given.shapes.size() ? given.shapes[next]
                                                    : Shape());
    all.values.push_back(next < given.values.size() ? given.values[next]
                                                    : std::nullopt);
    ++next;
  }
  return all;
}

Result<ModelSource::ForAnyValues>
BoundSource::forAnyValues(const AtHand &given) {
  Result<ForAnyValues> read = whole->forAnyValues(ofAll(given));
  if (!read)
    return read;
  const bool hasDynamicSizes = read->hasDynamicSizes;
  Result<Model> model = bind(std::move(read->model));
  if (!model)
    return model.takeError();
  describeRest();
  return ForAnyValues{std::move(*model), hasDynamicSizes};
}

} // namespace sinter
