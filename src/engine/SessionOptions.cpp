//===- SessionOptions.cpp - what a session is to do with a model ----------===//

#include "engine/SessionOptions.h"

#include "runtime/CpuCount.h"

namespace sinter {

std::string_view name(Backend backend) {
  return backend == Backend::Cpu ? "cpu" : "interpreter";
}

unsigned threadsOf(const SessionOptions &options) {
  return options.threads ? options.threads : usableCpuCount();
}

ModelRequest modelRequest(const std::string &path,
                          const SessionOptions &options) {
  ModelRequest request;
  request.path = path;
  if (options.dynamicSizes != DynamicSizes::Wanted)
    request.shapes = options.shapes;
  request.dimensionNames = options.dimensionNames;
  request.bound = options.bound;
  request.boundFiles = options.boundFiles;
  request.replacedDefaults = options.replacedDefaults;
  request.function = options.function;
  request.note = options.note;
  request.opening = options.opening;
  return request;
}

CompileRequest compileRequest(const SessionOptions &options) {
  CompileRequest request;
  static_cast<CodeOptions &>(request) = options;
  request.passes = options.passes;
  request.interpretsRewritten = options.interpretsRewritten;
  request.threads = threadsOf(options);
  request.ceilings = options.ceilings;
  request.choice = options.choice;
  request.kernelFolder = options.cacheFolder;
  request.progress = options.progress;
  request.stages = options.stages;
  return request;
}

} // namespace sinter
