//===- GraphWriter.h - state of writing an ONNX model ---------------------===//
//
// One attempt to write a module for given versions of the operator sets: the
// name of every value, the groups of ops that are written as the node they came
// from, and the graphs under construction. Rules (WriterRules.h) access it
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
#include "formats/onnx/write/RuntimeFusions.h"
#include "graph/Model.h"
#include "graph/Origin.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace sinter::onnx {

using Name = std::string;

/// A graph under construction.
struct DynamicGraph {
  GraphProto *proto;
  /// The tensors that its own nodes and inputs define.
  llvm::StringSet<> tensors;
  /// Those that kept nodes define under their original names.
  llvm::StringSet<> kept;
};

/// Names of tensors and nodes of a finished graph.
struct InnerNames {
  std::vector<Name> tensors, nodes;
};

/// A node of the file that is given back, see NodeGroups.h.
struct KeptNode {
  UntouchedNode node;
  NodeProto proto;
  std::string name;
  /// The op at whose position the node is written.
  mlir::Operation *anchor = nullptr;
  /// The op that has the node's graphs, if it has any.
  mlir::Operation *holder = nullptr;
  /// The group.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// A convolution or matmul, and the addition of a bias per feature, written as
/// one node.
struct BiasedProduct {
  mlir::Operation *product;
  /// A vector, or if null a constant that becomes one.
  mlir::Value vector;
  std::optional<Tensor> tensor;
  std::string tensorName;
};

class GraphWriter {
public:
  /// \p module is changed: ops without a rule are decomposed in it.
  /// With \p forRuntime, rules may use operators of ONNX Runtime.
  GraphWriter(mlir::ModuleOp module, int64_t version, bool forRuntime = false);

  /// Fills model(). Failures are in unsupportedOps() and requiredVersion().
  void run();

  ModelProto &model() { return proto; }
  /// The original model without its computation; empty if it was not ONNX.
  const ModelProto &original() const { return header; }
  OnnxWriter &data() { return tensorData; }
  /// The ops that cannot be written, with counts.
  const std::map<std::string, int64_t> &unsupportedOps() const {
    return unsupported;
  }
  /// The version that the rules require; if it is newer than version(), the
  /// model is not valid and must be written again for it.
  int64_t requiredVersion() const { return required; }
  /// The types of tensors, and the values of small constants, by name.
  TensorFacts tensorFacts() const;

  //===--- For NodeWriter -------------------------------------------------===//

  /// The version of ONNX's own operator set.
  int64_t version() const { return opsetVersion; }
  bool isForRuntime() const { return forRuntime; }
  void need(int64_t version) { required = std::max(required, version); }

  /// The tensor that holds a value. Constants become initializers at first use,
  /// broadcasts become nodes.
  Name name(mlir::Value value);
  /// Binds \p value to tensor \p name.
  void bind(mlir::Value value, const Name &name) {
    names[value] = name;
    bound.push_back(value);
  }
  /// Reserves and returns the name for the tensor of \p value.
  Name claim(mlir::Value value);
  /// Whether the tensor must have the name that claim() returns.
  bool hasFixedName(mlir::Value value) const;
  /// \p wanted, or \p wanted with a suffix if that is taken.
  Name freshName(llvm::StringRef wanted);
  Name freshNodeName(llvm::StringRef wanted);
  /// Adds an initializer.
  Name constant(mlir::ElementsAttr value, llvm::StringRef wanted);

  /// The value of an initializer; null for other tensors.
  mlir::ElementsAttr initializerValue(const Name &name) const {
    return initializerValues.lookup(name);
  }

  DynamicGraph &graph() { return *current; }
  /// Adds a node to the current graph.
  NodeProto &addNode(llvm::StringRef opType);
  /// Whether the only dynamic dimension of the result of \p op follows from the
  /// element count, and its computation is not written.
  bool isInferred(mlir::Operation *op) const { return inferred.contains(op); }
  /// The axes at which a reshape with dynamic dimensions only inserts
  /// dimensions of size 1; null if it does more.
  const llvm::SmallVector<int64_t> *unsqueezedAxes(mlir::Operation *op) const {
    auto found = unsqueezed.find(op);
    return found == unsqueezed.end() ? nullptr : &found->second;
  }
  /// Whether \p op is a broadcast, which is written at first use.
  static bool isBroadcast(mlir::Operation *op);

