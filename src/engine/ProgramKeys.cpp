//===- ProgramKeys.cpp - hashes of what a model's programs follow from ----===//

#include "engine/ProgramKeys.h"

#include "engine/CompilerLibrary.h"
#include "runtime/BreakForTest.h"
#include "runtime/Cache.h"
#include "runtime/MappedFile.h"
#include "runtime/MappedPages.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

namespace sinter {

namespace fs = std::filesystem;

static std::string shapeText(const Shape &shape) {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + ";";
}

/// Hashes a file piece by piece and lets go of each: a file that is only
/// hashed should not count towards this process's memory.
static Hash128 hashContents(const MappedFile &file) {
  constexpr size_t pieceBytes = size_t(4) << 20;
  Hasher hasher;
  std::span<const std::byte> rest = file.bytes();
  while (!rest.empty()) {
    const auto piece = rest.first(std::min(rest.size(), pieceBytes));
    hasher.add(piece);
    releasePages(piece);
    rest = rest.subspan(piece.size());
  }
  return hasher.finish();
}

/// The options that results depend on, as a text.
static std::string resultOptions(const PassOptions &passes,
                                 const CodeOptions &code) {
  std::string text = "passes:";
  for (const std::string &label : passes.enabledPatterns)
    text += "+" + label;
  for (const std::string &label : passes.disabledPatterns)
    text += "-" + label;
  for (const std::string &name : passes.allowed)
    text += "~" + name;
  if (code.denormals == Denormals::Keep)
    text += " denormals";
  return text + " precision " + std::string(name(code.precision));
}

/// The options that a program depends on, as a text.
static std::string programOptions(const CompileRequest &request) {
  std::string text = resultOptions(request.passes, request);
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
  if (!brokenForTest().empty())
    text.append(" broken ").append(brokenForTest());
  return text;
}

std::optional<ProgramKeys::Stamp>
ProgramKeys::stampOf(const std::string &file) {
  struct stat facts{};
  if (::stat(file.c_str(), &facts) != 0)
    return std::nullopt;
  const auto nanoseconds = [](const timespec &time) {
    return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  return Stamp{facts.st_dev, facts.st_ino, facts.st_size,
               nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim)};
}

Result<void> ProgramKeys::addFile(ProgramKey &key, const std::string &file) {
  const std::optional<Stamp> stamp = stampOf(file);
  if (auto known = hashed.find(file);
      stamp && known != hashed.end() && known->second.stamp == *stamp) {
    key.addOptions(known->second.hash.text());
    return {};
  }
  auto mapped = MappedFile::open(file);
  if (!mapped)
    return mapped.takeError();
  const Hash128 hash = hashContents(**mapped);
  ++hashedFiles;
  if (stamp)
    hashed[file] = {*stamp, hash};
  key.addOptions(hash.text());
  return {};
}

/// Adds a model's file, or every file of its folder with its name.
Result<void> ProgramKeys::addModel(ProgramKey &key, const std::string &path) {
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
  for (const std::string &file : files)
    if (Result<void> added = addFile(key, file); !added)
      return added;
  return {};
}

/// Adds the model's own files and what is wanted of it.
Result<void> ProgramKeys::addRequest(ProgramKey &key) {
  if (Result<void> added = addModel(key, path); !added)
    return added;
  const Result<std::string> build = compilerIdentity();
  if (!build)
    return build.error();
  key.addOptions(*build).addOptions(options.function);
  if (const OpenOptions &opening = options.opening; !opening.areDefault()) {
    key.addOptions(opening.parameters);
    if (opening.randomParameters)
      key.addOptions("random " + std::to_string(*opening.randomParameters));
    else if (Result<void> added = addModel(key, opening.parameters); !added)
      return added;
  }
  if (options.dynamicSizes != DynamicSizes::Wanted)
    for (const auto &[name, shape] : options.shapes)
      key.addOptions(name).addOptions(shapeText(shape));
  for (const std::string &name : options.replacedDefaults)
    key.addOptions("given").addOptions(name);
  for (const DimensionName &each : options.dimensionNames)
    key.addOptions(each.input)
        .addOptions(std::to_string(each.dimension))
        .addOptions(each.symbol);
  for (const auto &[name, tensor] : options.bound) {
    key.addOptions(name).addOptions(shapeText(tensor.shape()));
    key.addFile({tensor.data(), tensor.bytes()});
  }
  return {};
}

/// Data files are those that were opened when the model was read, which decides
/// what may be; here links are followed.
Result<void> ProgramKeys::addDataFiles(ProgramKey &key,
                                       const ModelDescription &model) {
  const fs::path folder = fs::path(path).parent_path();
  for (const std::string &name : model.dataFiles)
    if (Result<void> added = addFile(key, (folder / name).string()); !added)
      return added;
  return {};
}

Result<Hash128> ProgramKeys::model() {
  if (modelHash)
    return *modelHash;
  ProgramKey key;
  if (Result<void> added = addRequest(key); !added)
    return added.takeError();
  modelHash = key.finish();
  return *modelHash;
}

Result<Hash128> ProgramKeys::identity(const ModelDescription &model) {
  ProgramKey key(ProgramKey::Machine::Any);
  key.addOptions(resultOptions(options.passes, options));
  Result<void> added = addRequest(key);
  if (added)
    added = addDataFiles(key, model);
  if (!added)
    return added.takeError();
  return key.finish();
}

/// Adds what programs for all sizes and for given ones follow from.
Result<void> ProgramKeys::addProgram(ProgramKey &key,
                                     const ModelDescription &model,
                                     const CompileRequest &request) {
  const Result<Hash128> hash = this->model();
  if (!hash)
    return hash.error();
  key.addOptions(hash->text()).addOptions(programOptions(request));
  return addDataFiles(key, model);
}

Result<Hash128> ProgramKeys::dynamicProgram(const ModelDescription &model,
                                            const CompileRequest &request,
                                            size_t others) {
  ProgramKey key;
  if (Result<void> added = addProgram(key, model, request); !added)
    return added.takeError();
  key.addOptions("dynamic");
  if (others != 0)
    key.addOptions(std::to_string(others));
  for (const Shape &shape : request.dynamic)
    key.addOptions(shapeText(shape));
  return key.finish();
}

Result<Hash128> ProgramKeys::staticProgram(const ModelDescription &model,
                                           const CompileRequest &request) {
  ProgramKey key;
  if (Result<void> added = addProgram(key, model, request); !added)
    return added.takeError();
  if (request.forValues)
    key.addOptions("values");
  for (size_t i = 0; i < request.shapes.size(); ++i) {
    key.addOptions(shapeText(request.shapes[i]));
    const bool counts = request.forValues || model.inputs[i].feedsShapes;
    if (counts && request.values[i])
      key.addFile({request.values[i]->data(), request.values[i]->bytes()});
  }
  return key.finish();
}

} // namespace sinter
