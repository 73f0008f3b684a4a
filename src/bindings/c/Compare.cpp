//===- Compare.cpp - comparing two models of the C interface --------------===//

#include "bindings/c/Inputs.h"
#include "bindings/c/Session.h"
#include "bindings/c/Strings.h"

#include "compare/ModelComparison.h"
#include "interface/CompareOptions.h"
#include "runtime/Json.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace sinter::c {

namespace {

/// What a caller chooses for a comparison.
struct CompareChoices {
  CommonOptions common;
  /// Of the first model, and of the second, unless both have one.
  std::vector<std::string> backends;
  InputOptions inputs;
  CompareCriteria criteria;
  std::optional<double> megabytes;
  bool outputsOnly = false;

  /// Reads the options \p given.
  Result<void> take(const Configuration &given);
  std::string backendOf(size_t side) const {
    return backends.empty() ? "cpu"
                            : backends[std::min(side, backends.size() - 1)];
  }
};

} // namespace

Result<void> CompareChoices::take(const Configuration &given) {
  common.note = given.note();
  Result<void> done = parse(given, [&](CLI::App &app) {
    addModelOptions(app, common);
    addDynamic(app, common);
    addArithmetic(app, common);
    addPatterns(app, common);
    addCriteria(app, criteria, "Compare");
    app.add_option("--backend", backends)
        ->allow_extra_args(false)
        ->delimiter(',')
        ->check(CLI::IsMember({"cpu", "interpreter"}));
    app.add_option("--input", inputs.inputs)->allow_extra_args(false);
    app.add_option("--memory", megabytes)
        ->check(CLI::Range(1e-6, 1e9) & isNumber());
    app.add_flag("--outputs-only", outputsOnly);
  });
  common.noCache = true;
  return done;
}

/// The first of the models that are compared, or the second, by its own
/// options and those \p given.
static Result<CompareSide> openSide(const sinter_model &model,
                                    const Configuration &given, size_t side) {
  CompareChoices choices;
  if (Result<void> done = choices.take(model.configuration.with(given)); !done)
    return done.takeError();
  CommonOptions own = choices.common;
  own.model = model.path;
  own.backend = choices.backendOf(side);
  // The second model gets the shapes of the first one's inputs.
  if (side > 0)
    own.shapes.clear();
  Result<SessionOptions> how = sessionOptions(own);
  if (!how)
    return how.takeError();
  // Shapes are sizes of the run, not of the program.
  if (how->dynamicSizes == DynamicSizes::Unknown)
    how->dynamicSizes = DynamicSizes::Wanted;
  how->mayInterpret = false;
  model.configuration.with(given).applyTo(*how);
  return CompareSide::open(model.path, nameOf(model) + " (" + own.backend + ")",
                           std::move(*how), choices.inputs);
}

/// The sizes at which \p first and \p second are compared.
static Result<std::vector<SampleSizes>>
sizesOf(CompareSide &first, CompareSide &second, const InputOptions &inputs,
        const NamedShapes &shapes, bool areGiven) {
  if (areGiven)
    return std::vector<SampleSizes>(1);
  return sizesToCompare(first, second, inputs, shapes);
}

/// Compares outputs, states and, unless the options say otherwise, tensors of
/// the two models. \p inputs: those of the first one; empty: random ones.
static Result<CompareReport> compareModels(const sinter_model &expected,
                                           const sinter_model &model,
                                           const std::vector<Tensor> &inputs,
                                           const Configuration &given) {
  const Configuration all = expected.configuration.with(given);
  if (Result<void> wanted = all.goesOn(); !wanted)
    return wanted.takeError();
  CompareChoices choices;
  if (Result<void> done = choices.take(all); !done)
    return done.takeError();
  Result<CompareSide> first = openSide(expected, given, 0);
  if (!first)
    return first.takeError();
  Result<CompareSide> second = openSide(model, given, 1);
  if (!second)
    return second.takeError();
  Result<NamedShapes> shapes =
      shapesFor(choices.common, first->session->model());
  if (!shapes)
    return shapes.takeError();
  Result<std::vector<SampleSizes>> sizes =
      sizesOf(*first, *second, choices.inputs, *shapes, !inputs.empty());
  if (!sizes)
    return sizes.takeError();
  ModelComparison comparison(std::move(*first), std::move(*second), {},
                             choices.criteria);
  comparison.names = {"shape",  "memory", "backend",
                      "passes", "bisect", "min-snr"};
  if (choices.megabytes)
    comparison.mostBytes = static_cast<uint64_t>(*choices.megabytes * 1e6);
  const auto inputsOf =
      [&](CompareSide &side,
          const SampleSizes &of) -> Result<std::vector<Tensor>> {
    return inputs.empty() ? inputsAt(side, of, choices.inputs, *shapes)
                          : Result<std::vector<Tensor>>(inputs);
  };
  if (Result<void> done =
          comparison.compareOutputsAt(*sizes, inputsOf, choices.common.note);
      !done)
    return done.takeError();
  if (!choices.outputsOnly)
    if (Result<void> done = comparison.compareTensors(); !done)
      return done.takeError();
  return std::move(comparison.report);
}

/// The inputs that a caller gives for \p model; empty: none.
static Result<std::vector<Tensor>> inputsFor(const sinter_model &model,
                                             const sinter_tensor *inputs,
                                             size_t count) {
  if (count == 0)
    return std::vector<Tensor>();
  if (count != model.inputs.size())
    return usageError("expected " + std::to_string(model.inputs.size()) +
                      " inputs, given " + std::to_string(count));
  if (Result<void> good = checkPointer(inputs, "inputs"); !good)
    return good.takeError();
  return copiesOf(inputs, model.description);
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_model_compare(const sinter_model *expected,
                                   const sinter_model *model,
                                   const sinter_tensor *inputs,
                                   size_t input_count,
                                   const sinter_options *options, char **report,
                                   sinter_error **error) {
  return guarded(expected, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (report)
      *report = nullptr;
    if (Result<void> good = check(model, Handle::Kind::Model); !good)
      return good;
    const Use use(*model);
    Result<Configuration> given = configurationOf(options);
    if (!given)
      return given.takeError();
    Result<std::vector<Tensor>> all = inputsFor(*expected, inputs, input_count);
    if (!all)
      return all.takeError();
    Result<CompareReport> made = compareModels(*expected, *model, *all, *given);
    if (!made)
      return made.takeError();
    if (Result<void> told = giveString(jsonText(reportJson(*made)), report);
        !told)
      return told;
    if (made->agrees())
      return {};
    return Error{ErrorKind::WrongResult,
                 "the results of the models differ: first in " +
                     titleOf(*made->firstDiffering()) + "; " + made->verdict()};
  });
}

} // extern "C"
