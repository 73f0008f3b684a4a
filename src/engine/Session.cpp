//===- Session.cpp - from a model file to something that runs -------------===//

#include "engine/Session.h"

#include "engine/CompilerLibrary.h"
#include "engine/FallbackExecutor.h"
#include "runtime/CpuCount.h"
#include "runtime/CpuFeatures.h"
#include "runtime/MappedFile.h"
#include "runtime/OpenBeneath.h"
#include "runtime/OpenProgram.h"
#include "runtime/ProgramExecutor.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>

namespace sinter {

namespace fs = std::filesystem;

namespace {

/// Milliseconds from its making.
class Stopwatch {
public:
  double milliseconds() const {
    const std::chrono::duration<double, std::milli> passed =
        Clock::now() - start;
    return passed.count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

std::string shapeText(const Shape &shape) {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + ";";
}

/// Adds a mapped file piece by piece and lets go of each: a file that is only
/// hashed should not count towards this process's memory.
void addContents(ProgramKey &key, const MappedFile &file) {
  constexpr size_t pieceBytes = size_t(4) << 20;
  std::span<const std::byte> rest = file.bytes();
  while (!rest.empty()) {
    const auto piece = rest.first(std::min(rest.size(), pieceBytes));
    key.addFile(piece);
    ::madvise(const_cast<std::byte *>(piece.data()), piece.size(),
              MADV_DONTNEED);
    rest = rest.subspan(piece.size());
  }
}

/// The options that a program depends on, as a text.
std::string optionsText(const CompileRequest &request) {
  std::string text = "passes:";
  for (const std::string &label : request.passes.enabledPatterns)
    text += "+" + label;
  for (const std::string &label : request.passes.disabledPatterns)
    text += "-" + label;
  for (const std::string &name : request.passes.allowed)
    text += "~" + name;
  if (request.denormals == Denormals::Keep)
    text += " denormals";
  if (request.ceilings) {
    for (const ArithmeticCeiling &each : request.ceilings->arithmetic)
      text += " " + each.name + " " + std::to_string(each.gops);
    for (const BandwidthCeiling &each : request.ceilings->bandwidth)
      text += " " + each.level + " " + std::to_string(each.gbPerSecond);
  }
  if (!request.cpu.empty())
    text += " cpu " + request.cpu;
  if (!request.features.empty())
    text += " features " + request.features;
  return text + " precision " + std::string(name(request.precision));
}

} // namespace

std::string_view name(Backend backend) {
  return backend == Backend::Cpu ? "cpu" : "interpreter";
}

Session::Session(std::string path, SessionOptions options)
    : path(std::move(path)), options(std::move(options)),
      cache(this->options.cacheFolder, this->options.note),
      sizes(this->options.shapes) {}

unsigned Session::threads() const {
  return options.threads ? options.threads : usableCpuCount();
}

Result<std::unique_ptr<Session>> Session::open(const std::string &path,
                                               SessionOptions options) {
  const Stopwatch watch;
  std::unique_ptr<Session> session(new Session(path, std::move(options)));
  if (Result<void> described = session->describe(); !described)
    return inFile(described.takeError(), path);
  if (Result<void> known =
          checkBoundNames(session->description, session->options.most);
      !known)
    return inFile(known.takeError(), path);
  session->measured.loadMs = watch.milliseconds();
  return session;
}

/// Adds a model's file, or every file of its folder with its name.
static Result<void> addModel(ProgramKey &key, const std::string &path) {
  std::error_code failed;
  std::vector<std::string> files;
  if (fs::is_directory(path, failed)) {
    for (fs::recursive_directory_iterator entry(path, failed), end;
         !failed && entry != end; entry.increment(failed)) {
      // A link that leads nowhere ends nothing.
      std::error_code ignored;
      if (entry->is_regular_file(ignored))
        files.push_back(entry->path().string());
    }
    if (failed)
      return fileError("read", path, failed.value());
    std::sort(files.begin(), files.end());
    for (const std::string &file : files)
      key.addOptions(file.substr(path.size()));
  } else {
    files.push_back(path);
  }
  for (const std::string &file : files) {
    auto mapped = MappedFile::open(file);
    if (!mapped)
      return mapped.takeError();
    addContents(key, **mapped);
  }
  return {};
}

Result<void> Session::hashModel() {
  ProgramKey key;
  if (Result<void> added = addModel(key, path); !added)
    return added;
  key.addOptions(compilerIdentity()).addOptions(options.function);
  if (const OpenOptions &opening = options.opening; !opening.areDefault()) {
    key.addOptions(opening.parameters);
    if (opening.randomParameters)
      key.addOptions("random " + std::to_string(*opening.randomParameters));
    else if (Result<void> added = addModel(key, opening.parameters); !added)
      return added;
  }
  if (options.openSizes != OpenSizes::Wanted)
    for (const auto &[name, shape] : options.shapes)
      key.addOptions(name).addOptions(shapeText(shape));
  for (const DimensionName &each : options.dimensionNames)
    key.addOptions(each.input)
        .addOptions(std::to_string(each.dimension))
        .addOptions(each.symbol);
  for (const auto &[name, tensor] : options.bound) {
    key.addOptions(name).addOptions(shapeText(tensor.shape()));
    key.addFile({tensor.data(), tensor.bytes()});
  }
  modelHash = key.finish();
  descriptionPath =
      options.cacheFolder + "/" + modelHash.text() + "-model.sinter";
  return {};
}

bool Session::describeFromCache() {
  std::error_code ignored;
  if (!fs::exists(descriptionPath, ignored))
    return false;
  Result<std::string> text = readFile(descriptionPath, size_t(1) << 26);
  if (!text)
    return false;
  std::optional<ModelDescription> known = descriptionFromJson(*text);
  if (!known)
    return false;
  description = std::move(*known);
  ::utimensat(AT_FDCWD, descriptionPath.c_str(), nullptr, 0);
  return true;
}

Result<void> Session::describe() {
  const bool cached =
      options.backend == Backend::Cpu && !options.cacheFolder.empty();
  if (!cached)
    return read();
  if (Result<void> hashed = hashModel(); !hashed)
    return hashed;
  return describeFromCache() ? Result<void>() : read();
}

Result<void> Session::read() {
  CompileStages stages(options.stages);
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  ModelRequest request;
  request.path = path;
  if (options.openSizes != OpenSizes::Wanted)
    request.shapes = options.shapes;
  request.dimensionNames = options.dimensionNames;
  request.bound = options.bound;
  request.function = options.function;
  request.note = options.note;
  request.opening = options.opening;
  auto model = (*compiler)->open(request);
  if (!model)
    return model.takeError();
  source = std::move(*model);
  description = source->description();
  stages.end("read");
  return {};
}

Result<std::vector<Shape>>
Session::bind(std::span<const std::optional<Tensor>> given) const {
  Result<std::vector<Shape>> shapes =
      bindShapes(description, sizes, given, options.note);
  if (!shapes)
    return inFile(shapes.takeError(), path);
  return shapes;
}

CompileRequest Session::requestFor(std::span<const Tensor> inputs) {
  CompileRequest request;
  request.values.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    request.shapes.push_back(inputs[i].shape());
    if (mayFeedShapes({"", inputs[i].type(), inputs[i].shape()}))
      request.values[i] = inputs[i];
  }
  if (options.openSizes != OpenSizes::None && options.backend == Backend::Cpu)
    request.open = openShapes(inputs);
  request.closed = [this](const std::string &why) { refusal = why; };
  request.perValues = [this](const std::string &why) {
    if (options.note && !std::exchange(toldPerValues, true))
      options.note("the program is for these values only: " + why);
  };
  request.passes = options.passes;
  request.interpretsRewritten = options.interpretsRewritten;
  static_cast<CodeOptions &>(request) = options;
  request.threads = threads();
  request.ceilings = options.ceilings;
  request.choice = options.choice;
  request.kernelFolder = options.cacheFolder;
  request.compiler = compilerIdentity();
  request.progress = options.progress;
  request.stages = options.stages;
  return request;
}

/// Whether \p program is for all sizes of what is open, not only for all
/// values.
static bool isForAllSizes(const Program &program) {
  return program.open &&
         std::ranges::any_of(program.inputs, [](const TensorSpec &input) {
           return std::ranges::find(input.shape, -1) != input.shape.end();
         });
}

/// Whether \p program, which is open, is for the sizes of \p inputs; else the
/// limit that they are beyond.
static Result<void> serves(const Program &program,
                           std::span<const Tensor> inputs) {
  Result<std::vector<int64_t>> parameters = parametersOf(program, inputs);
  // What is wrong with the inputs shows when they are run.
  return parameters ? checkLimits(program, *parameters) : Result<void>();
}

/// Whether there are programs for what is open of \p request.
bool Session::hasOpenPrograms(const CompileRequest &request) const {
  return !openPrograms.empty() &&
         openFor == (request.open.empty() ? request.shapes : request.open);
}

/// One of those for all sizes that is for the sizes of \p inputs, or null.
std::shared_ptr<const Program>
Session::openProgramFor(std::span<const Tensor> inputs) const {
  auto found = std::ranges::find_if(openPrograms, [&](const auto &program) {
    return bool(serves(*program, inputs));
  });
  return found == openPrograms.end() ? nullptr : *found;
}

/// Whether dimension \p dim of \p input, of which the file has no size, stays
/// open.
bool Session::staysOpen(const ModelInput &input, size_t dim) const {
  if (options.openSizes == OpenSizes::Wanted)
    return options.open.empty() ||
           std::ranges::find(options.open, symbolOf(input, dim)) !=
               options.open.end();
  return std::ranges::none_of(options.shapes, [&](const auto &given) {
    const auto &[name, shape] = given;
    const std::optional<size_t> index = description.inputNamed(name);
    return index && &description.inputs[*index] == &input &&
           dim < shape.size() && shape[dim] >= 0;
  });
}

/// The shapes of the inputs with -1 for what stays open; none if nothing does.
std::vector<Shape> Session::openShapes(std::span<const Tensor> inputs) const {
  std::vector<Shape> shapes;
  bool isOpen = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModelInput &input = description.inputs[i];
    Shape &shape = shapes.emplace_back(inputs[i].shape());
    if (!input.ranked || input.spec.shape.size() != shape.size())
      return {};
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      if (input.spec.shape[dim] >= 0 || !staysOpen(input, dim))
        continue;
      shape[dim] = -1;
      isOpen = true;
    }
  }
  return isOpen ? shapes : std::vector<Shape>();
}

