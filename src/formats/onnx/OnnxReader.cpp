#include "formats/onnx/OnnxReader.h"

#include "formats/onnx/Importer.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/NestedGraphs.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

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

namespace {

/// Searches graphs. The file's check bounds their nesting.
class UnknownOperators {
public:
  explicit UnknownOperators(const onnx::ModelProto &model) {
    for (const onnx::FunctionProto &function : model.functions())
      functions.insert({function.domain(), function.name()});
  }

  bool areIn(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
    return llvm::any_of(nodes, [&](const onnx::NodeProto &node) {
      bool found = isUnknown(node);
      onnx::forEachGraph(node, [&](const onnx::GraphProto &graph) {
        found = found || areIn(graph.node());
      });
      return found;
    });
  }

private:
  bool isUnknown(const onnx::NodeProto &node) const {
    return !functions.count({node.domain(), node.op_type()}) &&
           !onnx::findOperator(onnx::domainKey(node.domain()), node.op_type());
  }

  std::set<std::pair<std::string, std::string>> functions;
};

} // namespace

bool hasUnknownOperators(const onnx::OnnxFile &file) {
  UnknownOperators unknown(file.model());
  return unknown.areIn(file.model().graph().node()) ||
         llvm::any_of(file.model().functions(),
                      [&](const onnx::FunctionProto &function) {
                        return unknown.areIn(function.node());
                      });
}

bool mayReplaceDefaults(const onnx::OnnxFile &file) {
  constexpr int64_t firstWithConstants = 4;
  return file.model().ir_version() >= firstWithConstants;
}

} // namespace sinter
