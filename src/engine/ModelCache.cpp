//===- ModelCache.cpp - what the cache keeps of a model -------------------===//

#include "engine/ModelCache.h"

#include "runtime/CpuFeatures.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

namespace sinter {

std::string ModelCache::pathOf(const Hash128 &key, const char *kind) const {
  return options.cacheFolder + "/" + key.text() + "-" + kind + ".sinter";
}

/// The text of the entry \p path.
std::optional<std::string> ModelCache::textAt(const std::string &path) const {
  Result<std::optional<std::string>> text = readTextEntry(path);
  if (text)
    return std::move(*text);
  notes.note("what the cache keeps of the model is made anew: " +
             text.error().message());
  return std::nullopt;
}

std::optional<ModelDescription>
ModelCache::description(const Hash128 &key) const {
  const std::string path = pathOf(key, "model");
  const std::optional<std::string> text = textAt(path);
  if (!text)
    return std::nullopt;
  std::optional<ModelDescription> known = descriptionFromJson(*text);
  if (known)
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return known;
}

void ModelCache::keepDescription(const Hash128 &key,
                                 const ModelDescription &model) const {
  // Where the folder cannot be written, storing a program has said so.
  std::error_code ignored;
  if (!std::filesystem::exists(options.cacheFolder, ignored))
    return;
  if (Result<void> written =
          writeTextEntry(pathOf(key, "model"), toJson(model));
      !written)
    notes.note(written.error().message());
}

std::shared_ptr<const Program> ModelCache::program(const Hash128 &key) {
  std::shared_ptr<const Program> program = programs.lookup(key);
  // What the user wants of another machine is not made again.
  if (!program || !options.cpu.empty() || !options.features.empty())
    return program;
  Result<void> fits = checkHost(program->triple, program->features);
  if (fits)
    return program;
  notes.note("the cached program is compiled anew: " + fits.error().message());
  return nullptr;
}

std::optional<std::string> ModelCache::refusal(const Hash128 &key) const {
  return textAt(pathOf(key, "static"));
}

void ModelCache::keepRefusal(const Hash128 &key, const std::string &why) const {
  makeCacheFolder(options.cacheFolder);
  // Where the folder cannot be written, storing a program says so.
  static_cast<void>(writeTextEntry(pathOf(key, "static"), why));
}

} // namespace sinter