/// Data files are those that were opened when the model was read, which decides
/// what may be; here links are followed. An error where one cannot be read.
Result<Hash128> Session::programKey(const CompileRequest &request,
                                    bool isOpen) const {
  ProgramKey key;
  key.addOptions(modelHash.text()).addOptions(optionsText(request));
  const fs::path folder = fs::path(path).parent_path();
  for (const std::string &name : description.dataFiles) {
    auto file = MappedFile::open((folder / name).string());
    if (!file)
      return file.takeError();
    addContents(key, **file);
  }
  if (isOpen)
    key.addOptions("open");
  // Those before are for other branches.
  if (isOpen && hasOpenPrograms(request))
    key.addOptions(std::to_string(openPrograms.size()));
  if (request.forValues)
    key.addOptions("values");
  for (size_t i = 0; i < request.shapes.size(); ++i) {
    key.addOptions(shapeText(isOpen ? request.open[i] : request.shapes[i]));
    if (isOpen)
      continue;
    const bool counts = request.forValues || description.inputs[i].feedsShapes;
    if (counts && request.values[i])
      key.addFile({request.values[i]->data(), request.values[i]->bytes()});
  }
  return key.finish();
}

/// Takes what is open out of \p request, unless other branches may be taken for
/// it: the programs that there are for all sizes are not for its own, by \p
/// limit.
void Session::closeUnlessBranches(CompileRequest &request, const Error &limit) {
  constexpr size_t most = 16;
  if (description.takesBranches && !hasOtherLimits && refusedFor.empty() &&
      openPrograms.size() < most && !request.open.empty())
    return;
  request.open.clear();
  if (options.note && !std::exchange(toldLimit, true))
    options.note("the program for all sizes is not for these: " +
                 limit.message);
}

