//===- SizedSource.cpp - a file that is read for known sizes --------------===//

#include "engine/compiler/SizedSource.h"

#include "engine/compiler/CheckModel.h"
#include "graph/nn/NnDeferred.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter {

Result<std::unique_ptr<ModelSource>>
SizedSource::open(const Format &format, std::unique_ptr<ModelFile> file,
                  const ModelRequest &request) {
  std::unique_ptr<SizedSource> source(
      new SizedSource(format, std::move(file), request));
  if (Result<void> named = checkShapeNames(request, source->declared()); !named)
    return named.takeError();
  if (Result<void> read = source->read(); !read)
    return read.takeError();
  source->known.dataFiles = source->file->dataFiles();
  source->known.metadata = metadataOf(format, *source->file);
  source->known.defaults = source->declaredDefaults();
  return std::unique_ptr<ModelSource>(std::move(source));
}

Result<Model> SizedSource::readToWrite(const Format &format,
                                       std::unique_ptr<ModelFile> file,
                                       const ModelRequest &request,
                                       const RewriteOptions &rewrite,
                                       ModelDescription &description) {
  SizedSource source(format, std::move(file), request);
  description = source.declared();
  description.dataFiles = source.file->dataFiles();
  if (Result<void> named = checkShapeNames(request, description); !named)
    return named.takeError();
  ReadOptions options = source.optionsFor(request.shapes);
  options.keepsUnknown = true;
  options.keepsNodes = true;
  options.freezesDefaults = rewrite.freezesDefaults;
  options.expandsUnknown = rewrite.expandsUnknown;
  Result<Model> model = source.file->read(options);
  if (model)
    if (Result<void> sound = checkModel(*model); !sound)
      return sound.takeError();
  return model;
}

std::string SizedSource::inputNamed(const std::string &name) const {
  const std::vector<std::string> names = declared().inputNames();
  size_t number = 0;
  const bool isNumber = !llvm::StringRef(name).getAsInteger(10, number) &&
                        number < names.size() &&
                        !llvm::is_contained(names, name);
  return isNumber ? names[number] : name;
}

ReadOptions SizedSource::optionsFor(const NamedShapes &shapes) const {
  ReadOptions options;
  options.values = values;
  options.shapes.insert(shapes.begin(), shapes.end());
  options.note = note;
  options.keepsSource = isRewritten;
  return options;
}

