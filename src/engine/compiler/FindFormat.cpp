//===- FindFormat.cpp - the format of a model file ------------------------===//

#include "engine/compiler/FindFormat.h"

#include "runtime/MappedFile.h"

namespace sinter {

/// What the file with \p contents is, if it is a well-known kind of file but no
/// model that we read: "a zip archive (a PyTorch checkpoint?); ...". Else
/// empty.
static std::string foreignKind(std::string_view contents) {
  struct Kind {
    size_t offset;
    std::string_view magic;
    const char *what;
  };
  static constexpr Kind kinds[] = {
      {0, "PK\x03\x04",
       "a zip archive (a PyTorch checkpoint?); torch.onnx.export writes ONNX"},
      {0, "\x80\x02", "a Python pickle; torch.onnx.export writes ONNX"},
      {0, "\x89HDF", "an HDF5 file (a Keras model?); tf2onnx writes ONNX"},
      {4, "TFL3", "a TensorFlow Lite model; tf2onnx writes ONNX"},
      {0, "GGUF", "a GGUF archive of weights, without a graph"},
      {0, "\x93NUMPY", "a NumPy array; it can be an input"},
      {0, "\x89PNG", "a PNG picture; it can be an input"},
      {0, "\xFF\xD8\xFF", "a JPEG picture; it can be an input"},
      {0,
       "\x7f"
       "ELF",
       "a program"},
      {0, "\x1f\x8b", "compressed with gzip; unpack it first"},
  };
  for (const Kind &kind : kinds)
    if (contents.size() > kind.offset &&
        contents.substr(kind.offset).starts_with(kind.magic))
      return kind.what;
  return "";
}

Result<const Format *> findFormat(const std::string &path) {
  if (const Format *format = formatOf(path, {}))
    return format;
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
  if (const std::string kind = foreignKind((*file)->text()); !kind.empty())
    return inFile(invalidModel("this is no model but " + kind), path);
  if (const Format *format = formatOf(path, contents))
    return format;
  return inFile(invalidModel("this is a model of no format that is known"),
                path);
}

} // namespace sinter