/// Makes a program for \p request ready: one for all sizes, if it is for those
/// of \p inputs, or else one for these alone.
Result<void> Session::makeReady(CompileRequest &request,
                                std::span<const Tensor> inputs) {
  if (request.observed.empty() && hasOpenPrograms(request)) {
    if (auto known = openProgramFor(inputs))
      return known == compiled ? Result<void>() : execute(known);
    closeUnlessBranches(request, serves(*openPrograms.back(), inputs).error());
  }
  if (options.backend != Backend::Cpu)
    return interpret(request);
  Result<void> done = compile(request, inputs);
  while (done && compiled->open) {
    const bool isForAll = isForAllSizes(*compiled);
    if (!isForAll && !openPrograms.empty() &&
        isForAllSizes(*openPrograms.front()))
      break;
    const std::vector<Shape> &of = isForAll ? request.open : request.shapes;
    if (openFor != of) {
      openPrograms.clear();
      openFor = of;
    }
    openPrograms.push_back(compiled);
    const Result<void> within = serves(*compiled, inputs);
    if (within) {
      if (openPrograms.size() > 1 && !measured.fromCache && options.note &&
          !std::exchange(toldBranches, true))
        options.note("one more program for all sizes, since these take other "
                     "branches than those before");
      break;
    }
    hasOtherLimits |= !measured.fromCache;
    closeUnlessBranches(request, within.error());
    done = compile(request, inputs);
    if (request.open.empty())
      break;
  }
  return done;
}

