//===- FindFormat.cpp - the format of a model file ------------------------===//

#include "engine/compiler/FindFormat.h"

#include "formats/ForeignFiles.h"
#include "runtime/MappedFile.h"

namespace sinter {

/// The error that the file or folder at \p path is \p foreign.
static Error foreignError(const std::string &path, const ForeignFile &foreign) {
  return withHint(foreign.hint,
                  inFile(invalidModel("this is " + std::string(foreign.what) +
                                      ", no model that Sinter reads"),
                         path));
}

/// Whether \p contents begin as an ONNX model usually does, with the version of
/// its format.
static bool beginsAsOnnx(std::span<const std::byte> contents) {
  constexpr std::byte versionTag{0x08};
  return !contents.empty() && contents.front() == versionTag;
}

Result<const Format *> findFormat(const std::string &path) {
  if (const Format *format = formatOf(path, {}))
    return format;
  if (const auto foreign = foreignFolder(path))
    return foreignError(path, *foreign);
  // What is not there, or no regular file, is said here.
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  const std::span<const std::byte> contents = (*file)->bytes();
  if (contents.empty())
    return inFile(invalidModel("the file is empty"), path);
  // What a format knows by its contents is not foreign, whatever its name.
  if (const Format *format = formatOf("", contents);
      format && format->recognises("", contents) == Likeness::Yes)
    return format;
  if (const auto foreign = foreignFile(contents))
    return foreignError(path, *foreign);
  if (!beginsAsOnnx(contents))
    if (const auto foreign = foreignName(path))
      return foreignError(path, *foreign);
  if (const Format *format = formatOf(path, contents))
    return format;
  return inFile(invalidModel("this is a model of no format that is known"),
                path);
}

} // namespace sinter
