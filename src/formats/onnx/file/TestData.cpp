#include "formats/TestData.h"

#include "formats/onnx/file/ArgumentNames.h"
#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"

#include <filesystem>

namespace sinter {

using Infos = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

struct TestData::Declared {
  onnx::OnnxFile file;
};

Result<TestData> TestData::open(const std::string &path) {
  if (!path.ends_with(".onnx"))
    return TestData(nullptr);
  Result<onnx::OnnxFile> file = onnx::OnnxFile::open(path);
  if (!file)
    return file.takeError();
  return TestData(std::make_shared<Declared>(Declared{std::move(*file)}));
}

/// Reads the files <kind>_0.pb, <kind>_1.pb, ... in \p folder, which hold
/// values of the types in \p infos.
static Result<TestTensors> readTensors(const std::string &folder,
                                       const std::string &kind,
                                       const Infos &infos) {
  TestTensors read;
  for (int index = 0;; ++index) {
    const std::string path =
        folder + "/" + kind + "_" + std::to_string(index) + ".pb";
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      return read;
    onnx::ValueForm form = onnx::ValueForm::Tensor;
    std::string name;
    if (index < infos.size()) {
      form = onnx::formOf(infos[index].type());
      name = infos[index].name();
    }
    Result<onnx::FileValue> value = onnx::readValueFile(path, form);
    if (!value)
      return value.takeError();
    if (auto *tensor = std::get_if<Tensor>(&*value)) {
      if (form != onnx::ValueForm::Tensor)
        read.elements[name] = tensor->shape();
      read.tensors.push_back(std::move(*tensor));
    } else if (auto *list = std::get_if<std::vector<Tensor>>(&*value)) {
      for (size_t i = 0; i < list->size(); ++i) {
        read.elements[onnx::elementName(name, i)] = (*list)[i].shape();
        read.tensors.push_back(std::move((*list)[i]));
      }
    }
  }
}

Result<TestTensors> TestData::inputs(const std::string &set) const {
  return readTensors(set, "input",
                     declared ? declared->file.model().graph().input()
                              : Infos());
}

Result<TestTensors> TestData::outputs(const std::string &set) const {
  return readTensors(set, "output",
                     declared ? declared->file.model().graph().output()
                              : Infos());
}

Result<Tensor> readTestTensor(const std::string &path) {
  return onnx::readTensorFile(path);
}

} // namespace sinter
