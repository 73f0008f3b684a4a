//===- SessionPrograms.cpp - the program that a session runs --------------===//

#include "engine/SessionPrograms.h"

namespace sinter {

void SessionPrograms::prepare(CompileRequest &request) {
  request.onStatic = [this](const std::string &why) { refusal = why; };
  request.perValues = [this](const std::string &why) {
    notes.noteOnce(NoteTopic::GivenValues,
                   "the program is for these values only: " + why);
  };
  if (request.dynamic == refused && !dynamic.areFor(request))
    request.dynamic.clear();
}

void SessionPrograms::clear() {
  dynamic.clear();
  refused.clear();
}

void SessionPrograms::noteRefusal() {
  if (!refusal.empty())
    notes.noteOnce(NoteTopic::StaticSizes,
                   "the program is for these sizes only: " + refusal);
}

/// \p request is not to be dynamic, for `refusal`.
void SessionPrograms::refuseDynamic(CompileRequest &request) {
  refused = std::move(request.dynamic);
  request.dynamic.clear();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Whether there may be one more dynamic program for \p request, for branches
/// for which those that there are do not serve.
bool SessionPrograms::mayHaveOneMore(const CompileRequest &request) const {
  constexpr size_t most = 16;
  return model.description().takesBranches && !excludesOwnSizes &&
         refused.empty() && dynamic.count() < most && !request.dynamic.empty();
}

/// No dynamic program serves, by \p guard: makes \p request static.
void SessionPrograms::giveUpDynamic(CompileRequest &request,
                                    const Error &guard) {
  request.dynamic.clear();
  notes.noteOnce(NoteTopic::ShapeGuards,
                 "the program for all sizes is not for these: " +
                     guard.message());
}

Result<std::shared_ptr<const Program>>
SessionPrograms::programFor(CompileRequest &request,
                            std::span<const Tensor> inputs,
                            SessionFacts &facts) {
  if (request.observed.empty() && dynamic.areFor(request)) {
    if (auto known = dynamic.find(inputs))
      return known;
    if (!mayHaveOneMore(request))
      giveUpDynamic(request, serves(dynamic.last(), inputs).error());
  }
  while (true) {
    auto program = loadOrCompile(request, inputs, facts);
    if (!program || !(*program)->dynamic || !dynamic.add(*program, request))
      return program;
    const Result<void> served = serves(**program, inputs);
    if (served) {
      if (dynamic.count() > 1 && !facts.fromCache)
        notes.noteOnce(NoteTopic::OtherBranches,
                       "one more program for all sizes, since these take other "
                       "branches than those before");
      return program;
    }
    excludesOwnSizes |= !facts.fromCache;
    if (mayHaveOneMore(request))
      continue;
    giveUpDynamic(request, served.error());
    return loadOrCompile(request, inputs, facts);
  }
}

//===----------------------------------------------------------------------===//
// The cache, and the compiler
//===----------------------------------------------------------------------===//

/// Whether the program for \p request is kept: what is only made to look into
/// it is not.
bool SessionPrograms::isCached(const CompileRequest &request) const {
  return cache.isThere() && request.observed.empty() &&
         request.passes.mostSteps == std::numeric_limits<uint64_t>::max();
}

Result<Hash128> SessionPrograms::dynamicKey(const CompileRequest &request) {
  return keys.dynamicProgram(model.description(), request,
                             dynamic.countFor(request));
}

/// What was compiled before for \p request, if it runs here; where dynamic
/// dimensions were refused before, they are taken out of \p request.
std::shared_ptr<const Program> SessionPrograms::load(CompileRequest &request) {
  // Where a data file cannot be read, reading the model reports it.
  if (!request.dynamic.empty()) {
    const Result<Hash128> key = dynamicKey(request);
    if (!key)
      return nullptr;
    if (auto program = cache.program(*key))
      return program;
    std::optional<std::string> why = cache.refusal(*key);
    if (!why)
      return nullptr;
    refusal = std::move(*why);
    refuseDynamic(request);
  }
  const Result<Hash128> key = keys.staticProgram(model.description(), request);
  return key ? cache.program(*key) : nullptr;
}

void SessionPrograms::keepDescription() {
  if (const Result<Hash128> key = keys.model())
    cache.keepDescription(*key, model.description());
}

/// Keeps \p program, which is what became of \p request.
void SessionPrograms::keep(const CompileRequest &request,
                           const Program &program) {
  const Result<Hash128> key =
      isForAllSizes(program) ? dynamicKey(request)
                             : keys.staticProgram(model.description(), request);
  if (!key) {
    notes.note("the compiled program is not kept: " + key.error().message());
    return;
  }
  cache.keepProgram(*key, program);
  keepDescription();
}

Result<std::shared_ptr<const Program>>
SessionPrograms::loadOrCompile(CompileRequest &request,
                               std::span<const Tensor> inputs,
                               SessionFacts &facts) {
  const Stopwatch watch;
  const bool watched = request.passes.verifyNumerics ||
                       request.passes.verifyEach ||
                       !request.passes.printIrAfter.empty();
  const bool cached = isCached(request);
  if (cached && !watched)
    if (auto program = load(request)) {
      facts.fromCache = true;
      // It was read since what was kept of it is damaged or was taken away.
      if (model.graph())
        keepDescription();
      facts.loadMs += watch.milliseconds();
      return program;
    }
  Result<CompilerModel *> graph = model.read();
  if (!graph)
    return graph.takeError();
  facts.loadMs += watch.milliseconds();
  // A kept one for all sizes may have turned out not to be for these.
  facts.fromCache = false;

  const Stopwatch compilation;
  auto program = (*graph)->compile(request);
  if (!program)
    return program;
  facts.compileMs = compilation.milliseconds();
  model.updateDescription();
  const bool isForAll = isForAllSizes(**program);
  if (!request.dynamic.empty() && !isForAll) {
    if (cached && !refusal.empty())
      if (const Result<Hash128> key = dynamicKey(request))
        cache.keepRefusal(*key, refusal);
    refuseDynamic(request);
  }
  if (!isForAll)
    noteRefusal();
  // Nobody asks again for one more that is not even for its own sizes.
  const bool isOneTooMany =
      isForAll && dynamic.areFor(request) && !serves(**program, inputs);
  if (cached && !isOneTooMany)
    keep(request, **program);
  return program;
}

Result<std::shared_ptr<const Program>>
SessionPrograms::programForValues(CompileRequest request) {
  request.dynamic.clear();
  request.forValues = true;
  std::optional<Hash128> key;
  if (cache.isThere())
    if (Result<Hash128> made = keys.staticProgram(model.description(), request))
      key = *made;
  if (key)
    if (auto program = cache.program(*key))
      return program;
  Result<CompilerModel *> graph = model.read();
  if (!graph)
    return graph.takeError();
  auto program = (*graph)->compile(request);
  if (program && key)
    cache.keepProgram(*key, **program);
  return program;
}

} // namespace sinter
