#include "formats/onnx/OnnxReader.h"

#include "formats/onnx/Importer.h"

namespace sinter {

Result<Model> readOnnx(const onnx::OnnxFile &file, const ReadOptions &options) {
  onnx::Importer importer(file, options, makeContext());
  return importer.run();
}

Result<Model> readOnnx(const std::string &path, const ReadOptions &options) {
  Result<onnx::OnnxFile> file = onnx::OnnxFile::open(path);
  if (!file)
    return file.takeError();
  return readOnnx(*file, options);
}

} // namespace sinter
