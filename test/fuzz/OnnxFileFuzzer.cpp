//===- OnnxFileFuzzer.cpp - any bytes as an ONNX model --------------------===//
//
// Opens the bytes, reads every tensor, writes the model and reads it again.
// Nothing may crash, and what was read once must be readable again.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/OnnxWriter.h"
#include "formats/onnx/file/onnx.pb.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace sinter;
using namespace sinter::onnx;

/// Reads the tensors of \p graph and of the graphs in it.
static void readTensors(const OnnxFile &file, const GraphProto &graph) {
  for (const TensorProto &tensor : graph.initializer())
    (void)file.tensorOf(tensor);
  for (const SparseTensorProto &tensor : graph.sparse_initializer())
    (void)file.tensorOf(tensor);
  for (const NodeProto &node : graph.node())
    for (const AttributeProto &attribute : node.attribute()) {
      if (attribute.has_t())
        (void)file.tensorOf(attribute.t());
      if (attribute.has_g())
        readTensors(file, attribute.g());
    }
}

/// A folder without files: external data can be looked for, never found.
static const std::string &emptyFolder() {
  static const std::string folder = [] {
    std::string pattern = "/tmp/sinter-fuzz-XXXXXX";
    if (!mkdtemp(pattern.data()))
      std::abort();
    std::atexit([] { rmdir(emptyFolder().c_str()); });
    return pattern;
  }();
  return folder;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<OnnxFile> file = OnnxFile::fromMemory(
      std::string(reinterpret_cast<const char *>(data), size), emptyFolder(),
      "fuzz.onnx");
  if (!file) {
    if (file.error().message().find('\n') != std::string::npos)
      std::abort();
    return 0;
  }
  readTensors(*file, file->model().graph());
  OnnxWriter writer(*file);
  Result<SplicedMessage> written = writer.assemble(file->model());
  if (!written)
    return 0;
  std::string copy;
  for (std::span<const std::byte> piece : written->pieces())
    copy.append(reinterpret_cast<const char *>(piece.data()), piece.size());
  Result<OnnxFile> again =
      OnnxFile::fromMemory(std::move(copy), emptyFolder(), "again.onnx");
  if (!again) {
    std::fprintf(stderr, "%s\n", again.error().message().c_str());
    std::abort();
  }
  return 0;
}
