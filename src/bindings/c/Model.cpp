//===- Model.cpp - a model of the C interface -----------------------------===//

#include "bindings/c/Model.h"

#include "engine/CompilerLibrary.h"

#include <cstring>
#include <filesystem>

namespace sinter::c {

std::string nameOf(const sinter_model &model) {
  return model.files ? std::filesystem::path(model.path).filename().string()
                     : model.path;
}

Result<Configuration> beginCall(const sinter_model &model,
                                const Configuration &given,
                                CommonOptions &common) {
  Configuration all = model.configuration.with(given);
  if (Result<void> wanted = all.goesOn(); !wanted)
    return wanted.takeError();
  common.model = model.path;
  common.note = all.note();
  return all;
}

Result<ModelRequest> requestFor(const sinter_model &model,
                                const Configuration &configuration) {
  CommonOptions options;
  options.model = model.path;
  options.note = configuration.note();
  if (Result<void> done =
          parse(model.configuration,
                [&](CLI::App &app) { addModelOptions(app, options); });
      !done)
    return done.takeError();
  return modelRequest(options);
}

Result<std::unique_ptr<sinter_model>>
openModel(std::string path, std::shared_ptr<MemoryFolder> files,
          Configuration configuration) {
  auto model = std::make_unique<sinter_model>();
  model->path = std::move(path);
  model->files = std::move(files);
  model->configuration = std::move(configuration);
  CommonOptions options;
  options.model = model->path;
  options.note = model->configuration.note();
  if (Result<void> done =
          parse(model->configuration,
                [&](CLI::App &app) { addModelOptions(app, options); });
      !done)
    return done.takeError();
  Result<SessionOptions> how = sessionOptions(options);
  if (!how)
    return how.takeError();
  Result<std::unique_ptr<Session>> session =
      Session::open(model->path, std::move(*how));
  if (!session)
    return session.takeError();
  model->description = (*session)->model();
  for (const ModelInput &input : model->description.inputs)
    model->inputs.emplace_back(input);
  for (const ModelOutput &output : model->description.outputs)
    model->outputs.emplace_back(output);
  for (const TensorSpec &state : model->description.states)
    model->states.emplace_back(state);
  model->info.set(model->description.metadata);
  return model;
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

/// Opens a model for a caller.
static Result<void> openFor(std::string path,
                            std::shared_ptr<MemoryFolder> files,
                            const sinter_options *options,
                            sinter_model **model) {
  Result<Configuration> configuration = configurationOf(options);
  if (!configuration)
    return configuration.takeError();
  Result<std::unique_ptr<sinter_model>> opened =
      openModel(std::move(path), std::move(files), std::move(*configuration));
  if (!opened)
    return opened.takeError();
  *model = opened->release();
  return {};
}

extern "C" {

sinter_status sinter_model_open(const char *path, const sinter_options *options,
                                sinter_model **model, sinter_error **error) {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(path, "path"); !good)
      return good;
    if (Result<void> good = checkPointer(model, "model"); !good)
      return good;
    return openFor(path, nullptr, options, model);
  });
}

sinter_status sinter_model_open_memory(const void *bytes, size_t size,
                                       const char *name, const char *folder,
                                       const sinter_options *options,
                                       sinter_model **model,
                                       sinter_error **error) {
  return guarded(error, [&]() -> Result<void> {
    if (size != 0)
      if (Result<void> good = checkPointer(bytes, "bytes"); !good)
        return good;
    if (Result<void> good = checkPointer(model, "model"); !good)
      return good;
    auto copy = std::make_shared<std::vector<std::byte>>(size);
    if (size != 0)
      std::memcpy(copy->data(), bytes, size);
    auto files = std::make_shared<MemoryFolder>(folder ? folder : "");
    const std::string file = name && *name ? name : "model";
    files->add(file, *copy, copy);
    return openFor(files->path(file), files, options, model);
  });
}

size_t sinter_model_input_count(const sinter_model *model) {
  return Use::of(model, Handle::Kind::Model) ? model->inputs.size() : 0;
}

size_t sinter_model_output_count(const sinter_model *model) {
  return Use::of(model, Handle::Kind::Model) ? model->outputs.size() : 0;
}

sinter_status sinter_model_input(const sinter_model *model, size_t index,
                                 sinter_value_info *info,
                                 sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error,
                 [&] { return giveInfo(model->inputs, index, "input", info); });
}

sinter_status sinter_model_output(const sinter_model *model, size_t index,
                                  sinter_value_info *info,
                                  sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&] {
    return giveInfo(model->outputs, index, "output", info);
  });
}

sinter_status sinter_model_free(sinter_model *model, sinter_error **error) {
  return freeHandle(model, Handle::Kind::Model, error);
}

const char *sinter_version(void) { return SINTER_VERSION; }

int32_t sinter_api_version(void) { return SINTER_API_VERSION; }

sinter_status sinter_load_compiler(sinter_error **error) {
  return guarded(error, []() -> Result<void> {
    auto compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    return {};
  });
}

sinter_status sinter_set_compiler_library(const char *path,
                                          sinter_error **error) {
  return guarded(error, [&] { return setCompilerLibrary(path ? path : ""); });
}

} // extern "C"