  /// Writes a region into \p graph with \p arguments for its block's; returns
  /// the tensors that its terminator returns.
  llvm::SmallVector<Name> writeRegion(mlir::Region &region, DynamicGraph &graph,
                                      llvm::ArrayRef<Name> arguments);
  /// Makes \p tensor an output of \p graph, through an Identity node if it is
  /// defined elsewhere or is an output already. The file's declaration of the
  /// output, \p before, and such a node, \p copy, are kept if not null.
  void addOutput(DynamicGraph &graph, Name tensor, mlir::Type type,
                 const ValueInfoProto *before = nullptr,
                 const NodeProto *copy = nullptr);
  /// Releases the names inside of \p graph for sibling graphs.
  InnerNames release(const GraphProto &graph);
  void take(const InnerNames &names);
  void addUnsupported(mlir::Operation *op, llvm::StringRef reason);
  /// Fills the ValueInfoProto of a tensor; \p dims names dynamic dimensions.
  /// The declaration in the file, \p before, is kept if not null, but for sizes
  /// that contradict the type or, of an input of the model, differ from it.
  bool describe(ValueInfoProto &info, const Name &name, mlir::Type type,
                mlir::ArrayAttr dims = {},
                const ValueInfoProto *before = nullptr, bool isInput = false);

private:
  void planNames();
  void planBlock(mlir::Block &block);
  void planGroup(mlir::ArrayAttr records, int64_t index,
                 llvm::ArrayRef<mlir::Operation *> ops);
  void planGraphs(const KeptNode &node);
  /// Whether the addition is written as the bias of a matmul or convolution.
  bool planBias(mlir::Operation *add);
  /// Whether the multiplication is written as a DequantizeLinear.
  bool planBlockScales(mlir::Operation *multiply);
  /// Finds the reshapes, means and matmuls that need no computed sizes.
  void planReshapes(mlir::Block &block);
  /// Whether the division is written as a mean.
  bool planMean(mlir::Operation *divide);
  /// Writes the group's ops by rules instead of its node.
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
  bool forRuntime;
  std::map<std::string, int64_t> opsets;
  /// The file without its computation, see NodeGroups.h.
  ModelProto header;
  /// Whether a node of ONNX's own operator set was written.
  bool usesStandard = false;
  int64_t required = 0;
  ModelProto proto;
  OnnxWriter tensorData;
  DynamicGraph *current = nullptr;

  mlir::DenseMap<mlir::Value, Name> names;
  /// The values passed to bind(), in order: undone if a rule fails.
  std::vector<mlir::Value> bound;
  /// The names that values should get, and the values for each name: sibling
  /// graphs may use the same name.
  mlir::DenseMap<mlir::Value, Name> wanted;
  struct Reserved {
    llvm::SmallVector<mlir::Value, 1> values;
    /// The name of an input or output of the model, reserved for it.
    bool isFixed = false;
  };
  llvm::StringMap<Reserved> reserved;
  llvm::StringSet<> used, usedNodes;
  /// The next suffix to try for each wanted name.
  llvm::StringMap<int64_t> nextNumbers, nextNodeNumbers;
  /// The file's metadata of its initializers, by name.
  llvm::StringMap<const TensorProto *> initializerHeaders;
  llvm::StringSet<> sparse;
  mlir::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, Name> weights;
  llvm::StringSet<> written;
  llvm::StringMap<mlir::ElementsAttr> initializerValues;
  /// The initializers that are written as nodes, so that they do not look like
  /// weights.
  llvm::StringSet<> literals;

  std::vector<std::unique_ptr<KeptNode>> kept;
  mlir::DenseMap<mlir::Operation *, KeptNode *> keptOf;
  mlir::DenseMap<mlir::Operation *, BiasedProduct> biased;
  mlir::DenseMap<mlir::Operation *, BlockScales> blockScales;
  mlir::DenseMap<mlir::Operation *, Mean> means;
  llvm::SmallPtrSet<mlir::Operation *, 16> absorbed;
  /// Reshapes whose only dynamic dimension follows from the element count.
  llvm::SmallPtrSet<mlir::Operation *, 16> inferred;
  /// Reshapes, possibly with several dynamic dimensions, that are written as
  /// Unsqueeze.
  mlir::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> unsqueezed;
  mlir::DenseMap<mlir::Block *, DynamicGraph *> graphs;
  std::map<std::string, int64_t> unsupported;
  int depth = 0;
  int64_t regions = 0;
};

/// Whether a node of ONNX's own operator set that is valid in version \p from
/// is valid, with the same semantics, in the newer version \p to.
bool staysValid(const NodeProto &node, int64_t from, int64_t to);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_GRAPHWRITER_H
