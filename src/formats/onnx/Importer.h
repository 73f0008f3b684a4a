//===- Importer.h - from a parsed ONNX model to the graph language --------===//
//
// Walks the nodes of a checked model (formats/onnx/file) and translates each by
// its operator's importer (Operators.h). Names are looked up in frames: one for
// the graph, one for each nested graph or local function during its import.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_IMPORTER_H
#define SINTER_FORMATS_ONNX_IMPORTER_H

#include "formats/import/BranchChoice.h"
#include "formats/import/EntryFunction.h"
#include "formats/import/Unsupported.h"
#include "formats/onnx/KnownForms.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"
#include "graph/FirstError.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace sinter::onnx {

using formats::Element;
using formats::Elements;
using formats::KnownValues;

/// The value of a name of the file during import.
struct Bound {
  enum Kind : uint8_t { Tensor, Sequence, Packed, Coded, None, Kept, Poisoned };
  Bound() = default;
  Bound(mlir::Value value) : kind(Tensor), value(value) {}
  static Bound sequence(llvm::SmallVector<mlir::Value> elements) {
    Bound bound;
    bound.kind = Sequence;
    bound.elements = std::move(elements);
    return bound;
  }
  /// An optional input that has no value.
  static Bound notGiven() {
    Bound bound;
    bound.isNotGiven = true;
    return bound;
  }
  static Bound coded(mlir::Value codes, int32_t dataType) {
    Bound bound(codes);
    bound.kind = Coded;
    bound.dataType = dataType;
    return bound;
  }
  static Bound poisoned() {
    Bound bound;
    bound.kind = Poisoned;
    return bound;
  }
  static Bound kept(mlir::Value value) {
    Bound bound(value);
    bound.kind = Kept;
    return bound;
  }
  bool isSequence() const { return kind == Sequence || kind == Packed; }
  /// Sequence: of \c elements. Packed: one with a dynamic number of tensors
  /// (ops/PackedSequence.h). Coded: codes of an element type that the graph
  /// language lacks (ops/Minifloats.h). None: an empty optional. Kept: of a
  /// type that the graph language lacks, or unknown; only kept nodes use it.
  /// Poisoned: a node that it depends on is not supported.
  Kind kind = None;
  /// None: of an input, which may be given with ReadOptions::shapes.
  bool isNotGiven = false;
  mlir::Value value;
  /// The result of a kept node for the same, as one value; null if there is
  /// none. See KeptNodes.cpp.
  mlir::Value whole;
  llvm::SmallVector<mlir::Value> elements;
  /// The type of a Packed sequence.
  mlir::RankedTensorType type;
  /// TensorProto.DataType of a Coded tensor.
  int32_t dataType = 0;
};

/// The names of one graph or function body.
struct Frame {
  Frame *parent = nullptr;
  llvm::StringMap<Bound> values;
  llvm::StringMap<const TensorProto *> initializers;
  llvm::StringMap<const SparseTensorProto *> sparseInitializers;
  /// The opset version of each domain; "ai.onnx" is "".
  const std::map<std::string, int64_t> *opsets = nullptr;
  /// In a function: the attributes from the caller.
  llvm::StringMap<const AttributeProto *> attributes;
  bool isFunction = false;
  /// The prefix of node names: "caller/".
  std::string prefix;
  int depth = 0;
};

class Importer {
public:
  Importer(OnnxFile file, const ReadOptions &options,
           std::shared_ptr<mlir::MLIRContext> context);

  Result<Model> run();

  //===--- For operators with graphs and functions ------------------------===//

  /// Translates a graph's nodes at the insertion point. \p inputs are its
  /// inputs; names of outer frames are visible. Nothing on failure (an error is
  /// recorded).
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
  /// The value of a name; null if it is not defined.
  const Bound *lookup(Frame &frame, llvm::StringRef name);
  /// The declared type of a tensor of the main graph; null if there is none.
  const TypeProto *declaredType(llvm::StringRef name);
  /// Whether a node was found to be invalid.
  bool failed() const { return firstError.has_value(); }
  /// Takes the error out, so that import continues without the last node.
  std::optional<Error> takeError() {
    return std::exchange(firstError, std::nullopt);
  }

  /// The verifiers' messages while a node is translated.
  FirstError &diagnostics() { return reported; }
  /// A constant at the start of the entry function.
  mlir::Value makeInitializer(const class sinter::Tensor &tensor,
                              llvm::StringRef name) {
    return constants.make(builder, entryBlock, tensor, name);
  }

  /// Discards the records of nodes after index \p number, which are imported
  /// again.
  void forgetNodesAfter(int64_t number);

  /// Whether the current node draws random values.
  bool hasDrawn = false;
  /// The branches that nodes were decided to take, and whether the current
  /// node, which failed, is to be translated again with such a decision.
  formats::DecidedBranches decided;
  bool startsAgain = false;

