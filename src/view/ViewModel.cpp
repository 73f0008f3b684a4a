#include "view/ViewModel.h"

#include "data/Inputs.h"
#include "engine/CompilerLibrary.h"
#include "view/ModelPage.h"

#include <algorithm>
#include <chrono>

namespace sinter {

namespace {

/// Runs go on until either is reached.
constexpr unsigned mostRuns = 20;
constexpr std::chrono::seconds longestRuns{1};

/// What the compiler is asked to compile of a model.
CompileRequest requestFor(const ModelDescription &description,
                          const SessionOptions &options) {
  CompileRequest request = compileRequest(options);
  request.kernelFolder.clear();
  request.values.resize(description.inputs.size());
  if (auto known = knownShapes(description, options.shapes, {});
      known && std::ranges::any_of(*known, [](const Shape &shape) {
        return std::ranges::find(shape, -1) != shape.end();
      }))
    request.dynamic = std::move(*known);
  if (auto bound = bindShapes(description, options.shapes, {}, {}))
    request.shapes = std::move(*bound);
  return request;
}

/// The least times of several runs that execute the same steps.
void takeFastest(std::span<const LayerTime> run,
                 std::vector<MeasuredStep> &fastest) {
  if (fastest.empty())
    for (const LayerTime &time : run)
      fastest.push_back({std::string(time.name), std::string(time.op),
                         std::string(time.kernel), time.seconds});
  for (size_t i = 0; i < std::min(run.size(), fastest.size()); ++i)
    if (run[i].name == fastest[i].layer)
      fastest[i].seconds = std::min(fastest[i].seconds, run[i].seconds);
}

/// The steps of a run on random inputs, and their times.
Result<std::vector<MeasuredStep>> measure(const std::string &path,
                                          const SessionOptions &options) {
  SessionOptions wanted = options;
  wanted.print = [](std::string_view) {};
  Result<ReadySession> ready =
      openSession(path, std::move(wanted), {}, /*fillRandom=*/true);
  if (!ready)
    return ready.takeError();
  Executor &executor = ready->session->executor();
  executor.setProfiling(true);
  std::vector<MeasuredStep> fastest;
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < mostRuns; ++i) {
    auto results = executor.run(ready->inputs);
    if (!results)
      return results.takeError();
    // Of the first run, memory is new.
    if (i > 0)
      takeFastest(executor.layerTimes(), fastest);
    if (i > 0 && std::chrono::steady_clock::now() - begin > longestRuns)
      break;
  }
  return fastest;
}

} // namespace

Result<std::string> viewModel(const std::string &path, const std::string &title,
                              SessionOptions options, bool isMeasured) {
  options.opening.drawsMissing = true;
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  ModelRequest request = modelRequest(path, options);
  request.keepsSource = true;
  auto model = (*compiler)->open(request);
  if (!model)
    return model.takeError();
  Result<ModelView> view =
      (*model)->view(requestFor((*model)->description(), options));
  if (!view)
    return inFile(view.takeError(), path);
  std::vector<MeasuredStep> measured;
  if (isMeasured && !view->steps.empty()) {
    Result<std::vector<MeasuredStep>> found = measure(path, options);
    if (found)
      measured = std::move(*found);
    else
      view->notes.push_back("times are estimates: " + found.error().message());
  }
  if (options.note)
    for (const std::string &note : view->notes)
      options.note(note);
  return modelPage(title, *view, measured);
}

} // namespace sinter