/// Reads the graph with the present values and sizes. If an operator needs
/// sizes or values of an input, reading is deferred until they are given.
Result<void> SizedSource::read() {
  ReadOptions options = optionsFor(bound);
  options.keepsUnknown = true;
  options.onRequirement = [this] { hasRequirements = true; };
  Result<Model> read = file->read(options);
  if (read) {
    if (Result<void> sound = checkModel(*read); !sound)
      return sound;
    Result<ModelDescription> description = describeModel(*read);
    if (!description)
      return description.takeError();
    known = std::move(*description);
    for (ModelInput &input : known.inputs)
      input.sizesAreHints = file->suggestsSizes();
    model = std::move(*read);
    isWhole = !model->module()
                   .walk([](nn::DeferredOp) { return WalkResult::interrupt(); })
                   .wasInterrupted();
    return {};
  }
  known = declared();
  const bool mayHelp = llvm::any_of(known.inputs, [](const ModelInput &input) {
    return !input.ranked || mayFeedShapes(input.spec) ||
           llvm::any_of(input.spec.shape,
                        [](int64_t size) { return size < 0; });
  });
  if (read.error().kind != ErrorKind::Unsupported || !mayHelp ||
      file->isHopeless())
    return read.takeError();
  needsMore = read.takeError();
  return {};
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

std::vector<ModelInput> SizedSource::declaredDefaults() const {
  const ModelDescription all = declared();
  std::vector<ModelInput> left;
  for (DeclaredTensor &each : file->defaults())
    if (!all.inputNamed(each.spec.name))
      left.push_back(inputOf(std::move(each), file->suggestsSizes()));
  return left;
}

ModelDescription SizedSource::declared() const {
  ModelDescription description;
  for (DeclaredTensor &each : file->inputs(bound))
    description.inputs.push_back(
        inputOf(std::move(each), file->suggestsSizes()));
  for (DeclaredTensor &each : file->outputs()) {
    description.outputs.emplace_back(std::move(each.spec), each.isRanked);
    description.outputs.back().symbols = std::move(each.symbols);
  }
  return description;
}

Result<Model> SizedSource::asItIs() {
  if (needsMore)
    return *needsMore;
  return model->clone();
}

Result<std::shared_ptr<const Model>> SizedSource::view() {
  if (needsMore) {
    Result<Model> assumed = spelledOutFor({});
    if (!assumed)
      return *needsMore;
    return std::make_shared<const Model>(std::move(*assumed));
  }
  return std::shared_ptr<const Model>(std::shared_ptr<void>(), &*model);
}

/// \p read, if that graph is valid.
static Result<Model> checked(Result<Model> read) {
  if (read)
    if (Result<void> sound = checkModel(*read); !sound)
      return sound.takeError();
  return read;
}

Result<Model> SizedSource::spelledOut() {
  // A complete model may rely on shape guards, unless all sizes are static.
  const bool isStatic = llvm::all_of(known.inputs, [](const ModelInput &each) {
    return !llvm::is_contained(each.spec.shape, -1);
  });
  if (isWhole && isStatic)
    return asItIs();
  ReadOptions options = optionsFor(bound);
  options.keepsUnknown = true;
  options.expandsUnknown = !isWhole;
  options.expandsBroadcasts = true;
  return checked(file->read(options));
}

struct SizedSource::Decisions {
  const AtHand &given;
  /// The inputs of `given`, once they were requested.
  std::optional<std::map<std::string, bool>> taken;
  unsigned readings = 0;
};

/// The branch of each node that chooses between two, as far as it follows from
/// \p given.
std::map<std::string, bool> SizedSource::branchesTaken(const AtHand &given) {
  std::map<std::string, bool> taken;
  ReadOptions options = optionsFor({});
  options.note = nullptr;
  for (size_t i = 0; i < given.shapes.size(); ++i) {
    const std::string &name = known.inputs[i].spec.name;
    options.shapes[name] = given.shapes[i];
    if (i < given.values.size() && given.values[i])
      options.values[name] = *given.values[i];
  }
  options.branches.onKnown = [&](const std::string &place, bool isFirst) {
    taken[place] = isFirst;
  };
  // Nothing to add for what cannot be read.
  static_cast<void>(file->read(options));
  return taken;
}

/// Reads with \p options, and again with a decision for each node that needs
/// one.
Result<Model> SizedSource::readDeciding(ReadOptions &options,
                                        Decisions &decisions) {
  constexpr unsigned mostReadings = 64;
  std::optional<std::string> undecided;
  options.branches.onUndecided = [&](const std::string &place) {
    if (!undecided)
      undecided = place;
  };
  Result<Model> read = file->read(options);
  options.branches.onUndecided = nullptr;
  if (!undecided || ++decisions.readings > mostReadings)
    return read;
  if (!decisions.taken)
    decisions.taken = decisions.given.shapes.empty()
                          ? std::map<std::string, bool>()
                          : branchesTaken(decisions.given);
  if (auto found = decisions.taken->find(*undecided);
      found != decisions.taken->end()) {
    options.branches.takesFirst.insert(*found);
    return readDeciding(options, decisions);
  }
  const std::map<std::string, bool> before = options.branches.takesFirst;
  for (bool isFirst : {true, false}) {
    options.branches.takesFirst = before;
    options.branches.takesFirst[*undecided] = isFirst;
    if (Result<Model> decided = readDeciding(options, decisions); decided)
      return decided;
  }
  return read;
}

Result<Model> SizedSource::spelledOutFor(const AtHand &given) {
  if (isWhole && !hasRequirements)
    return asItIs();
  ReadOptions options = optionsFor(bound);
  options.keepsUnknown = true;
  options.expandsUnknown = !isWhole;
  options.requiresValues = true;
  Decisions decisions{given, {}};
  Result<Model> read = checked(readDeciding(options, decisions));
  known.takesBranches |= read && !options.branches.takesFirst.empty();
  return read;
}

/// \p read, with a model of its own.
static Result<Model> copyOf(const Result<Model> &read) {
  return read ? Result<Model>(read->clone()) : read.error();
}

/// The model for these sizes, or an error that it waits for values.
Result<Model> SizedSource::readForSizes(const std::vector<Shape> &shapes) {
  for (ModelInput &input : known.inputs)
    input.feedsShapes = false;
  const bool same =
      isWhole &&
      llvm::all_of(llvm::zip_equal(known.inputs, shapes), [](const auto &pair) {
        const auto &[input, shape] = pair;
        return input.spec.shape == shape;
      });
  if (same)
    return asItIs();
  if (waits && waits->shapes == shapes)
    return copyOf(waits->read);
  Result<Model> read = readWithValues(shapes, {});
  if (read ? hasResultOfUnknownSize(read->module())
           : read.error().kind == ErrorKind::Unsupported)
    waits = WaitsForValues{shapes, copyOf(read)};
  return read;
}

Result<ModelSource::ForAnyValues>
SizedSource::forAnyValues(const AtHand &given) {
  Result<Model> read = readForSizes(given.shapes);
  if (!read && read.error().kind != ErrorKind::Unsupported)
    return read.takeError();
  if (read && !hasResultOfUnknownSize(read->module()))
    return ForAnyValues{std::move(*read), false};
  ReadOptions options = optionsFor({});
  options.keepsUnknown = options.expandsUnknown = true;
  options.requiresValues = true;
  for (size_t i = 0; i < known.inputs.size(); ++i)
    options.shapes[known.inputs[i].spec.name] = given.shapes[i];
  Decisions decisions{given, {}};
  Result<Model> spelled = checked(readDeciding(options, decisions));
  if (!spelled)
    return spelled.takeError();
  known.takesBranches |= !options.branches.takesFirst.empty();
  return ForAnyValues{std::move(*spelled), true};
}

Result<Model>
SizedSource::specialized(const std::vector<Shape> &shapes,
                         const std::vector<std::optional<Tensor>> &values) {
  Result<Model> read = readForSizes(shapes);
  if (!read && read.error().kind == ErrorKind::Unsupported &&
      llvm::any_of(values, [](const auto &value) { return value.has_value(); }))
    return readWithSomeValues(shapes, values);
  if (!read || !markShapeInputs(*read, known))
    return read;
  return readWithValues(shapes, values);
}

/// Sizes and axes are integers, switches are booleans; inputs of other types
/// are bound only if these do not suffice.
Result<Model> SizedSource::readWithSomeValues(
    const std::vector<Shape> &shapes,
    const std::vector<std::optional<Tensor>> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    known.inputs[i].feedsShapes = values[i] && isInteger(values[i]->type());
  Result<Model> read = readWithValues(shapes, values);
  const bool areAllBound = llvm::all_of(values, [](const auto &value) {
    return !value || isInteger(value->type());
  });
  if (read || read.error().kind != ErrorKind::Unsupported || areAllBound)
    return read;
  for (size_t i = 0; i < values.size(); ++i)
    known.inputs[i].feedsShapes = values[i].has_value();
  return readWithValues(shapes, values);
}

Result<Model>
SizedSource::readWithValues(const std::vector<Shape> &shapes,
                            const std::vector<std::optional<Tensor>> &values) {
  ReadOptions options = optionsFor({});
  for (size_t i = 0; i < known.inputs.size(); ++i) {
    const ModelInput &input = known.inputs[i];
    options.shapes[input.spec.name] = shapes[i];
    if (i < values.size() && input.feedsShapes && values[i])
      options.values[input.spec.name] = *values[i];
  }
  return file->read(options);
}

} // namespace sinter
