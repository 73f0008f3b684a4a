//===- Evaluate.cpp - evaluating models of the C interface ----------------===//

#include "bindings/c/Inputs.h"
#include "bindings/c/Session.h"
#include "bindings/c/Strings.h"

#include "interface/EvaluateChoices.h"
#include "interface/OnceEach.h"
#include "runtime/Json.h"

#include <CLI/CLI.hpp>

namespace sinter::c {

namespace {

/// The samples that a caller gives.
struct CallerSamples {
  sinter_labelled_sample_callback sample = nullptr;
  void *user = nullptr;
  size_t count = 0;

  Result<LabelledSample> load(size_t index,
                              const ModelDescription &model) const;
};

/// What a caller chooses for an evaluation.
struct EvaluateGiven {
  CommonOptions common;
  EvaluateChoices choices;

  /// Reads the options \p given.
  Result<void> take(const sinter_model &model, const Configuration &given);
};

} // namespace

Result<LabelledSample>
CallerSamples::load(size_t index, const ModelDescription &model) const {
  sinter_tensor target = {};
  target.struct_size = sizeof(target);
  const auto give = [&](sinter_tensor *inputs, size_t inputCount) {
    return sample(user, index, inputs, inputCount, &target);
  };
  Result<std::vector<Tensor>> inputs = sampleInputs(give, index, model);
  if (!inputs)
    return inputs.takeError();
  Result<Tensor> copy = copyOf(&target, sampleName(index) + ": the target");
  if (!copy)
    return copy.takeError();
  return LabelledSample{std::move(*inputs), std::move(*copy)};
}

Result<void> EvaluateGiven::take(const sinter_model &model,
                                 const Configuration &given) {
  common.note = given.note();
  common.mayInterpret = true;
  Result<void> done = parse(given, [&](CLI::App &app) {
    addModelOptions(app, common);
    addDynamic(app, common);
    addBackend(app, common);
    addPatterns(app, common);
    choices.add(app);
  });
  common.model = model.path;
  choices.data.pictures.note = onceEach(common.note);
  return done;
}

/// How a model runs by its own options and those \p given.
static Result<SessionOptions> howToRun(const sinter_model &model,
                                       const Configuration &given) {
  const Configuration all = model.configuration.with(given);
  EvaluateGiven own;
  if (Result<void> done = own.take(model, all); !done)
    return done.takeError();
  Result<SessionOptions> how = sessionOptions(own.common);
  if (how)
    all.applyTo(*how);
  return how;
}

/// Evaluates \p model, and \p other unless that is null, on \p samples or, if
/// there are none, on the data of the options.
static Result<void> evaluateModel(const sinter_model &model,
                                  const sinter_model *other,
                                  const Configuration &given,
                                  const CallerSamples &samples, char **report) {
  const Configuration all = model.configuration.with(given);
  if (Result<void> wanted = all.goesOn(); !wanted)
    return wanted;
  EvaluateGiven chosen;
  if (Result<void> done = chosen.take(model, all); !done)
    return done;
  const bool hasData = !chosen.choices.data.sources.empty();
  if (hasData == (samples.count > 0))
    return usageError(hasData ? "samples are given, and the option data, too"
                              : "give samples, or the option data");
  Result<EvaluateOptions> options = chosen.choices.options(other != nullptr);
  if (!options)
    return options.takeError();
  options->model = model.path;
  Result<SessionOptions> how = howToRun(model, given);
  if (!how)
    return how.takeError();
  options->session = std::move(*how);
  if (other) {
    options->against = other->path;
    Result<SessionOptions> othersHow = howToRun(*other, given);
    if (!othersHow)
      return othersHow.takeError();
    options->againstSession = std::move(*othersHow);
  }
  if (samples.count > 0)
    options->given =
        GivenSamples{samples.count, [&](size_t index) {
                       return samples.load(index, model.description);
                     }};
  options->cancellation = all.cancellation;
  if (all.progress)
    options->progress = [told = all.progress](size_t done, size_t total) {
      told("evaluate", done, total);
    };
  Result<EvaluationReport> made = evaluate(*options);
  if (!made)
    return made.takeError();
  made->model.model = nameOf(model);
  if (other)
    made->against->model = nameOf(*other);
  if (Result<void> told =
          giveString(jsonText(asJson(*made, chosen.common)), report);
      !told)
    return told;
  return checkBounds(*made, chosen.choices.bounds);
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_model_evaluate(const sinter_model *model,
                                    const sinter_model *other,
                                    const sinter_options *options,
                                    sinter_labelled_sample_callback sample,
                                    void *user, size_t sample_count,
                                    char **report, sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (report)
      *report = nullptr;
    if (sample_count)
      if (Result<void> good = checkPointer(sample, "sample"); !good)
        return good;
    std::optional<Use> use;
    if (other) {
      if (Result<void> good = check(other, Handle::Kind::Model); !good)
        return good;
      use.emplace(*other);
    }
    Result<Configuration> given = configurationOf(options);
    if (!given)
      return given.takeError();
    return evaluateModel(*model, other, *given, {sample, user, sample_count},
                         report);
  });
}

} // extern "C"
