//===- Session.cpp - from a model file to something that runs -------------===//

#include "engine/Session.h"

#include "engine/CompilerLibrary.h"
#include "engine/LockedExecutor.h"
#include "engine/NamedSizes.h"
#include "engine/SessionExecutors.h"
#include "engine/VerifyDynamic.h"
#include "runtime/OptionNames.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>

namespace sinter {

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

Session::Session(const std::string &path, SessionOptions given)
    : options(std::move(given)), notes(options), source(path, options),
      sizes(options), keys(path, options), cache(options, notes),
      programs(options, source, keys, cache, notes) {}

Result<std::unique_ptr<Session>> Session::open(const std::string &path,
                                               SessionOptions options) {
  const Stopwatch watch;
  std::unique_ptr<Session> session(new Session(path, std::move(options)));
  if (Result<void> described = catchingOutOfMemory(
          "'" + path + "'", [&] { return session->describe(); });
      !described)
    return inFile(described.takeError(), path);
  if (Result<void> known =
          checkBoundNames(session->model(), session->options.most);
      !known)
    return inFile(known.takeError(), path);
  if (Result<void> known =
          checkSymbols(session->model(), session->options.dynamic, "dynamic");
      !known)
    return inFile(known.takeError(), path);
  session->measured.loadMs = watch.milliseconds();
  session->shown.facts = session->measured;
  return session;
}

/// Finds the description, in the cache or by reading the model.
Result<void> Session::describe() {
  if (options.backend == Backend::Cpu && cache.isThere()) {
    const Result<Hash128> key = keys.model();
    if (!key)
      return key.error();
    if (std::optional<ModelDescription> known = cache.description(*key)) {
      if (!known->metadata.note.empty())
        notes.note(known->metadata.note);
      source.setDescription(std::move(*known));
      return {};
    }
  }
  Result<CompilerModel *> read = source.read();
  return read ? Result<void>() : read.takeError();
}

Result<Hash128> Session::identity() {
  const std::lock_guard lock(compiling);
  Result<Hash128> hash = keys.identity(model());
  if (!hash)
    return inModel(hash.takeError());
  return hash;
}

Result<std::vector<Shape>>
Session::bind(std::span<const std::optional<Tensor>> given) const {
  Result<std::vector<Shape>> shapes = sizes.bind(model(), given);
  if (!shapes)
    return inModel(shapes.takeError());
  return shapes;
}

bool Session::accepts(const std::vector<Shape> &shapes,
                      std::span<const std::optional<Tensor>> given) {
  const std::lock_guard lock(compiling);
  Result<CompilerModel *> graph = source.read();
  if (!graph)
    return false;
  CompileRequest request;
  request.shapes = shapes;
  request.values.resize(shapes.size());
  for (size_t i = 0; i < std::min(given.size(), shapes.size()); ++i)
    if (given[i] && mayFeedShapes({"", given[i]->type(), given[i]->shape()}))
      request.values[i] = given[i];
  return static_cast<bool>((*graph)->accepts(request));
}

Result<std::vector<SampleSizes>>
Session::sizesToCheck(std::span<const std::optional<Tensor>> given,
                      const AllowsShapes &alsoAllows) {
  Result<std::vector<Shape>> known = sizes.known(model(), given);
  if (!known)
    return inModel(known.takeError());
  return sampleSizes(model(), *known, [&](const std::vector<Shape> &shapes) {
    return accepts(shapes, given) && (!alsoAllows || alsoAllows(shapes));
  });
}

//===----------------------------------------------------------------------===//
// What is ready
//===----------------------------------------------------------------------===//

std::shared_ptr<Executor> Session::readyExecutor() const {
  const std::lock_guard lock(showing);
  return shown.executor;
}

const Program *Session::program() const {
  const std::lock_guard lock(showing);
  return shown.program.get();
}

SessionFacts Session::facts() const {
  const std::lock_guard lock(showing);
  return shown.facts;
}

void Session::limitSteps(uint64_t most) {
  const std::lock_guard lock(compiling);
  options.passes.mostSteps = most;
  programs.clear();
}

Result<RunFacts> Session::runFacts(bool ofDynamic) {
  const std::lock_guard lock(compiling);
  Result<CompilerModel *> graph = source.read();
  if (!graph)
    return inModel(graph.takeError());
  CompileRequest request = prepared;
  if (!ofDynamic)
    request.dynamic.clear();
  Result<RunFacts> facts =
      (*graph)->runFacts(request, options.backend == Backend::Cpu);
  if (!facts)
    return inModel(facts.takeError());
  return facts;
}

Result<ModelWeights> Session::weights(bool folds) {
  const std::lock_guard lock(compiling);
  Result<CompilerModel *> graph = source.read();
  if (!graph)
    return inModel(graph.takeError());
  CompileRequest request = prepared;
  request.dynamic.clear();
  Result<ModelWeights> found = (*graph)->weights(request, folds);
  if (!found)
    return inModel(found.takeError());
  return found;
}

Result<std::unique_ptr<Executor>>
Session::anotherExecutor(unsigned wanted, std::shared_ptr<ThreadPool> pool) {
  std::shared_ptr<const Program> program;
  {
    const std::lock_guard lock(showing);
    program = shown.program;
  }
  if (program)
    return executorOf(std::move(program), wanted ? wanted : threads(),
                      std::move(pool));
  const std::lock_guard lock(compiling);
  auto executor = source.graph()->interpret(prepared);
  if (executor)
    (*executor)->setPrinter(options.print);
  return executor;
}

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

Result<void> Session::prepare(std::span<const Tensor> inputs,
                              std::span<const int64_t> observed) {
  const std::lock_guard lock(preparing);
  return prepareAlone(inputs, observed);
}

Result<std::shared_ptr<Executor>>
Session::executorFor(std::span<const Tensor> inputs,
                     std::span<const int64_t> observed) {
  const std::lock_guard lock(preparing);
  if (Result<void> done = prepareAlone(inputs, observed); !done)
    return done.takeError();
  return readyExecutor();
}

Result<void> Session::prepareOwn(OwnExecutor &own,
                                 std::span<const Tensor> inputs,
                                 unsigned wanted) {
  const std::lock_guard lock(preparing);
  if (Result<void> done = prepareAlone(inputs, {}); !done)
    return done;
  std::shared_ptr<const Program> program;
  {
    const std::lock_guard showingLock(showing);
    program = shown.program;
  }
  if (own.executor && program && own.program == program)
    return {};
  auto made = anotherExecutor(wanted ? wanted : threads());
  if (!made)
    return made.takeError();
  if (own.executor)
    if (Result<void> carried = carryStates(*own.executor, **made); !carried)
      return carried;
  own = {std::move(*made), std::move(program)};
  return {};
}

/// No other thread prepares.
Result<void> Session::prepareAlone(std::span<const Tensor> inputs,
                                   std::span<const int64_t> observed) {
  Result<void> done = catchingOutOfMemory("'" + source.path() + "'", [&] {
    const std::lock_guard lock(compiling);
    next = {nullptr, shown.program, false};
    return prepareNext(inputs, observed);
  });
  // The one that is ready may be in a run that has to compile.
  if (done)
    done = showNext();
  return done ? std::move(done) : inModel(done.takeError());
}

/// Makes `next` what is ready, if it has an executor.
Result<void> Session::showNext() {
  const std::shared_ptr<Executor> before = readyExecutor();
  if (next.executor && before && next.takesStates)
    if (Result<void> carried = carryStates(*before, *next.executor); !carried)
      return carried;
  const std::lock_guard lock(compiling);
  const std::lock_guard showingLock(showing);
  if (next.executor) {
    shown.executor = std::move(next.executor);
    shown.program = next.program;
  }
  shown.facts = measured;
  return {};
}

/// What is asked of the compiler for \p inputs.
Result<CompileRequest>
Session::requestFor(std::span<const Tensor> inputs) const {
  CompileRequest request = compileRequest(options);
  request.values.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    request.shapes.push_back(inputs[i].shape());
    if (mayFeedShapes({"", inputs[i].type(), inputs[i].shape()}))
      request.values[i] = inputs[i];
  }
  if (options.dynamicSizes != DynamicSizes::None &&
      (options.backend == Backend::Cpu || options.interpretsRewritten))
    request.dynamic = sizes.dynamicShapes(model(), inputs);
  Result<std::string> build = compilerIdentity();
  if (!build)
    return build.takeError();
  request.compiler = std::move(*build);
  return request;
}

