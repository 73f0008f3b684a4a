//===- ModelSource.cpp - a model file, translated for each need -----------===//

#include "engine/compiler/ModelSource.h"

#include "engine/compiler/CheckModel.h"
#include "engine/compiler/FindFormat.h"
#include "graph/nn/NnDeferred.h"
#include "graph/storage/Storage.h"
#include "passes/BindArguments.h"
#include "passes/FlattenSignature.h"
#include "passes/Specialize.h"
#include "runtime/OptionNames.h"
#include "runtime/Suggestions.h"

using namespace mlir;

namespace sinter {

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Checks that every name in the shapes of \p request is an input of the model
/// that \p description is of, and every name of a dimension the one that it
/// has.
static Result<void> checkShapeNames(const ModelRequest &request,
                                    const ModelDescription &description) {
  const std::vector<std::string> names = description.inputNames();
  for (const auto &[name, shape] : request.shapes)
    if (!description.inputNamed(name))
      return withHint(suggestion(name, names),
                      inFile(usageError(optionText("shape") +
                                        ": there is no input '" + name + "'"),
                             request.path));
  for (const DimensionName &each : request.dimensionNames) {
    const ModelInput &input =
        description.inputs[*description.inputNamed(each.input)];
    const size_t dim = each.dimension;
    const bool isThere = dim < input.spec.shape.size();
    const std::string symbol =
        dim < input.symbols.size() ? input.symbols[dim] : "";
    const bool isKnown = isThere && input.spec.shape[dim] >= 0;
    if (!input.ranked ||
        (isThere && !isKnown && (symbol.empty() || symbol == each.symbol)))
      continue;
    return inFile(usageError(optionText("shape") + ": dimension " +
                             std::to_string(dim) + " of input '" +
                             input.spec.name + "' is not called '" +
                             each.symbol + "'; the input is " + input.text()),
                  request.path);
  }
  return {};
}

Result<std::unique_ptr<ModelSource>>
ModelSource::open(const ModelRequest &request) {
  const std::string &path = request.path;
  Result<const Format *> format = findFormat(path);
  if (!format)
    return format.takeError();
  if (!request.function.empty() && !(*format)->hasFunctions)
    return inFile(
        usageError(optionText("function") + ": a model in the format " +
                   (*format)->title.str() + " has no functions to choose from"),
        path);
  auto file = openModelFile(**format, path, request.opening);
  if (!file)
    return file.takeError();
  std::unique_ptr<ModelSource> source(
      new ModelSource(**format, std::move(*file), request));
  source->base.note = request.note;
  source->base.keepsSource = request.keepsSource;
  if (Result<void> read = source->readSignature(); !read)
    return read.takeError();
  return source;
}

/// As the file declares it.
static ModelInput inputOf(DeclaredTensor declared, bool sizesAreHints) {
  ModelInput input;
  input.spec = std::move(declared.spec);
  input.symbols = std::move(declared.symbols);
  input.ranked = declared.isRanked;
  input.sizesAreHints = sizesAreHints;
  return input;
}

void ModelSource::describeDeclared(const Signature &declared) {
  for (const DeclaredTensor &each : declared.inputs)
    whole.inputs.push_back(inputOf(each, declared.sizesAreHints));
  for (const DeclaredTensor &each : declared.outputs) {
    whole.outputs.emplace_back(each.spec, each.isRanked);
    whole.outputs.back().symbols = each.symbols;
  }
  for (const DeclaredTensor &each : declared.defaults)
    if (!whole.inputNamed(each.spec.name))
      whole.defaults.push_back(inputOf(each, declared.sizesAreHints));
}

/// The name of the input \p name, which may be an index into \p names.
static std::string inputNamed(const std::string &name,
                              const std::vector<std::string> &names) {
  size_t number = 0;
  const bool isNumber = !llvm::StringRef(name).getAsInteger(10, number) &&
                        number < names.size() &&
                        !llvm::is_contained(names, name);
  return isNumber ? names[number] : name;
}

/// What the file says of itself; after it was read, or if it has a signature.
ModelMetadata ModelSource::metadata() const {
  ModelMetadata all = file->metadata();
  all.format = itsFormat.name.str();
  return all;
}

/// Reads what the file declares of the model, if that is what describes it.
Result<void> ModelSource::readSignature() {
  whole.dataFiles = file->dataFiles();
  std::optional<Signature> declared = file->signature(asIsOptions());
  if (!declared)
    return {};
  dependsOnSizes = true;
  std::set<std::string> given(request.replacedDefaults.begin(),
                              request.replacedDefaults.end());
  for (const auto &[name, shape] : request.shapes)
    given.insert(name);
  for (const auto &[name, tensor] : request.bound)
    given.insert(name);
  for (const DeclaredTensor &each : declared->defaults)
    if (given.contains(each.spec.name))
      base.replacedDefaults.insert(each.spec.name);
  describeDeclared(*file->signature(asIsOptions()));
  whole.metadata = metadata();
  // Sizes, axes and switches.
  for (const auto &[name, tensor] : request.bound)
    if (isInteger(tensor.type()) &&
        mayFeedShapes({name, tensor.type(), tensor.shape()}))
      base.values[inputNamed(name, whole.inputNames())] = tensor;
  updateDescription();
  return checkShapeNames(request, whole);
}

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

/// \p read, if that graph is valid.
static Result<Model> checked(Result<Model> read) {
  if (read)
    if (Result<void> sound = checkModel(*read); !sound)
      return sound.takeError();
  return read;
}

/// Translates the file, whose entry is the function that was chosen.
Result<Model> ModelSource::readSelected(const ReadOptions &options) {
  Result<Model> read = file->read(options);
  if (read)
    whole.metadata = metadata();
  if (read && !request.function.empty())
    if (auto chosen = selectEntry(read->module(), request.function); !chosen)
      return inFile(chosen.takeError(), request.path);
  return read;
}

/// Whether the file can be translated if what values decide is expanded.
bool ModelSource::isReadExpanded() {
  if (!dependsOnSizes)
    return false;
  ReadOptions options = asIsOptions();
  options.expandsUnknown = true;
  return bool(checked(readSelected(options)));
}

/// Translates the file as it is. If an operator needs sizes or values of an
/// input, that waits until they are given.
Result<void> ModelSource::readAsIs() {
  if (model || needsMore)
    return {};
  ReadOptions options = asIsOptions();
  options.onRequirement = [this] { hasRequirements = true; };
  Result<Model> read = checked(readSelected(options));
  if (read) {
    model = std::move(*read);
    isComplete =
        !model->module()
             .walk([](nn::DeferredOp) { return WalkResult::interrupt(); })
             .wasInterrupted();
    return dependsOnSizes || !request.shapes.empty() ||
                   !request.dimensionNames.empty()
               ? describeGraph()
               : Result<void>();
  }
  const bool mayHelp = llvm::any_of(whole.inputs, [](const ModelInput &input) {
    return !input.ranked || mayFeedShapes(input.spec) ||
           llvm::is_contained(input.spec.shape, -1);
  });
  if (read.error().kind != ErrorKind::Unsupported || file->isHopeless() ||
      !(mayHelp || isReadExpanded()))
    return read.takeError();
  needsMore = read.takeError();
  return {};
}

/// Describes the graph as it is.
Result<void> ModelSource::describeGraph() {
  if (isDescribed)
    return {};
  if (!dependsOnSizes && hasSignatureToFlatten(*model)) {
    flat = model->clone();
    flattenSignature(*flat);
  }
  Result<ModelDescription> description = describeModel(flat ? *flat : *model);
  if (!description)
    return description.takeError();
  const bool sizesAreHints = llvm::any_of(
      whole.inputs, [](const ModelInput &each) { return each.sizesAreHints; });
  for (ModelInput &input : description->inputs)
    input.sizesAreHints = sizesAreHints;
  addSymbols(whole.outputs, description->outputs);
  description->dataFiles = std::move(whole.dataFiles);
  description->defaults = std::move(whole.defaults);
  description->metadata = std::move(whole.metadata);
  whole = std::move(*description);
  isDescribed = true;
  updateDescription();
  return dependsOnSizes ? Result<void>() : checkShapeNames(request, whole);
}

Result<void> ModelSource::describe() {
  if (Result<void> read = readAsIs(); !read)
    return read;
  if (model)
    if (Result<void> described = describeGraph(); !described)
      return described;
  return request.bound.empty() ? Result<void>() : describeBound();
}

/// Describes the graph with some inputs bound. Mismatches are reported now.
Result<void> ModelSource::describeBound() {
  if (!boundAt.empty())
    return {};
  Result<Model> graph = copyOfAsIs();
  if (!graph)
    return graph.takeError();
  flattenSignature(*graph);
  Result<Storage> storage = Storage::of(*graph);
  if (!storage)
    return storage.takeError();
  std::vector<std::optional<size_t>> places(whole.inputs.size());
  const ArgumentNames names(graph->entry());
  for (size_t i = 0; i < request.bound.size(); ++i) {
    Result<unsigned> index =
        names.find(request.bound[i].first, bindOption(request.boundFiles, i));
    if (!index)
      return index.takeError();
    // States are arguments, but not inputs.
    const auto *place = llvm::find(storage->inputs(), *index);
    if (place != storage->inputs().end())
      places[place - storage->inputs().begin()] = i;
  }
  if (Result<void> done = bind(*graph); !done)
    return done;
  Result<ModelDescription> description = describeModel(*graph);
  if (!description)
    return description.takeError();
  rest = std::move(*description);
  boundAt = std::move(places);
  updateDescription();
  return {};
}

/// Makes `known` that of the inputs that are not bound, as far as the arrays
/// determine it.
void ModelSource::updateDescription() {
  known = whole;
  if (boundAt.empty())
    return;
  known.inputs.clear();
  known.outputs = rest.outputs;
  for (auto [place, input] : llvm::zip_equal(boundAt, whole.inputs)) {
    if (place)
      continue;
    // Sizes of the arrays may depend on this one.
    const ModelInput &after = rest.inputs[known.inputs.size()];
    known.inputs.push_back(input);
    known.inputs.back().spec = after.spec;
    known.inputs.back().symbols = after.symbols;
  }
}

//===----------------------------------------------------------------------===//
// Bound inputs
//===----------------------------------------------------------------------===//

/// \p given, with the bound inputs inserted.
GraphRequest ModelSource::ofAllInputs(const GraphRequest &given) const {
  const bool isUnknown =
      given.kind == GraphKind::Dynamic && given.shapes.empty();
  if (boundAt.empty() || isUnknown)
    return given;
  GraphRequest all = given;
  all.shapes.clear();
  all.values.clear();
  size_t next = 0;
  for (const std::optional<size_t> &place : boundAt) {
    if (place) {
      const Tensor &value = request.bound[*place].second;
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

Result<void> ModelSource::bind(Model &graph) const {
  flattenSignature(graph);
  return bindArguments(graph, request.bound, request.boundFiles);
}

//===----------------------------------------------------------------------===//
// Translations
//===----------------------------------------------------------------------===//

static Result<TranslatedGraph> graphOf(Result<Model> read,
                                       bool hasDynamicSizes = false) {
  if (!read)
    return read.takeError();
  return TranslatedGraph{std::move(*read), hasDynamicSizes};
}

Result<TranslatedGraph> ModelSource::translate(const GraphRequest &given) {
  const bool isBound = !request.bound.empty();
  if (given.kind == GraphKind::OwnFormat && dependsOnSizes && !isBound)
    return graphOf(toRewrite(given.rewrite));
  if (Result<void> ready = isBound ? describe() : readAsIs(); !ready)
    return ready.takeError();
  Result<TranslatedGraph> graph = translateWhole(ofAllInputs(given));
  if (graph && isBound)
    if (Result<void> done = bind(graph->model); !done)
      return done.takeError();
  updateDescription();
  return graph;
}

Result<std::shared_ptr<const Model>> ModelSource::view() {
  if (Result<void> ready = readAsIs(); !ready)
    return ready.takeError();
  if (model && request.bound.empty())
    return std::shared_ptr<const Model>(std::shared_ptr<void>(), &*model);
  Result<TranslatedGraph> graph =
      translate({.kind = model ? GraphKind::AsIs : GraphKind::Dynamic});
  if (!graph)
    return needsMore ? *needsMore : graph.takeError();
  return std::make_shared<const Model>(std::move(graph->model));
}

/// The graph, with all inputs.
Result<TranslatedGraph> ModelSource::translateWhole(const GraphRequest &given) {
  switch (given.kind) {
  case GraphKind::AsIs:
    return graphOf(copyOfAsIs());
  case GraphKind::OwnFormat:
    return graphOf(atGivenShapes(copyOfAsIs()));
  case GraphKind::OtherFormat:
    return graphOf(toConvert());
  case GraphKind::Dynamic:
    return graphOf(withDynamicSizes(given));
  case GraphKind::AnyValues:
    return forAnyValues(given);
  case GraphKind::Static:
    return graphOf(specialized(given));
  }
  llvm_unreachable("all kinds are above");
}

ReadOptions ModelSource::asIsOptions() const {
  ReadOptions options = base;
  options.shapes.insert(request.shapes.begin(), request.shapes.end());
  options.keepsUnknown = true;
  return options;
}

/// For inputs of the shapes of \p given.
ReadOptions ModelSource::optionsFor(const GraphRequest &given) const {
  ReadOptions options = base;
  for (auto [input, shape] : llvm::zip_equal(whole.inputs, given.shapes))
    options.shapes[input.spec.name] = shape;
  return options;
}

Result<Model> ModelSource::copyOfAsIs() const {
  if (needsMore)
    return *needsMore;
  return model->clone();
}

/// \p read at the shapes of the request, if the file is translated once, and
/// knows nothing of them; other dimensions stay dynamic.
Result<Model> ModelSource::atGivenShapes(Result<Model> read) const {
  if (!read || dependsOnSizes || request.shapes.empty())
    return read;
  SpecializeOptions sizes;
  sizes.leavesDynamic = true;
  for (const auto &[name, shape] : request.shapes) {
    const std::optional<size_t> input = whole.inputNamed(name);
    sizes.shapes[input ? whole.inputs[*input].spec.name : name] = shape;
  }
  if (Result<void> done = specialize(*read, sizes); !done)
    return done.takeError();
  return read;
}

Result<Model> ModelSource::toRewrite(const RewriteOptions &rewrite) {
  ReadOptions options = asIsOptions();
  options.keepsNodes = true;
  options.freezesDefaults = rewrite.freezesDefaults;
  options.expandsUnknown = rewrite.expandsUnknown;
  options.standardOperators = rewrite.standardOperators;
  return checked(file->read(options));
}

Result<Model> ModelSource::toConvert() {
  // A complete model may rely on shape guards, unless all sizes are static.
  const bool isStatic = llvm::all_of(whole.inputs, [](const ModelInput &each) {
    return !llvm::is_contained(each.spec.shape, -1);
  });
  if (!dependsOnSizes || (isComplete && isStatic))
    return atGivenShapes(copyOfAsIs());
  ReadOptions options = asIsOptions();
  options.expandsUnknown = !isComplete;
  options.expandsBroadcasts = true;
  return checked(file->read(options));
}

Result<Model> ModelSource::withDynamicSizes(const GraphRequest &given) {
  if (!dependsOnSizes || (isComplete && !hasRequirements))
    return copyOfAsIs();
  ReadOptions options = asIsOptions();
  options.expandsUnknown = !isComplete;
  return readDeciding(given, std::move(options));
}

/// Reads a graph that is compiled. Nodes take the branches that the inputs of
/// \p given take.
Result<Model> ModelSource::readDeciding(const GraphRequest &given,
                                        ReadOptions options) {
  options.requiresValues = true;
  BranchSearch search([&] { return branchesTaken(given); });
  Result<Model> read = checked(search.read(*file, std::move(options)));
  whole.takesBranches |= read && search.hasDecided();
  return read;
}

/// The branch of each node that chooses between two, as far as it follows from
/// \p given.
TakenBranches ModelSource::branchesTaken(const GraphRequest &given) {
  if (given.shapes.empty())
    return {};
  ReadOptions options = optionsFor(given);
  for (auto [input, value] : llvm::zip(whole.inputs, given.values))
    if (value)
      options.values[input.spec.name] = *value;
  // Without values, whoever is refused the graph asks for this one next.
  if (options.values.size() == base.values.size()) {
    static_cast<void>(readForShapes(given.shapes, /*isKept=*/true));
    return kept ? kept->taken : TakenBranches();
  }
  TakenBranches taken;
  options.note = nullptr;
  options.branches.onKnown = [&](const std::string &place, bool isFirst) {
    taken[place] = isFirst;
  };
  // Nothing to add for what cannot be read.
  static_cast<void>(file->read(options));
  return taken;
}

/// \p read, with a model of its own.
static Result<Model> copyOf(const Result<Model> &read) {
  return read ? Result<Model>(read->clone()) : read.error();
}

/// The graph for these shapes, or an error that it waits for values. It is kept
/// if \p isKept, or if whoever asked must ask again.
Result<Model> ModelSource::readForShapes(const std::vector<Shape> &shapes,
                                         bool isKept) {
  if (kept && kept->shapes == shapes)
    return copyOf(kept->read);
  TakenBranches taken;
  ReadOptions options = optionsFor({.shapes = shapes});
  options.branches.onKnown = [&](const std::string &place, bool isFirst) {
    taken[place] = isFirst;
  };
  Result<Model> read = file->read(options);
  if (isKept || (read ? hasResultOfUnknownSize(read->module())
                      : read.error().kind == ErrorKind::Unsupported))
    kept.emplace(shapes, copyOf(read), std::move(taken));
  return read;
}

/// The graph for these shapes, which describes no input as one that feeds
/// shapes.
Result<Model> ModelSource::forShapes(const std::vector<Shape> &shapes) {
  for (ModelInput &input : whole.inputs)
    input.feedsShapes = false;
  if (!dependsOnSizes)
    return flat ? flat->clone() : model->clone();
  const bool isAsIs =
      isComplete &&
      llvm::all_of(llvm::zip_equal(whole.inputs, shapes), [](const auto &pair) {
        const auto &[input, shape] = pair;
        return input.spec.shape == shape;
      });
  return isAsIs ? copyOfAsIs() : readForShapes(shapes, /*isKept=*/false);
}

Result<TranslatedGraph> ModelSource::forAnyValues(const GraphRequest &given) {
  Result<Model> read = forShapes(given.shapes);
  if (!read && read.error().kind != ErrorKind::Unsupported)
    return read.takeError();
  const bool isDynamic = !read || hasResultOfUnknownSize(read->module());
  if (!isDynamic || !dependsOnSizes)
    return graphOf(std::move(read), isDynamic);
  ReadOptions options = optionsFor(given);
  options.keepsUnknown = options.expandsUnknown = true;
  return graphOf(readDeciding(given, std::move(options)), true);
}

Result<Model> ModelSource::specialized(const GraphRequest &given) {
  Result<Model> read = forShapes(given.shapes);
  if (!read && read.error().kind == ErrorKind::Unsupported &&
      llvm::any_of(given.values,
                   [](const auto &value) { return value.has_value(); }))
    return withSomeValues(given);
  if (!read || !markShapeInputs(*read, whole) || !dependsOnSizes)
    return read;
  const bool bindsValues =
      llvm::any_of(llvm::zip(whole.inputs, given.values), [](const auto &pair) {
        const auto &[input, value] = pair;
        return input.feedsShapes && value;
      });
  return bindsValues ? withValues(given) : std::move(read);
}

/// Sizes and axes are integers, switches are booleans; inputs of other types
/// are bound only if these do not suffice.
Result<Model> ModelSource::withSomeValues(const GraphRequest &given) {
  bool areAllBound = true;
  for (auto [input, value] : llvm::zip(whole.inputs, given.values)) {
    input.feedsShapes = value && isInteger(value->type());
    areAllBound &= !value || input.feedsShapes;
  }
  Result<Model> read = withValues(given);
  if (read || read.error().kind != ErrorKind::Unsupported || areAllBound)
    return read;
  for (auto [input, value] : llvm::zip(whole.inputs, given.values))
    input.feedsShapes = value.has_value();
  return withValues(given);
}

/// The graph for the values of inputs that feed shapes.
Result<Model> ModelSource::withValues(const GraphRequest &given) {
  ReadOptions options = optionsFor(given);
  for (auto [input, value] : llvm::zip(whole.inputs, given.values))
    if (input.feedsShapes && value)
      options.values[input.spec.name] = *value;
  return file->read(options);
}

} // namespace sinter
