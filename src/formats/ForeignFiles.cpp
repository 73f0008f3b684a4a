//===- ForeignFiles.cpp - files of other tools ----------------------------===//

#include "formats/ForeignFiles.h"

#include "formats/WireReader.h"
#include "runtime/ZipDirectory.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <vector>

namespace sinter {

using Contents = std::span<const std::byte>;

namespace {

constexpr const char *fromPyTorch =
    "load it in PyTorch and export the network with torch.onnx.export(network, "
    "inputs, 'model.onnx')";
constexpr const char *ofOtherNetwork =
    "export the network that it was made of as ONNX";

/// The first bytes, as text.
std::string_view beginOf(Contents contents, size_t most = 1 << 16) {
  return {reinterpret_cast<const char *>(contents.data()),
          std::min(contents.size(), most)};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// An OpenVINO network (IR): <net> with <layers>, behind a declaration or not.
bool isOpenVino(Contents contents) {
  const std::string_view text = beginOf(contents);
  const size_t first = text.find('<');
  if (first == std::string_view::npos ||
      text.find_first_not_of("\xEF\xBB\xBF \t\r\n") != first)
    return false;
  const size_t net = text.find("<net ");
  return net != std::string_view::npos &&
         text.find("<layers>", net) != std::string_view::npos;
}

//===----------------------------------------------------------------------===//
// Zip archives
//===----------------------------------------------------------------------===//

/// The names of the files in an archive; empty for anything else.
std::vector<std::string> namesInZip(Contents contents) {
  std::vector<std::string> names;
  if (beginsAsZip(contents))
    if (Result<std::vector<ZipEntry>> entries = zipEntries(contents))
      for (ZipEntry &entry : *entries)
        names.push_back(std::move(entry.name));
  return names;
}

/// Whether a file in an archive, or in the folder that it holds, is called \p
/// name.
bool holds(const std::vector<std::string> &names, std::string_view name) {
  return std::ranges::any_of(names, [&](const std::string &each) {
    return each == name || each.ends_with("/" + std::string(name));
  });
}

bool isTorchScript(Contents contents) {
  const std::vector<std::string> names = namesInZip(contents);
  return holds(names, "data.pkl") && holds(names, "constants.pkl");
}

bool isTorchCheckpoint(Contents contents) {
  return holds(namesInZip(contents), "data.pkl");
}

bool isTorchExport(Contents contents) {
  const std::vector<std::string> names = namesInZip(contents);
  return holds(names, "serialized_exported_program.json") ||
         (holds(names, "archive_format") && holds(names, "models/model.json"));
}

bool isKerasArchive(Contents contents) {
  const std::vector<std::string> names = namesInZip(contents);
  return holds(names, "config.json") && holds(names, "model.weights.h5");
}

bool isNpz(Contents contents) {
  const std::vector<std::string> names = namesInZip(contents);
  return !names.empty() && std::ranges::all_of(names, [](const auto &each) {
    return each.ends_with(".npy");
  });
}

//===----------------------------------------------------------------------===//
// Pickles, HDF5 and safetensors
//===----------------------------------------------------------------------===//

bool isPickle(Contents contents) {
  constexpr std::byte protocol{0x80}, first{2}, last{5};
  return contents.size() > 2 && contents[0] == protocol &&
         contents[1] >= first && contents[1] <= last;
}

/// What torch.save wrote before it wrote archives: a pickle of its magic
/// number, 0x1950a86a20f9469cfc6c, comes first.
bool isOldTorchCheckpoint(Contents contents) {
  return isPickle(contents) &&
         beginOf(contents.subspan(2))
             .starts_with("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19");
}

bool isScikitLearn(Contents contents) {
  return isPickle(contents) &&
         beginOf(contents).find("sklearn") != std::string_view::npos;
}

bool isHdf5(Contents contents) {
  return beginOf(contents).starts_with("\x89HDF\r\n\x1a\n");
}

/// Keras names itself in attributes of the root, which is near the beginning.
bool isKerasHdf5(Contents contents) {
  constexpr size_t looked = 1 << 20;
  return isHdf5(contents) &&
         beginOf(contents, looked).find("keras") != std::string_view::npos;
}

/// The size of a JSON header, and the header.
bool isSafetensors(Contents contents) {
  const std::optional<uint64_t> header = littleEndianAt(contents, 0, 8);
  if (!header || *header < 2 || *header > contents.size() - 8)
    return false;
  const std::string_view text = beginOf(contents.subspan(8, *header));
  const bool isWhole = *header <= text.size();
  return text.starts_with("{") &&
         (text.find("\"data_offsets\"") != std::string_view::npos ||
          (isWhole && text.find_first_not_of("{} ") == std::string_view::npos));
}

//===----------------------------------------------------------------------===//
// Protobuf messages
//===----------------------------------------------------------------------===//

/// Whether \p message begins with a field of bytes that is not empty, which it
/// sets \p field to.
bool takesBytes(WireReader &message, uint32_t number, WireField &field) {
  return message.next(field) && field.number == number &&
         field.type == WireType::Bytes && !field.content.empty();
}

/// A GraphDef: nodes come first, and of each its name and its operation.
bool isTensorFlowGraph(Contents contents) {
  WireReader graph(contents);
  WireField node, name, op;
  if (!takesBytes(graph, 1, node))
    return false;
  WireReader fields(node.content);
  return takesBytes(fields, 1, name) && takesBytes(fields, 2, op) &&
         std::ranges::all_of(op.content, [](std::byte each) {
           const char letter = static_cast<char>(each);
           return std::isalnum(static_cast<unsigned char>(letter)) ||
                  letter == '_' || letter == '>';
         });
}

/// A SavedModel: its version, and messages that hold a description of
/// themselves and a graph.
bool isTensorFlowSavedModel(Contents contents) {
  WireReader saved(contents);
  WireField version, meta, inner;
  if (!saved.next(version) || version.number != 1 ||
      version.type != WireType::Varint || !takesBytes(saved, 2, meta))
    return false;
  WireReader fields(meta.content);
  while (fields.next(inner))
    if (inner.number == 2 && inner.type == WireType::Bytes &&
        isTensorFlowGraph(inner.content))
      return true;
  return false;
}

/// A Core ML model has one of the fields that say of which kind it is.
bool isCoreMl(Contents contents) {
  constexpr uint32_t firstKind = 200;
  WireReader model(contents);
  WireField field;
  if (!model.next(field) || field.number != 1 || field.type != WireType::Varint)
    return false;
  while (model.next(field))
    if (field.number >= firstKind)
      return field.type == WireType::Bytes;
  return false;
}

/// A network of Caffe: its name, and layers.
bool isCaffe(Contents contents) {
  constexpr uint32_t layer = 100, oldLayer = 2;
  WireReader net(contents);
  WireField field;
  if (!takesBytes(net, 1, field))
    return false;
  while (net.next(field))
    if (field.number == layer || field.number == oldLayer) {
      WireField name;
      WireReader inner(field.content);
      return field.type == WireType::Bytes && inner.next(name);
    }
  return false;
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

struct ForeignMagic {
  size_t offset;
  std::string_view magic;
  ForeignFile kind;
};

constexpr ForeignMagic magics[] = {
    {4,
     "TFL3",
     {"a TensorFlow Lite model",
      "`python -m tf2onnx.convert --tflite FILE --output model.onnx` makes "
      "ONNX of it"}},
    {4,
     "ORTM",
     {"a model in ONNX Runtime's own format (ORT)",
      "give the .onnx file that it was made of"}},
    {4,
     "ET12",
     {"an ExecuTorch program",
      "export the PyTorch network with torch.onnx.export instead"}},
    {0,
     "GGUF",
     {"a GGUF file, which has weights for llama.cpp but no graph",
      "export the network that they are of as ONNX"}},
    {0,
     "ptrt",
     {"an engine of TensorRT, compiled for one GPU",
      "give the ONNX file that it was built from"}},
    {0,
     "ftrt",
     {"an engine of TensorRT, compiled for one GPU",
      "give the ONNX file that it was built from"}},
    {0, "7767517\n", {"a network of ncnn", ofOtherNetwork}},
    {0, "\x93NUMPY", {"a NumPy array", "it can be an input"}},
    {0, "\x89PNG", {"a PNG image", "it can be an input"}},
    {0, "\xFF\xD8\xFF", {"a JPEG image", "it can be an input"}},
    {0,
     "\x7f"
     "ELF",
     {"a program or a library", ""}},
    {0, "\x1f\x8b", {"compressed with gzip", "unpack it first"}},
};

struct ForeignKind {
  bool (*recognises)(Contents contents);
  ForeignFile kind;
};

/// In this order: a kind is more special than those behind it.
constexpr ForeignKind kinds[] = {
    {isOpenVino, {"an OpenVINO network (IR)", ofOtherNetwork}},
    {isTorchScript,
     {"a TorchScript program of PyTorch",
      "torch.jit.load reads it, and torch.onnx.export makes ONNX of it"}},
    {isTorchCheckpoint, {"a PyTorch checkpoint", fromPyTorch}},
    {isTorchExport,
     {"a program of torch.export",
      "torch.onnx.export(torch.export.load(FILE), f='model.onnx') makes ONNX "
      "of it"}},
    {isKerasArchive,
     {"a Keras model",
      "keras.models.load_model(FILE).export('model.onnx', format='onnx') makes "
      "ONNX of it"}},
    {isNpz,
     {"an archive of NumPy arrays", "they can be inputs, samples or weights"}},
    {beginsAsZip, {"a zip archive", "unpack it first"}},
    {isOldTorchCheckpoint, {"a PyTorch checkpoint", fromPyTorch}},
    {isScikitLearn,
     {"a pickled model of scikit-learn", "skl2onnx makes ONNX of it"}},
    {isPickle,
     {"a Python pickle (a PyTorch checkpoint, perhaps)", fromPyTorch}},
    {isKerasHdf5,
     {"a Keras model (HDF5)",
      "load it in Keras, and tf2onnx.convert.from_keras(network, "
      "output_path='model.onnx') makes ONNX of it"}},
    {isHdf5, {"an HDF5 file", ofOtherNetwork}},
    {isSafetensors,
     {"a safetensors file, which has weights but no graph",
      "load them into the network and export that with torch.onnx.export"}},
    {isTensorFlowSavedModel,
     {"a SavedModel of TensorFlow",
      "`python -m tf2onnx.convert --saved-model FOLDER --output model.onnx` "
      "makes ONNX of its folder"}},
    {isTensorFlowGraph,
     {"a graph of TensorFlow",
      "`python -m tf2onnx.convert --graphdef FILE --inputs ... --outputs ... "
      "--output model.onnx` makes ONNX of it"}},
    {isCoreMl, {"a Core ML model", ofOtherNetwork}},
    {isCaffe, {"a Caffe network", ofOtherNetwork}},
};

/// A folder, by one or two files that are in it. `*` begins the end of a name.
struct ForeignFolder {
  std::array<std::string_view, 2> files;
  ForeignFile kind;
};

constexpr ForeignFolder folders[] = {
    {{"saved_model.pb"},
     {"a SavedModel of TensorFlow",
      "`python -m tf2onnx.convert --saved-model FOLDER --output model.onnx` "
      "makes ONNX of it"}},
    {{"Manifest.json", "Data"}, {"a Core ML package", ofOtherNetwork}},
    {{"coremldata.bin"}, {"a compiled Core ML model", ofOtherNetwork}},
    {{"openvino_model.xml"}, {"an OpenVINO network (IR)", ofOtherNetwork}},
    {{"config.json", "*.safetensors"},
     {"a model of Hugging Face Transformers",
      "`optimum-cli export onnx --model FOLDER out/` makes ONNX of it"}},
    {{"config.json", "pytorch_model.bin"},
     {"a model of Hugging Face Transformers",
      "`optimum-cli export onnx --model FOLDER out/` makes ONNX of it"}},
};

struct ForeignExtension {
  std::string_view suffix;
  ForeignFile kind;
};

constexpr ForeignExtension extensions[] = {
    {".engine",
     {"an engine of TensorRT", "give the ONNX file that it was built from"}},
    {".plan",
     {"an engine of TensorRT", "give the ONNX file that it was built from"}},
    {".trt",
     {"an engine of TensorRT", "give the ONNX file that it was built from"}},
    {".pt", {"a PyTorch checkpoint", fromPyTorch}},
    {".pth", {"a PyTorch checkpoint", fromPyTorch}},
    {".pbtxt", {"a graph of TensorFlow as text", ofOtherNetwork}},
    {".prototxt", {"a Caffe network", ofOtherNetwork}},
    {".mnn", {"a network of MNN", ofOtherNetwork}},
};

/// Whether the folder has the file \p name, or none is asked for.
bool hasFile(const std::string &folder, std::string_view name) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (name.empty())
    return true;
  if (!name.starts_with("*"))
    return fs::exists(fs::path(folder) / name, error);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().ends_with(name.substr(1)))
      return true;
  return false;
}

} // namespace

std::optional<ForeignFile> foreignFile(Contents contents) {
  for (const ForeignMagic &each : magics)
    if (contents.size() > each.offset &&
        beginOf(contents.subspan(each.offset)).starts_with(each.magic))
      return each.kind;
  for (const ForeignKind &each : kinds)
    if (each.recognises(contents))
      return each.kind;
  return std::nullopt;
}

std::optional<ForeignFile> foreignFolder(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return std::nullopt;
  for (const ForeignFolder &each : folders)
    if (std::ranges::all_of(each.files, [&](std::string_view name) {
          return hasFile(path, name);
        }))
      return each.kind;
  return std::nullopt;
}

std::optional<ForeignFile> foreignName(const std::string &path) {
  for (const ForeignExtension &each : extensions)
    if (path.ends_with(each.suffix))
      return each.kind;
  return std::nullopt;
}

} // namespace sinter
