//===- Rewrite.cpp - models that are rewritten and saved ------------------===//

#include "bindings/c/Inputs.h"
#include "bindings/c/NewModel.h"
#include "bindings/c/Session.h"
#include "bindings/c/Strings.h"

#include "engine/CompilerLibrary.h"
#include "engine/Quantize.h"
#include "interface/KeptMetadata.h"
#include "interface/OptimizeOptions.h"
#include "interface/PreprocessingOptions.h"
#include "interface/QuantizeOptions.h"
#include "runtime/Json.h"
#include "runtime/MappedFile.h"
#include "runtime/OptionNames.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

struct sinter_files : sinter::c::Handle {
  sinter_files() : Handle(Kind::Files) {}

  std::vector<sinter::FileInMemory> files;
};

namespace sinter::c {

/// Writes \p model to \p path. What the compiler wrote in that format stays to
/// the bit: reading and writing it again might give another order.
static Result<void> save(const sinter_model &model, const std::string &path,
                         const sinter_options *options) {
  Result<Configuration> given = configurationOf(options);
  if (!given)
    return given.takeError();
  ConvertRequest request;
  if (Result<void> done = parse(*given,
                                [&](CLI::App &app) {
                                  app.add_option("--target-version",
                                                 request.targetVersion);
                                });
      !done)
    return done;
  if (given->values.empty()) {
    Result<std::optional<FileInMemory>> written = writtenFile(model, path);
    if (!written)
      return written.takeError();
    if (*written)
      return writeFileAtomically(path, std::span(&(*written)->bytes, 1));
  }
  Result<ModelRequest> input =
      requestFor(model, model.configuration.with(*given));
  if (!input)
    return input.takeError();
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  request.input = std::move(*input);
  request.output = path;
  return (*compiler)->convert(request);
}

/// The simplified model.
static Result<void> optimize(const sinter_model &model,
                             const Configuration &given, sinter_model **result,
                             char **report) {
  CommonOptions common;
  OptimizeRequest request;
  KeptMetadata kept;
  KeptPreprocessing preprocessing;
  std::string format;
  Result<Configuration> all = beginCall(model, given, common);
  if (!all)
    return all.takeError();
  if (Result<void> done = parse(*all,
                                [&](CLI::App &app) {
                                  addModelOptions(app, common);
                                  addPasses(app, common);
                                  addOptimization(app, request);
                                  addKeptMetadata(app, kept);
                                  addKeptPreprocessing(app, preprocessing);
                                  app.add_option("--format", format);
                                });
      !done)
    return done;
  Result<ModelRequest> input = modelRequest(common);
  if (!input)
    return input.takeError();
  Result<NewModel> made = NewModel::like(model.path, format);
  if (!made)
    return made.takeError();
  if (Result<void> good = keepInModel(kept, request); !good)
    return good;
  request.input = std::move(*input);
  if (Result<void> good =
          keepPreprocessing(preprocessing, **loadCompiler(), request);
      !good)
    return good;
  request.output = made->path();
  request.passes = passOptions(common);
  request.passes.cancellation = all->cancellation;
  request.counts = report != nullptr;
  Result<OptimizeReport> done = (*loadCompiler())->optimize(request);
  if (!done)
    return done.takeError();
  Result<std::unique_ptr<sinter_model>> opened = made->open(*all);
  if (!opened)
    return opened.takeError();
  if (Result<void> told = giveString(jsonText(asJson(*done)), report); !told)
    return told;
  *result = opened->release();
  return {};
}

/// Whether \p inputs are what \p model takes.
static Result<void> checkSample(const ModelDescription &model,
                                std::span<const Tensor> inputs) {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < inputs.size(); ++i)
    specs.push_back(model.inputs[i].specFor(inputs[i].shape()));
  return checkInputs(specs, inputs);
}

/// The samples that \p sample gives, \p count of them.
static Samples samplesOf(sinter_sample_callback sample, void *user,
                         size_t count, const ModelDescription &model) {
  Samples samples;
  samples.count = count;
  samples.load = [sample, user,
                  model](size_t index) -> Result<std::vector<Tensor>> {
    const auto give = [&](sinter_tensor *inputs, size_t inputCount) {
      return sample(user, index, inputs, inputCount);
    };
    Result<std::vector<Tensor>> inputs = sampleInputs(give, index, model);
    if (!inputs)
      return inputs;
    if (Result<void> fit = checkSample(model, *inputs); !fit)
      return inside(sampleName(index), fit.takeError());
    return inputs;
  };
  return samples;
}