Result<void> Session::prepare(std::span<const Tensor> inputs,
                              std::span<const int64_t> observed) {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < description.inputs.size(); ++i) {
    const ModelInput &input = description.inputs[i];
    specs.push_back(i < inputs.size() ? input.specFor(inputs[i].shape())
                                      : input.spec);
  }
  if (Result<void> fit = checkInputs(specs, inputs); !fit)
    return inFile(fit.takeError(), path);
  CompileRequest &request = prepared = requestFor(inputs);
  if (Result<void> within =
          checkBounds(description, options.most, request.shapes);
      !within)
    return inFile(within.takeError(), path);
  request.observed.assign(observed.begin(), observed.end());
  // Observers are told of values of known shapes.
  if (!request.observed.empty())
    request.open.clear();
  if (request.passes.verifyNumerics && !request.open.empty()) {
    refusal = "every pass is checked with values, for which sizes are known";
    refuseToOpen(request);
    tellRefusal();
  }
  measured.compileMs = 0;
  measured.fromCache = false;
  if (request.open == refusedFor && !hasOpenPrograms(request))
    request.open.clear();
  Result<void> done = makeReady(request, inputs);
  if (done)
    return {};
  if (options.backend == Backend::Cpu && source &&
      done.error().kind == ErrorKind::Unsupported)
    return interpretInstead(request, inFile(done.takeError(), path));
  return inFile(done.takeError(), path);
}

/// Runs on the interpreter what was not compiled, if that may be, or says that
/// it could.
Result<void> Session::interpretInstead(const CompileRequest &request,
                                       Error why) {
  // What cannot be read is the same for both.
  if (Result<void> done = interpret(request); !done)
    return why;
  if (options.mayInterpret) {
    if (options.note)
      options.note(why.message + "; runs on the interpreter, which is slow");
    return {};
  }
  ready = nullptr;
  why.message += "; the interpreter can run it";
  return why;
}

