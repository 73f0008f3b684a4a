//===- GraphWriter.h - an ONNX model while it is written ------------------===//
//
// One attempt to write a module for given versions of the operator sets: what
// every value is called, which groups of ops are written as the node they came
// from, and the graphs that are being filled. Rules (WriterRules.h) see it
// through a NodeWriter.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_GRAPHWRITER_H
#define SINTER_FORMATS_ONNX_WRITE_GRAPHWRITER_H

#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/file/OnnxWriter.h"
#include "formats/onnx/file/onnx.pb.h"
#include "formats/onnx/write/BlockScales.h"
#include "formats/onnx/write/Means.h"
#include "graph/Model.h"
#include "graph/Origin.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace sinter::onnx {

using Name = std::string;

/// A graph that nodes are being added to.
struct OpenGraph {
  GraphProto *proto;
  /// The tensors that its own nodes and inputs give.
  llvm::StringSet<> tensors;
  /// Those that kept nodes give under the names that they had.
  llvm::StringSet<> kept;
};

/// Names of tensors and nodes of a graph that is written.
struct InnerNames {
  std::vector<Name> tensors, nodes;
};

/// A node of the file that is given back, see NodeGroups.h.
struct KeptNode {
  UntouchedNode node;
  NodeProto proto;
  std::string name;
  /// The op in whose place the node is written.
  mlir::Operation *anchor = nullptr;
  /// The op that has the node's graphs, if it has any.
  mlir::Operation *holder = nullptr;
  /// The group.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// A convolution or a product of matrices, and the addition of one number a
/// feature: one node.
struct BiasedProduct {
  mlir::Operation *product;
  /// A vector, or where null a constant that becomes one.
  mlir::Value vector;
  std::optional<Tensor> tensor;
  std::string tensorName;
};

class GraphWriter {
public:
  /// \p module is changed: what has no rule is decomposed in it.
  GraphWriter(mlir::ModuleOp module, int64_t version);

  /// Fills model(). Failures are in unsupportedOps() and requiredVersion().
  void run();

  ModelProto &model() { return proto; }
  /// What the model was before, without its computation; empty if it was no
  /// ONNX.
  const ModelProto &original() const { return header; }
  OnnxWriter &data() { return tensorData; }
  /// What cannot be written, with counts.
  const std::map<std::string, int64_t> &unsupportedOps() const {
    return unsupported;
  }
  /// The version that the rules asked for; if it is newer than the one that was
  /// given, what was written is not valid and has to be written anew for it.
  int64_t requiredVersion() const { return required; }

  //===--- For NodeWriter -------------------------------------------------===//

  /// The version of ONNX's own operator set.
  int64_t version() const { return opsetVersion; }
  void need(int64_t version) { required = std::max(required, version); }

  /// The tensor that holds a value. Constants become initializers when they
  /// are first asked for, broadcasts become nodes.
  Name name(mlir::Value value);
  /// Makes \p name stand for \p value.
  void bind(mlir::Value value, const Name &name) {
    names[value] = name;
    bound.push_back(value);
  }
  /// The name that the tensor of \p value is to have, now taken.
  Name claim(mlir::Value value);
  /// Whether a tensor of the graph has to be called as claim() says.
  bool hasFixedName(mlir::Value value) const;
  /// \p wanted, or with a number behind it if that is taken.
  Name freshName(llvm::StringRef wanted);
  Name freshNodeName(llvm::StringRef wanted);
  /// An initializer.
  Name constant(mlir::ElementsAttr value, llvm::StringRef wanted);

  /// The value of an initializer; null for other tensors.
  mlir::ElementsAttr initializerValue(const Name &name) const {
    return initializerValues.lookup(name);
  }

  OpenGraph &graph() { return *current; }
  /// Adds a node to the current graph.
  NodeProto &addNode(llvm::StringRef opType);
  /// Whether the one unknown size of what \p op gives follows from the number
  /// of elements, and nothing computes it.
  bool isInferred(mlir::Operation *op) const { return inferred.contains(op); }
  /// Where a reshape to unknown sizes only puts in dimensions of one element;
  /// nothing where it does more.
  const llvm::SmallVector<int64_t> *unsqueezedAxes(mlir::Operation *op) const {
    auto found = unsqueezed.find(op);
    return found == unsqueezed.end() ? nullptr : &found->second;
  }
  /// Whether \p op only repeats elements and is written when it is needed.
  static bool isBroadcast(mlir::Operation *op);