/// The quantised model.
static Result<void> quantizeModel(const sinter_model &model,
                                  const Configuration &given, Samples samples,
                                  sinter_model **result, char **report) {
  CommonOptions common;
  QuantizeChoices choices;
  std::string format;
  Result<Configuration> all = beginCall(model, given, common);
  if (!all)
    return all.takeError();
  if (Result<void> done = parse(*all,
                                [&](CLI::App &app) {
                                  addModelOptions(app, common);
                                  addThreads(app, common);
                                  choices.add(app);
                                  app.add_option("--format", format);
                                });
      !done)
    return done;
  Result<SessionOptions> how = sessionOptions(common);
  if (!how)
    return how.takeError();
  Result<ModelRequest> input = modelRequest(common);
  if (!input)
    return input.takeError();
  Result<NewModel> made = NewModel::like(model.path, format);
  if (!made)
    return made.takeError();
  Result<std::string> compiler = compilerIdentity();
  if (!compiler)
    return compiler.takeError();
  QuantizeRequest request;
  if (Result<void> done = choices.apply(request, samples.count > 0); !done)
    return done;
  request.input = std::move(*input);
  request.output = made->path();
  request.samples = std::move(samples);
  request.threads = how->threads;
  request.kernelFolder = how->cacheFolder;
  request.compiler = std::move(*compiler);
  request.ceilings = how->ceilings;
  request.progress = all->progress;
  request.passes.cancellation = all->cancellation;
  request.print = all->print ? all->print : [](const std::string &) {};
  Result<QuantizeReport> done = (*loadCompiler())->quantize(request);
  if (!done)
    return done.takeError();
  if (Result<void> told =
          giveString(jsonText(asJson(nameOf(model), *done)), report);
      !told)
    return told;
  if (!done->boundHolds)
    return Error{ErrorKind::WrongResult,
                 optionText("max-loss") + " cannot be held"};
  Result<std::unique_ptr<sinter_model>> opened = made->open(*all);
  if (!opened)
    return opened.takeError();
  *result = opened->release();
  return {};
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_model_save(const sinter_model *model, const char *path,
                                const sinter_options *options,
                                sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(path, "path"); !good)
      return good;
    return save(*model, path, options);
  });
}

sinter_status sinter_model_save_memory(const sinter_model *model,
                                       const char *name,
                                       const sinter_options *options,
                                       sinter_files **files,
                                       sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(name, "name"); !good)
      return good;
    if (Result<void> good = checkPointer(files, "files"); !good)
      return good;
    const MemoryFolder folder;
    const std::string path = folder.path(name);
    if (Result<void> done = save(*model, path, options); !done)
      return done;
    auto made = std::make_unique<sinter_files>();
    made->files = folder.files();
    const std::string own = std::filesystem::path(path).filename().string();
    // The model first.
    std::ranges::stable_partition(made->files, [&](const FileInMemory &each) {
      return each.name == own;
    });
    *files = made.release();
    return {};
  });
}

size_t sinter_files_count(const sinter_files *files) {
  return Use::of(files, Handle::Kind::Files) ? files->files.size() : 0;
}

const char *sinter_files_name(const sinter_files *files, size_t index) {
  return index < sinter_files_count(files) ? files->files[index].name.c_str()
                                           : nullptr;
}

const void *sinter_files_data(const sinter_files *files, size_t index,
                              size_t *size) {
  const bool isThere = index < sinter_files_count(files);
  if (size)
    *size = isThere ? files->files[index].bytes.size() : 0;
  return isThere ? files->files[index].bytes.data() : nullptr;
}

void sinter_files_free(sinter_files *files) {
  if (check(files, Handle::Kind::Files))
    delete files;
}

sinter_status sinter_model_optimize(const sinter_model *model,
                                    const sinter_options *options,
                                    sinter_model **result, char **report,
                                    sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(result, "result"); !good)
      return good;
    if (report)
      *report = nullptr;
    Result<Configuration> given = configurationOf(options);
    if (!given)
      return given.takeError();
    return optimize(*model, *given, result, report);
  });
}

sinter_status sinter_model_quantize(const sinter_model *model,
                                    const sinter_options *options,
                                    sinter_sample_callback sample, void *user,
                                    size_t sample_count, sinter_model **result,
                                    char **report, sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(result, "result"); !good)
      return good;
    if (report)
      *report = nullptr;
    if (sample_count)
      if (Result<void> good = checkPointer(sample, "sample"); !good)
        return good;
    Result<Configuration> given = configurationOf(options);
    if (!given)
      return given.takeError();
    return quantizeModel(
        *model, *given,
        samplesOf(sample, user, sample_count, model->description), result,
        report);
  });
}

} // extern "C"
