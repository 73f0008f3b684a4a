//===- ForeignFiles.h - files of other tools ------------------------------===//
//
// What users give as a model by mistake: models in formats that we do not read,
// weights without a graph, and data. Each kind is named, with what to do.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_FOREIGNFILES_H
#define SINTER_FORMATS_FOREIGNFILES_H

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sinter {

struct ForeignFile {
  /// "a PyTorch checkpoint".
  std::string_view what;
  /// What to do: "export the network with torch.onnx.export". May be empty.
  std::string_view hint;
};

/// What a file with \p contents is, if they show that it is of a kind that we
/// do not read.
std::optional<ForeignFile> foreignFile(std::span<const std::byte> contents);

/// The same of the folder \p path, by the files in it.
std::optional<ForeignFile> foreignFolder(const std::string &path);

/// What files with the name of \p path usually are, by their extension: for
/// contents that no format has.
std::optional<ForeignFile> foreignName(const std::string &path);

} // namespace sinter

#endif // SINTER_FORMATS_FOREIGNFILES_H
