//===- Importer.h - from a parsed ONNX model to the graph language --------===//
//
// Walks the nodes of a checked model (formats/onnx/file) and has each one
// translated by its operator's importer (Operators.h). Names are looked up in
// frames: one for the graph, one for each nested graph or local function while
// it is being read.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_IMPORTER_H
#define SINTER_FORMATS_ONNX_IMPORTER_H

#include "formats/onnx/KnownValues.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"
#include "graph/FirstError.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace sinter::onnx {

/// What a name of the file stands for while a model is read.
struct Bound {
  enum Kind : uint8_t { Tensor, Sequence, None, Poisoned };
  Bound() = default;
  Bound(mlir::Value value) : kind(Tensor), value(value) {}
  static Bound sequence(llvm::SmallVector<mlir::Value> elements) {
    Bound bound;
    bound.kind = Sequence;
    bound.elements = std::move(elements);
    return bound;
  }
  static Bound poisoned() {
    Bound bound;
    bound.kind = Poisoned;
    return bound;
  }
  /// None: an empty optional. Poisoned: a node before it is not supported.
  Kind kind = None;
  mlir::Value value;
  llvm::SmallVector<mlir::Value> elements;
};

/// The names of one graph or function body.
struct Frame {
  Frame *parent = nullptr;
  llvm::StringMap<Bound> values;
  llvm::StringMap<const TensorProto *> initializers;
  llvm::StringMap<const SparseTensorProto *> sparseInitializers;
  /// The opset version of each domain; "ai.onnx" is "".
  const std::map<std::string, int64_t> *opsets = nullptr;
  /// In a function: its attributes, as the caller gave them.
  llvm::StringMap<const AttributeProto *> attributes;
  bool isFunction = false;
  /// Before the names of nodes: "caller/".
  std::string prefix;
  int depth = 0;
};

/// Why a node was not translated.
struct ErrorInNode {
  ErrorKind kind;
  std::string reason;
  /// Whether it is for want of a size or a value only.
  bool waits = false;
};

class Importer {
public:
  Importer(OnnxFile file, const ReadOptions &options,
           std::shared_ptr<mlir::MLIRContext> context);

  Result<Model> run();

  //===--- For operators with graphs and functions ------------------------===//

  /// Translates a graph's nodes at the insertion point. \p inputs are its
  /// inputs; a name of an outer frame is seen. Nothing if it failed (an error
  /// is recorded).
  std::optional<std::vector<Bound>> importGraph(const GraphProto &graph,
                                                Frame &parent,
                                                llvm::ArrayRef<Bound> inputs,
                                                llvm::StringRef prefix);
  std::optional<std::vector<Bound>>
  importFunction(const FunctionProto &function, Frame &caller,
                 const NodeProto &node, llvm::ArrayRef<Bound> inputs);
  const FunctionProto *findFunction(llvm::StringRef domain,
                                    llvm::StringRef name,
                                    llvm::StringRef overload);
  /// What a name stands for; null if it is not defined.
  const Bound *lookup(Frame &frame, llvm::StringRef name);
  /// What the file declares of a tensor of the main graph; null if nothing.
  const TypeProto *declaredType(llvm::StringRef name);
  /// Whether a node was found to be not valid.
  bool failed() const { return firstError.has_value(); }

  /// The text of the last diagnostic; empty if there was none since the last
  /// call.
  std::string takeDiagnostic();
  /// A constant at the start of the entry function.
  mlir::Value makeInitializer(const class sinter::Tensor &tensor,
                              llvm::StringRef name);

  OnnxFile file;
  const ReadOptions &options;
  std::shared_ptr<mlir::MLIRContext> contextOwner;
  mlir::OpBuilder builder;
  KnownValues known;

private:
  void importNodes(const google::protobuf::RepeatedPtrField<NodeProto> &nodes,
                   Frame &frame);
  void importNode(const NodeProto &node, Frame &frame);
  void importCall(const NodeProto &node, const FunctionProto &function,
                  Frame &frame, llvm::ArrayRef<Bound> inputs);
  void bindInitializers(const GraphProto &graph, Frame &frame);
  Result<mlir::Value>
  addArgument(const std::string &name, const TypeProto_Tensor &type,
              const std::map<std::string, int64_t> &bindings,
              mlir::NamedAttrList &attributes);
  mlir::DictionaryAttr resultAttributes(const std::string &name,
                                        mlir::Value value);
  Result<void> bindInputs(const GraphProto &graph, Frame &frame,
                          mlir::func::FuncOp function);
  Result<void> bindOutputs(const GraphProto &graph, Frame &frame,
                           mlir::func::FuncOp function);
  bool defer(class NodeContext &node);
  void recordGroup(class NodeContext &node);
  void poison(const NodeProto &node, Frame &frame);
  void addUnsupported(const NodeProto &node, const Frame &frame,
                      int64_t version, const std::string &reason);
  Error unsupportedError() const;
  std::optional<int64_t> versionOf(const Frame &frame, llvm::StringRef domain);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *entryBlock = nullptr;
  mlir::Operation *lastInitializer = nullptr;
  std::map<std::string, int64_t> opsets;
  std::map<const FunctionProto *, std::map<std::string, int64_t>>
      functionOpsets;
  llvm::StringMap<const FunctionProto *> functions;
  std::optional<llvm::StringMap<const TypeProto *>> declaredTypes;
  std::vector<mlir::Attribute> nodeRecords;
  /// The numbers of those that passes leave alone.
  std::vector<int64_t> wholeNodes;
  FirstError reported;
  std::optional<Error> firstError;
  struct Unsupported {
    int64_t count = 0;
    /// How messages name the first such node.
    std::string first;
  };
  /// By "Op (domain version): reason".
  std::map<std::string, Unsupported> unsupportedNodes;
  int64_t nodeCount = 0;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_IMPORTER_H