/// Makes `next` for \p inputs, unless what is ready is for them.
Result<void> Session::prepareNext(std::span<const Tensor> inputs,
                                  std::span<const int64_t> observed) {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < model().inputs.size(); ++i) {
    const ModelInput &input = model().inputs[i];
    specs.push_back(i < inputs.size() ? input.specFor(inputs[i].shape())
                                      : input.spec);
  }
  if (Result<void> fit = checkInputs(specs, inputs); !fit)
    return fit;
  Result<CompileRequest> made = requestFor(inputs);
  if (!made)
    return made.takeError();
  CompileRequest &request = prepared = std::move(*made);
  if (Result<void> within = checkBounds(model(), options.most, request.shapes);
      !within)
    return within;
  request.observed.assign(observed.begin(), observed.end());
  // Observers are told of values of known shapes.
  if (!request.observed.empty())
    request.dynamic.clear();
  if (request.passes.verifyNumerics && !request.dynamic.empty()) {
    const std::vector<std::optional<Tensor>> values(inputs.begin(),
                                                    inputs.end());
    request.passes.verifyShapes = shapesToVerify(
        model(), inputs, request.dynamic,
        [&](const std::vector<Shape> &each) { return accepts(each, values); });
  }
  measured.compileMs = 0;
  measured.fromCache = false;
  programs.prepare(request);
  Result<void> done = makeNext(request, inputs);
  if (done && !request.passes.verifyShapes.empty())
    done = verifyNext(inputs);
  if (done)
    return {};
  // What was compiled and does not run is for another machine, as somebody
  // wanted: the interpreter is none.
  const bool isCompiled = measured.compileMs != 0 || measured.fromCache;
  if (options.backend == Backend::Cpu && source.graph() && !isCompiled &&
      done.error().kind == ErrorKind::Unsupported)
    return interpretInstead(request, inModel(done.takeError()));
  return done;
}