Result<RunFacts> Session::runFacts() {
  if (!source)
    if (Result<void> done = read(); !done)
      return inFile(done.takeError(), path);
  Result<RunFacts> facts =
      source->runFacts(prepared, options.backend == Backend::Cpu);
  if (!facts)
    return inFile(facts.takeError(), path);
  return facts;
}

Result<void> Session::interpret(const CompileRequest &request) {
  const Stopwatch watch;
  auto executor = source->interpret(request);
  if (!executor)
    return executor.takeError();
  ready = std::move(*executor);
  description = source->description();
  measured.compileMs = watch.milliseconds();
  return {};
}

void Session::rememberDescription() {
  // Where the folder cannot be written, the cache has said so.
  std::error_code ignored;
  if (fs::exists(options.cacheFolder, ignored))
    if (Result<void> written =
            writeFileAtomically(descriptionPath, toJson(description));
        !written && options.note)
      options.note(written.error().message);
}

std::shared_ptr<const Program> Session::fromCache(const Hash128 &key) {
  std::shared_ptr<const Program> program = cache.lookup(key);
  // What the user wants of another machine is not made again.
  if (!program || !options.cpu.empty() || !options.features.empty())
    return program;
  Result<void> fits = checkHost(program->triple, program->features);
  if (fits)
    return program;
  if (options.note)
    options.note("the cached program is compiled anew: " +
                 fits.error().message);
  return nullptr;
}

std::string Session::refusalPath(const Hash128 &key) const {
  return options.cacheFolder + "/" + key.text() + "-closed.sinter";
}

/// \p request is not to be opened, for `refusal`.
void Session::refuseToOpen(CompileRequest &request) {
  refusedFor = std::move(request.open);
  request.open.clear();
}

/// Keeps it that \p request cannot be opened, so that nobody tries again.
void Session::keepRefusal(const CompileRequest &request) const {
  Result<Hash128> key = programKey(request, /*isOpen=*/true);
  if (!key || refusal.empty())
    return;
  makeCacheFolder(options.cacheFolder);
  // Where the folder cannot be written, the cache says so.
  static_cast<void>(writeFileAtomically(refusalPath(*key), refusal));
}

/// Once a model: other sizes are compiled by themselves for the same reason.
void Session::tellRefusal() {
  if (options.note && !refusal.empty() && !std::exchange(toldRefusal, true))
    options.note("the program is for these sizes only: " + refusal);
}

std::shared_ptr<const Program> Session::kept(CompileRequest &request) {
  // Where a data file cannot be read, reading the model reports it.
  if (!request.open.empty()) {
    Result<Hash128> key = programKey(request, /*isOpen=*/true);
    if (!key)
      return nullptr;
    if (auto program = fromCache(*key))
      return program;
    std::error_code ignored;
    constexpr size_t longest = 1 << 16;
    if (!fs::exists(refusalPath(*key), ignored))
      return nullptr;
    Result<std::string> why = readFile(refusalPath(*key), longest);
    if (!why)
      return nullptr;
    refusal = std::move(*why);
    refuseToOpen(request);
  }
  Result<Hash128> key = programKey(request, /*isOpen=*/false);
  return key ? fromCache(*key) : nullptr;
}

