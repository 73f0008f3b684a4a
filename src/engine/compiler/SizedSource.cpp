//===- SizedSource.cpp - a file that is read for the sizes that are known -===//

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
  return std::unique_ptr<ModelSource>(std::move(source));
}

Result<Model> SizedSource::readToWrite(const Format &format,
                                       std::unique_ptr<ModelFile> file,
                                       const ModelRequest &request,
                                       bool freezesDefaults,
                                       ModelDescription &description) {
  SizedSource source(format, std::move(file), request);
  description = source.declared();
  description.dataFiles = source.file->dataFiles();
  if (Result<void> named = checkShapeNames(request, description); !named)
    return named.takeError();
  ReadOptions options = source.optionsFor(request.shapes);
  options.keepsUnknown = true;
  options.keepsNodes = true;
  options.freezesDefaults = freezesDefaults;
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

/// Reads the graph with what is known so far. Where that fails because an
/// operator must know an input's sizes or values, reading waits until they are
/// given.
Result<void> SizedSource::read() {
  ReadOptions options = optionsFor(bound);
  options.keepsUnknown = true;
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

ModelDescription SizedSource::declared() const {
  ModelDescription description;
  for (DeclaredTensor each : file->inputs(bound)) {
    ModelInput input;
    input.spec = std::move(each.spec);
    input.symbols = std::move(each.symbols);
    input.ranked = each.isRanked;
    input.sizesAreHints = file->suggestsSizes();
    description.inputs.push_back(std::move(input));
  }
  for (DeclaredTensor each : file->outputs())
    description.outputs.emplace_back(std::move(each.spec), each.isRanked);
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

/// \p read, if that is a sound graph.
static Result<Model> checked(Result<Model> read) {
  if (read)
    if (Result<void> sound = checkModel(*read); !sound)
      return sound.takeError();
  return read;
}

Result<Model> SizedSource::spelledOut() {
  if (isWhole)
    return asItIs();
  ReadOptions options = optionsFor(bound);
  options.keepsUnknown = options.spellsUnknown = true;
  return checked(file->read(options));
}

struct SizedSource::Decisions {
  const AtHand &given;
  /// What `given` takes, once that was asked for.
  std::optional<std::map<std::string, bool>> taken;
  unsigned readings = 0;
};

/// Which graph each node takes that chooses between two, as far as that is
/// known with what is \p given.
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
  // What cannot be read has nothing to say.
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
  if (isWhole)
    return asItIs();
  ReadOptions options = optionsFor(bound);
  options.keepsUnknown = options.spellsUnknown = true;
  Decisions decisions{given, {}};
  Result<Model> read = checked(readDeciding(options, decisions));
  known.takesBranches |= read && !options.branches.takesFirst.empty();
  return read;
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
  return same ? asItIs() : readWithValues(shapes, {});
}

Result<ModelSource::ForAnyValues>
SizedSource::forAnyValues(const AtHand &given) {
  Result<Model> read = readForSizes(given.shapes);
  if (!read && read.error().kind != ErrorKind::Unsupported)
    return read.takeError();
  if (read && !hasResultOfUnknownSize(read->module()))
    return ForAnyValues{std::move(*read), false};
  ReadOptions options = optionsFor({});
  options.keepsUnknown = options.spellsUnknown = true;
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

/// Sizes and axes are integers, switches are booleans; only where these do not
/// suffice, numbers of other types are bound as well.
Result<Model> SizedSource::readWithSomeValues(
    const std::vector<Shape> &shapes,
    const std::vector<std::optional<Tensor>> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    known.inputs[i].feedsShapes = values[i] && isInteger(values[i]->type());
  Result<Model> read = readWithValues(shapes, values);
  if (read || read.error().kind != ErrorKind::Unsupported)
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