Result<void> Session::makeNext(CompileRequest &request,
                               std::span<const Tensor> inputs) {
  if (options.backend != Backend::Cpu)
    return interpret(request);
  auto program = programs.programFor(request, inputs, measured);
  if (!program)
    return program.takeError();
  if (*program == shown.program)
    return {};
  const Stopwatch watch;
  Result<void> done = useProgram(std::move(*program));
  if (measured.fromCache)
    measured.loadMs += watch.milliseconds();
  return done;
}

/// Makes \p program `next`.
Result<void> Session::useProgram(std::shared_ptr<const Program> program) {
  auto executor = executorOf(program, threads());
  if (!executor)
    return executor.takeError();
  next = {std::move(*executor), std::move(program), true};
  return {};
}

/// Makes the interpreter `next`.
Result<void> Session::interpret(const CompileRequest &request) {
  const Stopwatch watch;
  Result<CompilerModel *> graph = source.read();
  if (!graph)
    return graph.takeError();
  auto executor = (*graph)->interpret(request);
  if (!executor)
    return executor.takeError();
  (*executor)->setPrinter(options.print);
  next = {std::make_shared<LockedExecutor>(std::move(*executor), compiling),
          nullptr, false};
  if (options.interpretsRewritten)
    programs.noteRefusal();
  source.updateDescription();
  measured.compileMs = watch.milliseconds();
  return {};
}

/// Runs on the interpreter what was not compiled, if that may be, or says that
/// it could.
Result<void> Session::interpretInstead(const CompileRequest &request,
                                       Error why) {
  // What cannot be read is the same for both.
  if (Result<void> done = interpret(request); !done)
    return why;
  if (options.mayInterpret) {
    notes.note(why.message() + "; runs on the interpreter, which is slow");
    return {};
  }
  {
    const std::lock_guard lock(showing);
    shown = {nullptr, nullptr, measured};
  }
  why = withHint("the interpreter can run it", std::move(why));
  return why;
}

/// Holds a dynamic program that is next against the interpreter.
Result<void> Session::verifyNext(std::span<const Tensor> inputs) {
  const std::shared_ptr<const Program> program = next.program;
  if (!program || !isForAllSizes(*program) || !source.graph())
    return {};
  const Result<std::string> verified = verifyDynamic(
      *program, [&] { return executorOf(program, threads()); }, *source.graph(),
      prepared, inputs);
  if (!verified)
    return inside(optionText("verify-numerics"), verified.error());
  if (!verified->empty())
    notes.note(optionText("verify-numerics") +
               ": the program for all sizes: all agree with "
               "the interpreter at " +
               *verified);
  return {};
}

//===----------------------------------------------------------------------===//
// Executors
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<Executor>>
Session::executorOf(std::shared_ptr<const Program> program, unsigned wanted,
                    std::shared_ptr<ThreadPool> pool) {
  return makeExecutor(
      std::move(program), options, wanted, pool,
      [this, wanted, pool](std::span<const Tensor> inputs, const Error &why) {
        return executorForValues(inputs, wanted, pool, why);
      });
}

/// The program for all values is not for those of \p inputs, as \p why says.
Result<std::unique_ptr<Executor>>
Session::executorForValues(std::span<const Tensor> inputs, unsigned wanted,
                           std::shared_ptr<ThreadPool> pool, const Error &why) {
  const std::lock_guard lock(compiling);
  Result<CompileRequest> request = requestFor(inputs);
  if (!request)
    return request.takeError();
  auto program = programs.programForValues(std::move(*request));
  if (!program)
    return program.takeError();
  notes.noteOnce(NoteTopic::ShapeGuards,
                 "the program for all values is not for these: " +
                     why.message());
  return makeExecutor(std::move(*program), options, wanted, std::move(pool));
}

} // namespace sinter