/// Makes a program for \p request, or takes one that was kept.
Result<void> Session::compile(CompileRequest &request,
                              std::span<const Tensor> inputs) {
  const Stopwatch watch;
  const bool watched = request.passes.verifyNumerics ||
                       request.passes.verifyEach ||
                       !request.passes.printIrAfter.empty();
  // What is only made to look into it is not kept.
  const bool caching =
      !options.cacheFolder.empty() && request.observed.empty() &&
      request.passes.mostSteps == std::numeric_limits<uint64_t>::max();
  if (caching && !watched)
    if (auto program = kept(request)) {
      measured.fromCache = true;
      Result<void> done = execute(std::move(program));
      measured.loadMs += watch.milliseconds();
      return done;
    }
  if (!source)
    if (Result<void> done = read(); !done)
      return done;
  measured.loadMs += watch.milliseconds();
  // A kept one for all sizes may have turned out not to be for these.
  measured.fromCache = false;

  const Stopwatch compilation;
  Result<std::shared_ptr<const Program>> program = source->compile(request);
  if (!program)
    return program.takeError();
  measured.compileMs = compilation.milliseconds();
  // Which inputs feed shapes is known only now.
  description = source->description();
  const bool isForAll = isForAllSizes(**program);
  if (!request.open.empty() && !isForAll) {
    if (caching)
      keepRefusal(request);
    refuseToOpen(request);
  }
  if (!isForAll)
    tellRefusal();
  // Nobody asks again for one more that is not even for its own sizes.
  const bool isOneTooMany =
      isForAll && hasOpenPrograms(request) && !serves(**program, inputs);
  if (caching && !isOneTooMany) {
    if (Result<Hash128> key = programKey(request, isForAll)) {
      cache.store(*key, **program);
      rememberDescription();
    } else if (options.note) {
      options.note("the compiled program is not kept: " + key.error().message);
    }
  }
  return execute(std::move(*program));
}

Result<std::unique_ptr<Executor>> Session::anotherExecutor() {
  if (!compiled)
    return source->interpret(prepared);
  return executorOf(compiled, 1);
}

Result<std::unique_ptr<ProgramExecutor>>
Session::programExecutor(std::shared_ptr<const Program> program,
                         unsigned wanted) const {
  ProgramExecutorOptions how;
  how.threads = wanted;
  how.denormals = options.denormals;
  how.most = options.most;
  return ProgramExecutor::create(std::move(program),
                                 ThreadPool::ofProcess(wanted), std::move(how));
}

Result<std::unique_ptr<Executor>>
Session::executorOf(std::shared_ptr<const Program> program, unsigned wanted) {
  const bool computesSizes =
      program->open &&
      std::ranges::any_of(program->steps, [](const Step &step) {
        return step.kind == StepKind::Size;
      });
  auto executor = programExecutor(std::move(program), wanted);
  if (!executor)
    return executor.takeError();
  if (!computesSizes)
    return std::unique_ptr<Executor>(std::move(*executor));
  return std::unique_ptr<Executor>(std::make_unique<FallbackExecutor>(
      std::move(*executor),
      [this, wanted](std::span<const Tensor> inputs, const Error &why) {
        return executorForValues(inputs, wanted, why);
      }));
}

/// The program for all values is not for those of \p inputs.
Result<std::unique_ptr<Executor>>
Session::executorForValues(std::span<const Tensor> inputs, unsigned wanted,
                           const Error &why) {
  const std::lock_guard lock(makesForValues);
  CompileRequest request = requestFor(inputs);
  request.open.clear();
  request.forValues = true;
  const bool caching = !options.cacheFolder.empty();
  Result<Hash128> key = programKey(request, /*isOpen=*/false);
  std::shared_ptr<const Program> program;
  if (caching && key)
    program = fromCache(*key);
  if (!program) {
    if (!source)
      if (Result<void> done = read(); !done)
        return done.takeError();
    auto made = source->compile(request);
    if (!made)
      return made.takeError();
    program = std::move(*made);
    if (caching && key)
      cache.store(*key, *program);
  }
  if (options.note && !std::exchange(toldLimit, true))
    options.note("the program for all values is not for these: " + why.message);
  auto executor = programExecutor(std::move(program), wanted);
  if (!executor)
    return executor.takeError();
  return std::unique_ptr<Executor>(std::move(*executor));
}

Result<void> Session::execute(std::shared_ptr<const Program> program) {
  auto executor = executorOf(program, threads());
  if (!executor)
    return executor.takeError();
  compiled = std::move(program);
  if (ready)
    if (Result<void> carried = carryStates(*ready, **executor); !carried)
      return carried;
  ready = std::move(*executor);
  return {};
}

} // namespace sinter