  /// Writes a region into \p graph with \p arguments for its block's; the
  /// tensors that its terminator returns.
  llvm::SmallVector<Name> writeRegion(mlir::Region &region, OpenGraph &graph,
                                      llvm::ArrayRef<Name> arguments);
  /// Makes \p tensor an output of \p graph, through a node of its own where it
  /// comes from elsewhere or is an output already. What the file said of the
  /// output, \p before, and of such a node, \p copy, stays where not null.
  void addOutput(OpenGraph &graph, Name tensor, mlir::Type type,
                 const ValueInfoProto *before = nullptr,
                 const NodeProto *copy = nullptr);
  /// The names inside of \p graph may be used again, by a graph beside it.
  InnerNames release(const GraphProto &graph);
  void take(const InnerNames &names);
  void addUnsupported(mlir::Operation *op, llvm::StringRef reason);
  /// ValueInfoProto of a tensor; \p dims names unknown dimensions. What the
  /// file said of it, \p before, stays where it is not null.
  bool describe(ValueInfoProto &info, const Name &name, mlir::Type type,
                mlir::ArrayAttr dims = {},
                const ValueInfoProto *before = nullptr);

private:
  void planNames();
  void planBlock(mlir::Block &block);
  void planGroup(mlir::ArrayAttr records, int64_t index,
                 llvm::ArrayRef<mlir::Operation *> ops);
  void planGraphs(const KeptNode &node);
  /// Whether the addition is written as the bias of a product.
  bool planBias(mlir::Operation *add);
  /// Whether the multiplication is written as a DequantizeLinear.
  bool planBlockScales(mlir::Operation *multiply);
  /// Finds the reshapes, means and products that need no computed sizes.
  void planReshapes(mlir::Block &block);
  /// Whether the division is written as a mean.
  bool planMean(mlir::Operation *divide);
  /// The node is written by what its ops do.
  void giveUp(KeptNode *node);
  void writeBlock(mlir::Block &block);
  void writeOp(mlir::Operation *op);
  bool tryRule(mlir::Operation *op, std::string &reason);
  bool decompose(mlir::Operation *op);
  void writeKept(const KeptNode &kept, mlir::Value result = {},
                 const Name &bias = {});
  void writeBiased(mlir::Operation *add, const BiasedProduct &biased);
  void writeBlockScales(mlir::Operation *multiply, const BlockScales &parts);
  void writeMean(mlir::Operation *divide, const Mean &mean);
  void writeInputs(mlir::func::FuncOp function);
  void writeOutputs(mlir::func::FuncOp function);
  void writeGraphs(NodeProto &node, const KeptNode &kept);
  GraphProto writeGraph(const GraphProto &before, mlir::Operation *holder,
                        const HeldGraph &held);
  void writeTensorInfos(const GraphProto &before);
  void addInitializer(const Name &name, const std::optional<Tensor> &tensor);
  void writeAnnotations();
  void writeImports();
  void dropUnusedInitializers();
  void writeLiterals();
  void renameCaptured(NodeProto &node, const KeptNode &kept);
  void reserve(mlir::Value value, llvm::StringRef name, bool isFixed = false);

  mlir::ModuleOp module;
  int64_t opsetVersion;
  std::map<std::string, int64_t> opsets;
  /// The file without its computation, see NodeGroups.h.
  ModelProto header;
  /// Whether a node of ONNX's own operator set was written.
  bool usesStandard = false;
  int64_t required = 0;
  ModelProto proto;
  OnnxWriter tensorData;
  OpenGraph *current = nullptr;

  mlir::DenseMap<mlir::Value, Name> names;
  /// What bind() was told, in order: a rule that fails takes it back.
  std::vector<mlir::Value> bound;
  /// The names that values should get, and who may have each: in graphs beside
  /// each other the same name stands for several.
  mlir::DenseMap<mlir::Value, Name> wanted;
  struct Reserved {
    llvm::SmallVector<mlir::Value, 1> values;
    /// Of an input or output of the model: nobody else may have it.
    bool isFixed = false;
  };
  llvm::StringMap<Reserved> reserved;
  llvm::StringSet<> used, usedNodes;
  /// By the name that was wanted: the number to try next behind it.
  llvm::StringMap<int64_t> nextNumbers, nextNodeNumbers;
  /// What the file said of its initializers, by name.
  llvm::StringMap<const TensorProto *> initializerHeaders;
  llvm::StringSet<> sparse;
  mlir::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, Name> weights;
  llvm::StringSet<> written;
  llvm::StringMap<mlir::ElementsAttr> initializerValues;
  /// The initializers that are to be nodes, lest they be taken for weights.
  llvm::StringSet<> literals;

  std::vector<std::unique_ptr<KeptNode>> kept;
  mlir::DenseMap<mlir::Operation *, KeptNode *> keptOf;
  mlir::DenseMap<mlir::Operation *, BiasedProduct> biased;
  mlir::DenseMap<mlir::Operation *, BlockScales> blockScales;
  mlir::DenseMap<mlir::Operation *, Mean> means;
  llvm::SmallPtrSet<mlir::Operation *, 16> absorbed;
  /// Reshapes whose one unknown size follows from the number of elements.
  llvm::SmallPtrSet<mlir::Operation *, 16> inferred;
  /// Reshapes, of several unknown sizes among them, that Unsqueeze does.
  mlir::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> unsqueezed;
  mlir::DenseMap<mlir::Block *, OpenGraph *> graphs;
  std::map<std::string, int64_t> unsupported;
  int depth = 0;
  int64_t regions = 0;
};

/// Whether a node of ONNX's own operator set that is valid in version \p from
/// is valid, and means the same, in the newer version \p to.
bool staysValid(const NodeProto &node, int64_t from, int64_t to);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_GRAPHWRITER_H
