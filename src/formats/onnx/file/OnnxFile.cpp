//===- OnnxFile.cpp - an open ONNX model ----------------------------------===//

#include "formats/onnx/file/OnnxFile.h"

#include "formats/onnx/file/ExternalData.h"
#include "formats/onnx/file/ModelCheck.h"
#include "formats/onnx/file/Parse.h"
#include "formats/onnx/file/onnx.pb.h"
#include "runtime/MappedFile.h"

#include <filesystem>

using namespace sinter;
using namespace sinter::onnx;

struct OnnxFile::State {
  State(std::string name, std::string folder, FileBytes file)
      : name(std::move(name)), external(std::move(folder)),
        source{std::move(file), &external} {}

  std::string name;
  ExternalData external;
  DataSource source;
  ModelProto model;
};

static bool isLfsPointer(std::span<const std::byte> bytes) {
  constexpr std::string_view start = "version https://git-lfs.github.com/spec/";
  return bytes.size() > start.size() &&
         std::memcmp(bytes.data(), start.data(), start.size()) == 0;
}

Result<OnnxFile> OnnxFile::load(std::shared_ptr<State> state) {
  auto fail = [&](const std::string &reason) {
    return inFile(invalidModel(reason), state->name);
  };
  std::span<const std::byte> bytes = state->source.file.bytes;
  if (bytes.empty())
    return fail("not an ONNX model: the file is empty");
  if (isLfsPointer(bytes))
    return fail("not an ONNX model but a Git LFS pointer to one; get the file "
                "itself with 'git lfs pull'");
  Result<void> parsed =
      parseWithoutPayloads(bytes, MessageKind::Model, state->model);
  if (!parsed)
    return fail("not an ONNX model: " + parsed.error().message());
  if (Result<void> checked = checkModel(state->model); !checked)
    return inFile(checked.takeError(), state->name);
  return OnnxFile(std::move(state));
}

Result<OnnxFile> OnnxFile::open(const std::string &path) {
  Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  std::string folder = std::filesystem::path(path).parent_path().string();
  return load(std::make_shared<State>(path, std::move(folder),
                                      FileBytes{(*file)->bytes(), *file}));
}

Result<OnnxFile> OnnxFile::fromMemory(std::string bytes, std::string folder,
                                      std::string name) {
  auto kept = std::make_shared<const std::string>(std::move(bytes));
  FileBytes file{std::as_bytes(std::span(*kept)), kept};
  return load(std::make_shared<State>(std::move(name), std::move(folder),
                                      std::move(file)));
}

const ModelProto &OnnxFile::model() const { return state->model; }
const std::string &OnnxFile::name() const { return state->name; }
const DataSource &OnnxFile::source() const { return state->source; }

Error OnnxFile::inTensor(std::string_view tensor, std::string_view what,
                         const Error &error) const {
  std::string subject = !tensor.empty() ? "tensor '" + std::string(tensor) + "'"
                        : !what.empty() ? std::string(what)
                                        : "a tensor without name";
  return inFile(inside(subject, error), state->name);
}

Result<Tensor> OnnxFile::tensorOf(const TensorProto &proto,
                                  std::string_view what) const {
  Result<Tensor> tensor = decodeTensor(proto, state->source);
  if (!tensor)
    return inTensor(proto.name(), what, tensor.error());
  return tensor;
}

Result<Tensor> OnnxFile::tensorOf(const SparseTensorProto &proto,
                                  std::string_view what) const {
  Result<Tensor> tensor = decodeSparse(proto, state->source);
  if (!tensor)
    return inTensor(proto.values().name(), what, tensor.error());
  return tensor;
}