  OnnxFile file;
  const ReadOptions &options;
  std::shared_ptr<mlir::MLIRContext> contextOwner;
  mlir::OpBuilder builder;
  KnownValues known;

private:
  void importNodes(const google::protobuf::RepeatedPtrField<NodeProto> &nodes,
                   Frame &frame);
  void importNode(const NodeProto &node, Frame &frame);
  /// The import state before a node.
  struct Checkpoint {
    mlir::Operation *last = nullptr;
    size_t nodes = 0;
    formats::UnsupportedOperators unsupported;
  };
  void importCall(const NodeProto &node, const FunctionProto &function,
                  Frame &frame, llvm::ArrayRef<Bound> inputs,
                  const Checkpoint &before);
  void bindInitializers(const GraphProto &graph, Frame &frame);
  Result<mlir::Value>
  addArgument(const std::string &name, const TypeProto_Tensor &type,
              const std::map<std::string, int64_t> &bindings,
              mlir::NamedAttrList &attributes);
  Result<void> bindInputs(const GraphProto &graph, Frame &frame,
                          mlir::func::FuncOp function);
  Result<void> bindOutputs(const GraphProto &graph, Frame &frame,
                           mlir::func::FuncOp function);
  void poison(const NodeProto &node, Frame &frame);
  void translate(const NodeProto &node, Frame &frame,
                 llvm::ArrayRef<Bound> inputs, int64_t version,
                 const struct Operator &op, const Checkpoint &before);

  //===--- Records of nodes (ImportRecords.cpp) ----------------===//

  bool defer(class NodeContext &node);
  /// Whether a node uses this name, or a graph or function returns it.
  bool isUsed(llvm::StringRef name);
  void eraseUnneeded(class NodeContext &node);
  mlir::ElementsAttr usedUp(class NodeContext &node, int64_t input);
  void recordGroup(class NodeContext &node, const struct Operator &op);
  void recordUnits();
  bool cannotBeGivenBack(const class NodeContext &node,
                         const struct Operator &op);

  //===--- Kept nodes (KeptNodes.cpp) -------------------------------------===//

  /// Whether nodes of \p frame can be kept.
  bool mayKeep(const Frame &frame) const {
    return options.keepsNodes && !frame.parent && !frame.isFunction;
  }
  /// Whether a writer may give nodes of this operator back.
  bool mayGiveBack(llvm::StringRef domain, llvm::StringRef name,
                   int64_t version) const {
    return !options.standardOperators ||
           isStandardOperator(domain, name, version);
  }
  /// If the next node of \p frame can be kept, or translated again,
  /// `unsupportedNodes` holds only that node's until forgetCheckpoint().
  Checkpoint checkpoint(const Frame &frame);
  void forgetCheckpoint(Checkpoint before);
  void rollBack(const Checkpoint &before);
  /// Undoes the translation of \p node since \p before and keeps the node as it
  /// is (see keepNode), or lists it as unsupported. \p reason: why it was not
  /// translated; empty if it could be.
  void keepInstead(const NodeProto &node, Frame &frame,
                   llvm::ArrayRef<Bound> inputs,
                   llvm::ArrayRef<mlir::Type> types, const Checkpoint &before,
                   const std::string &reason = "");
  /// Binds the outputs of \p node to the results of a kept node; with
  /// \p isBeside, only for users that need them as one value. The outputs have
  /// the types \p types if not null, else those that the file declares. Returns
  /// false if the node cannot be kept.
  bool keepNode(const NodeProto &node, Frame &frame,
                llvm::ArrayRef<Bound> inputs, llvm::ArrayRef<mlir::Type> types,
                bool isBeside, const std::string &reason);
  /// The custom_call that represents the kept node \p node.
  mlir::Operation *makeKeptCall(const NodeProto &node, llvm::StringRef name,
                                llvm::ArrayRef<mlir::Value> operands,
                                llvm::ArrayRef<mlir::Type> types);
  mlir::Type keptType(const std::string &name);
  void setDeclaredSymbols(mlir::Value value, const std::string &name);
  std::optional<std::string> wholeProto(const NodeProto &node);
  bool isKeptInput(const ValueInfoProto &input) const;
  bool isKeptDefault(const ValueInfoProto &input, const Frame &frame) const;
  void setTensorHeaders(GraphProto &header) const;
  mlir::StringAttr headerAttr();
  mlir::ArrayAttr notesAttr();

  /// The number of kept nodes by operator and reason.
  std::map<std::string, int64_t> keptNodes;
  /// The number of inlined calls of each function.
  std::map<std::string, int64_t> inlinedFunctions;
  std::vector<std::string> notes;
  bool keepsCalls = false;

  /// \p error, found at \p node.
  Error inNode(const NodeProto &node, const Frame &frame, Error error) const;
  void addUnsupported(const NodeProto &node, const Frame &frame,
                      int64_t version, const std::string &reason);
  std::optional<int64_t> versionOf(const Frame &frame, llvm::StringRef domain);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *entryBlock = nullptr;
  formats::EntryConstants constants;
  std::map<std::string, int64_t> opsets;
  std::map<const FunctionProto *, std::map<std::string, int64_t>>
      functionOpsets;
  llvm::StringMap<const FunctionProto *> functions;
  std::optional<llvm::StringMap<const TypeProto *>> declaredTypes;
  std::optional<llvm::StringSet<>> usedNames;
  std::vector<mlir::Attribute> nodeRecords;
  /// The nodes of the records, at the same indices.
  std::vector<ReadNode> readNodes;
  /// The indices of nodes that passes leave alone, and of those among them that
  /// stay even if they are constant.
  std::vector<int64_t> wholeNodes, lastingNodes;
  FirstError reported;
  std::optional<Error> firstError;
  /// Kinds are "Op (domain version)".
  formats::UnsupportedOperators unsupportedNodes;
  int64_t nodeCount = 0;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_IMPORTER_H
