// The trees of a node of ai.onnx.ml.

#include "formats/onnx/ops/TreeSource.h"

#include "formats/import/Building.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace sinter::onnx {

/// No file of this many nodes or weights is meant.
static constexpr int64_t mostNodes = int64_t(1) << 26;

static std::optional<SmallVector<double>> floatsOf(NodeContext &node,
                                                   StringRef name) {
  std::optional<Tensor> tensor = node.getTensor(name);
  if (!tensor)
    return std::nullopt;
  SmallVector<double> values;
  for (int64_t i = 0; i < tensor->size(); ++i)
    values.push_back(tensor->toDouble(i));
  return values;
}

std::optional<SmallVector<double>> floatsOrTensor(NodeContext &node,
                                                  StringRef name) {
  const std::string tensor = (name + "_as_tensor").str();
  if (!node.hasAttribute(tensor))
    return node.getFloats(name);
  if (node.hasAttribute(name))
    return node.fail("attributes '" + name + "' and '" + tensor +
                     "' are both given");
  return floatsOf(node, tensor);
}

//===----------------------------------------------------------------------===//
// Numbered nodes
//===----------------------------------------------------------------------===//

static std::optional<nn::TreeMode> modeOf(StringRef name) {
  using nn::TreeMode;
  return llvm::StringSwitch<std::optional<TreeMode>>(name)
      .Case("BRANCH_LEQ", TreeMode::LessOrEqual)
      .Case("BRANCH_LT", TreeMode::Less)
      .Case("BRANCH_GTE", TreeMode::GreaterOrEqual)
      .Case("BRANCH_GT", TreeMode::Greater)
      .Case("BRANCH_EQ", TreeMode::Equal)
      .Case("BRANCH_NEQ", TreeMode::NotEqual)
      .Default(std::nullopt);
}

/// Whether there may be \p targets; else an error.
static bool isTargetCount(NodeContext &node, int64_t targets) {
  if (targets > nn::mostTreeTargets)
    node.unsupported(Twine(targets) + " targets, more than " +
                     Twine(nn::mostTreeTargets));
  else if (targets < 1)
    node.fail("there are " + Twine(targets) + " targets");
  return !node.failed();
}

namespace {

class NumberedTrees {
public:
  NumberedTrees(NodeContext &node, StringRef prefix)
      : node(node), prefix(prefix) {}

  std::optional<TreeSource> read(int64_t targetCount);

private:
  using Place = std::pair<int64_t, int64_t>;
  bool readLists();
  bool number();
  bool addNodes();
  bool addWeights();
  std::optional<int32_t> childAt(int64_t entry, const Ints &list,
                                 StringRef name);
  int64_t count() const { return static_cast<int64_t>(numbers.size()); }

  NodeContext &node;
  StringRef prefix;
  Ints trees, numbers, features, whenTrue, whenFalse, tracks;
  std::vector<std::string> modes;
  SmallVector<double> splits;
  /// Of each entry: the node, or the leaf.
  std::vector<int32_t> children;
  llvm::DenseMap<Place, int64_t> entries;
  TreeSource source;
};

} // namespace

/// Whether the lists of \p nodes nodes fit: \p lengths are those of lists with
/// an element a node, \p tracks that of one that may be missing. Else an error.
static bool areListsOfNodes(NodeContext &node, size_t nodes, size_t tracks,
                            std::initializer_list<size_t> lengths) {
  for (size_t each : lengths)
    if (each != nodes) {
      node.fail("the lists of nodes differ in length");
      return false;
    }
  if (tracks != 0 && tracks != nodes) {
    node.fail("attribute 'nodes_missing_value_tracks_true' needs one entry per "
              "node, " +
              Twine(nodes) + ", and has " + Twine(tracks));
    return false;
  }
  if (nodes == 0 || static_cast<int64_t>(nodes) > mostNodes) {
    node.fail("there are no nodes, or too many");
    return false;
  }
  return true;
}

bool NumberedTrees::readLists() {
  trees = node.getInts("nodes_treeids");
  numbers = node.getInts("nodes_nodeids");
  features = node.getInts("nodes_featureids");
  whenTrue = node.getInts("nodes_truenodeids");
  whenFalse = node.getInts("nodes_falsenodeids");
  tracks = node.getInts("nodes_missing_value_tracks_true");
  modes = node.getStrings("nodes_modes");
  auto values = floatsOrTensor(node, "nodes_values");
  if (!values)
    return false;
  splits = *values;
  return areListsOfNodes(node, numbers.size(), tracks.size(),
                         {trees.size(), features.size(), whenTrue.size(),
                          whenFalse.size(), modes.size(), splits.size()});
}

/// Finds the entries by tree and number, and which are leaves.
bool NumberedTrees::number() {
  int32_t nodes = 0, leaves = 0;
  for (int64_t i = 0; i < count(); ++i) {
    if (trees[i] < 0 || numbers[i] < 0 || trees[i] > mostNodes ||
        numbers[i] > mostNodes) {
      node.fail("the number of a tree or a node is out of range");
      return false;
    }
    if (!entries.insert({{trees[i], numbers[i]}, i}).second) {
      node.fail("node " + Twine(numbers[i]) + " of tree " + Twine(trees[i]) +
                " is there twice");
      return false;
    }
    children.push_back(modes[i] == "LEAF" ? ~leaves++ : nodes++);
  }
  return true;
}

std::optional<int32_t> NumberedTrees::childAt(int64_t entry, const Ints &list,
                                              StringRef name) {
  if (list[entry] >= 0 && list[entry] <= mostNodes)
    if (auto found = entries.find({trees[entry], list[entry]});
        found != entries.end())
      return children[found->second];
  return node.fail("attribute '" + name + "' names node " + Twine(list[entry]) +
                   " of tree " + Twine(trees[entry]) + ", which is not there");
}

bool NumberedTrees::addNodes() {
  llvm::DenseSet<int64_t> begun;
  for (int64_t i = 0; i < count(); ++i) {
    // The first node of a tree is its root.
    if (begun.insert(trees[i]).second)
      source.roots.push_back(children[i]);
    if (children[i] < 0)
      continue;
    TreeSource::Node &next = source.nodes.emplace_back();
    const auto mode = modeOf(modes[i]);
    if (!mode) {
      node.fail("attribute 'nodes_modes' has '" + modes[i] + "'");
      return false;
    }
    if (features[i] < 0 || features[i] > mostNodes) {
      node.fail("attribute 'nodes_featureids' is out of range");
      return false;
    }
    const auto first = childAt(i, whenTrue, "nodes_truenodeids"),
               second = childAt(i, whenFalse, "nodes_falsenodeids");
    if (!first || !second)
      return false;
    next = {static_cast<int32_t>(features[i]), splits[i], *mode,
            !tracks.empty() && tracks[i] != 0, *first,    *second};
  }
  return true;
}

/// Sorts the weights by leaf. Those of other nodes are left out, which old
/// converters write.
bool NumberedTrees::addWeights() {
  const Ints ids = node.getInts((prefix + "_ids").str()),
             ofNodes = node.getInts((prefix + "_nodeids").str()),
             ofTrees = node.getInts((prefix + "_treeids").str());
  const auto values = floatsOrTensor(node, (prefix + "_weights").str());
  if (!values)
    return false;
  if (ids.size() != ofNodes.size() || ids.size() != ofTrees.size() ||
      ids.size() != values->size() ||
      static_cast<int64_t>(ids.size()) > mostNodes) {
    node.fail("the lists of weights differ in length, or are too long");
    return false;
  }
  const int64_t leaves =
      llvm::count_if(children, [](int32_t child) { return child < 0; });
  std::vector<std::vector<size_t>> ofLeaf(leaves);
  for (auto [i, id] : llvm::enumerate(ids)) {
    if (id < 0 || id >= source.targetCount) {
      node.fail("attribute '" + prefix + "_ids' has " + Twine(id) + ", of " +
                Twine(source.targetCount));
      return false;
    }
    auto found = ofTrees[i] < 0 || ofNodes[i] < 0 || ofTrees[i] > mostNodes ||
                         ofNodes[i] > mostNodes
                     ? entries.end()
                     : entries.find({ofTrees[i], ofNodes[i]});
    if (found == entries.end()) {
      node.fail("a weight is of node " + Twine(ofNodes[i]) + " of tree " +
                Twine(ofTrees[i]) + ", which is not there");
      return false;
    }
    if (const int32_t child = children[found->second]; child < 0)
      ofLeaf[~child].push_back(i);
  }
  for (const std::vector<size_t> &own : ofLeaf) {
    for (size_t i : own) {
      source.targets.push_back(static_cast<int32_t>(ids[i]));
      source.weights.push_back((*values)[i]);
    }
    source.leafStarts.push_back(static_cast<int32_t>(source.targets.size()));
  }
  return true;
}

std::optional<TreeSource> NumberedTrees::read(int64_t targetCount) {
  source.targetCount = targetCount;
  if (!isTargetCount(node, targetCount) || !readLists() || !number() ||
      !addNodes() || !addWeights() || node.failed())
    return std::nullopt;
  return std::move(source);
}

std::optional<TreeSource>
readNumberedTrees(NodeContext &node, StringRef weights, int64_t targetCount) {
  return NumberedTrees(node, weights).read(targetCount);
}

//===----------------------------------------------------------------------===//
// Indexed nodes
//===----------------------------------------------------------------------===//

/// The elements of \p values, which NaN separates, for each node that tests
/// whether its feature is one of several.
static std::optional<std::vector<SmallVector<double>>>
splitMembers(NodeContext &node, ArrayRef<double> values, int64_t sets) {
  std::vector<SmallVector<double>> all(sets);
  size_t set = 0;
  for (double value : values) {
    if (std::isnan(value)) {
      ++set;
      continue;
    }
    if (set >= all.size())
      return node.fail("attribute 'membership_values' has more sets than there "
                       "are nodes for them");
    all[set].push_back(value);
  }
  return all;
}

/// Makes of node \p at a chain of nodes, one for each of \p members, which all
/// have the same child where they hold.
static void expandMembers(TreeSource &source, size_t at,
                          ArrayRef<double> members) {
  const int32_t whenFalse = source.nodes[at].whenFalse;
  source.nodes[at].mode = nn::TreeMode::Equal;
  source.nodes[at].split = members.empty()
                               ? std::numeric_limits<double>::quiet_NaN()
                               : members.front();
  for (double member : members.drop_front(members.empty() ? 0 : 1)) {
    const auto next = static_cast<int32_t>(source.nodes.size());
    source.nodes[at].whenFalse = next;
    source.nodes.push_back(source.nodes[at]);
    at = static_cast<size_t>(next);
    source.nodes[at].split = member;
    source.nodes[at].whenFalse = whenFalse;
  }
}

namespace {

class IndexedTrees {
public:
  explicit IndexedTrees(NodeContext &node) : node(node) {}
  std::optional<TreeSource> read();

private:
  bool readLists();
  bool addNodes();
  bool addLeaves();
  bool addRoots();
  std::optional<int32_t> child(int64_t index, int64_t isLeaf, StringRef name);

  NodeContext &node;
  Ints features, whenTrue, whenFalse, trueLeafs, falseLeafs, tracks;
  SmallVector<double> modes, splits;
  int64_t leaves = 0;
  TreeSource source;
};

} // namespace

bool IndexedTrees::readLists() {
  features = node.getInts("nodes_featureids");
  whenTrue = node.getInts("nodes_truenodeids");
  whenFalse = node.getInts("nodes_falsenodeids");
  trueLeafs = node.getInts("nodes_trueleafs");
  falseLeafs = node.getInts("nodes_falseleafs");
  tracks = node.getInts("nodes_missing_value_tracks_true");
  auto modesRead = floatsOf(node, "nodes_modes"),
       splitsRead = floatsOf(node, "nodes_splits");
  if (!modesRead || !splitsRead) {
    node.fail("attribute 'nodes_modes' or 'nodes_splits' is missing");
    return false;
  }
  modes = *modesRead;
  splits = *splitsRead;
  return areListsOfNodes(node, features.size(), tracks.size(),
                         {whenTrue.size(), whenFalse.size(), trueLeafs.size(),
                          falseLeafs.size(), modes.size(), splits.size()});
}

bool IndexedTrees::addLeaves() {
  const Ints targets = node.getInts("leaf_targetids");
  const auto weights = floatsOf(node, "leaf_weights");
  if (!weights || weights->size() != targets.size() ||
      static_cast<int64_t>(targets.size()) > mostNodes) {
    node.fail("attributes 'leaf_targetids' and 'leaf_weights' differ in "
              "length, or are too long");
    return false;
  }
  for (auto [target, weight] : llvm::zip(targets, *weights)) {
    if (target < 0 || target >= source.targetCount) {
      node.fail("attribute 'leaf_targetids' has " + Twine(target) + ", of " +
                Twine(source.targetCount));
      return false;
    }
    source.targets.push_back(static_cast<int32_t>(target));
    source.weights.push_back(weight);
    source.leafStarts.push_back(static_cast<int32_t>(source.targets.size()));
  }
  leaves = static_cast<int64_t>(targets.size());
  return true;
}

std::optional<int32_t> IndexedTrees::child(int64_t index, int64_t isLeaf,
                                           StringRef name) {
  const auto count =
      isLeaf != 0 ? leaves : static_cast<int64_t>(features.size());
  if (index < 0 || index >= count)
    return node.fail("attribute '" + name + "' has " + Twine(index) + ", of " +
                     Twine(count));
  return isLeaf != 0 ? ~static_cast<int32_t>(index)
                     : static_cast<int32_t>(index);
}

bool IndexedTrees::addNodes() {
  constexpr double member = 6;
  for (size_t i = 0; i < features.size(); ++i) {
    if (features[i] < 0 || features[i] > mostNodes) {
      node.fail("attribute 'nodes_featureids' is out of range");
      return false;
    }
    if (!(modes[i] >= 0 && modes[i] <= member)) {
      node.fail("attribute 'nodes_modes' has " + Twine(int64_t(modes[i])));
      return false;
    }
    const auto first = child(whenTrue[i], trueLeafs[i], "nodes_truenodeids"),
               second =
                   child(whenFalse[i], falseLeafs[i], "nodes_falsenodeids");
    if (!first || !second)
      return false;
    source.nodes.push_back(
        {static_cast<int32_t>(features[i]), splits[i],
         static_cast<nn::TreeMode>(modes[i] < member ? modes[i] : 0),
         !tracks.empty() && tracks[i] != 0, *first, *second});
  }
  SmallVector<double> values;
  if (node.hasAttribute("membership_values")) {
    auto read = floatsOf(node, "membership_values");
    if (!read)
      return false;
    values = *read;
  }
  const int64_t sets = llvm::count(modes, member);
  const auto members = splitMembers(node, values, sets);
  if (!members)
    return false;
  auto next = members->begin();
  for (size_t i = 0; i < modes.size(); ++i)
    if (modes[i] == member)
      expandMembers(source, i, *next++);
  return true;
}

bool IndexedTrees::addRoots() {
  const Ints roots = node.getInts("tree_roots");
  if (roots.empty() || static_cast<int64_t>(roots.size()) > mostNodes) {
    node.fail("attribute 'tree_roots' is empty or too long");
    return false;
  }
  for (int64_t root : roots) {
    const auto found = child(root, 0, "tree_roots");
    if (!found)
      return false;
    source.roots.push_back(*found);
  }
  return true;
}

std::optional<TreeSource> IndexedTrees::read() {
  source.targetCount = node.getInt("n_targets", 1);
  if (!isTargetCount(node, source.targetCount) || !readLists() ||
      !addLeaves() || !addNodes() || !addRoots() || node.failed())
    return std::nullopt;
  return std::move(source);
}

std::optional<TreeSource> readIndexedTrees(NodeContext &node) {
  return IndexedTrees(node).read();
}

//===----------------------------------------------------------------------===//
// The operation
//===----------------------------------------------------------------------===//

TreeSource::Given TreeSource::isGiven(int64_t target) const {
  if (!llvm::is_contained(targets, target))
    return Given::Never;
  auto isGivenBy = [&](int32_t leaf) {
    return llvm::is_contained(
        ArrayRef(targets).slice(leafStarts[leaf],
                                leafStarts[leaf + 1] - leafStarts[leaf]),
        target);
  };
  std::vector<int32_t> path;
  std::vector<bool> isSeen(nodes.size());
  for (int32_t root : roots) {
    bool always = true;
    path = {root};
    while (always && !path.empty()) {
      const int32_t at = path.back();
      path.pop_back();
      if (at < 0) {
        always = isGivenBy(~at);
      } else if (!isSeen[at]) {
        isSeen[at] = true;
        path.push_back(nodes[at].whenTrue);
        path.push_back(nodes[at].whenFalse);
      }
    }
    if (always)
      return Given::Always;
  }
  return Given::Sometimes;
}

namespace {

/// Numbers nodes so that children follow their parents, level by level, each
/// tree behind the one before it. A node of several trees is there in each.
class NodeOrder {
public:
  explicit NodeOrder(const TreeSource &source)
      : source(source), parents(source.nodes.size()),
        numbers(source.nodes.size(), -1) {}

  /// Whether the tree below \p root ends on every path.
  bool add(int32_t root);
  std::vector<int32_t> roots, features, whenTrue, whenFalse;
  std::vector<double> splits;
  std::vector<int8_t> modes;

private:
  void countParents(int32_t root);
  int32_t numberOf(int32_t child) const {
    return child < 0 ? child : numbers[child];
  }

  const TreeSource &source;
  /// Of the nodes of the tree that are not numbered yet.
  std::vector<int32_t> parents, numbers;
  std::vector<int32_t> reached;
};

} // namespace

void NodeOrder::countParents(int32_t root) {
  reached = {root};
  numbers[root] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    const TreeSource::Node &node = source.nodes[reached[i]];
    for (int32_t child : {node.whenTrue, node.whenFalse})
      if (child >= 0) {
        ++parents[child];
        if (numbers[child] < 0) {
          numbers[child] = 0;
          reached.push_back(child);
        }
      }
  }
}

bool NodeOrder::add(int32_t root) {
  if (root < 0) {
    roots.push_back(root);
    return true;
  }
  countParents(root);
  const auto first = static_cast<int32_t>(features.size());
  std::vector<int32_t> order;
  if (parents[root] == 0)
    order.push_back(root);
  for (size_t i = 0; i < order.size(); ++i) {
    numbers[order[i]] = first + static_cast<int32_t>(i);
    const TreeSource::Node &node = source.nodes[order[i]];
    for (int32_t child : {node.whenTrue, node.whenFalse})
      if (child >= 0 && --parents[child] == 0)
        order.push_back(child);
  }
  if (order.size() < reached.size())
    return false;
  for (int32_t at : order) {
    const TreeSource::Node &node = source.nodes[at];
    features.push_back(node.feature);
    splits.push_back(node.split);
    modes.push_back(
        static_cast<int8_t>(static_cast<int>(node.mode) |
                            (node.holdsForNaN ? int(nn::treeHoldsForNaN) : 0)));
    whenTrue.push_back(numberOf(node.whenTrue));
    whenFalse.push_back(numberOf(node.whenFalse));
  }
  roots.push_back(first);
  for (int32_t at : reached)
    numbers[at] = -1;
  return true;
}

Value TreeSource::evaluate(NodeContext &node, Value x, StringRef aggregate,
                           bool counts) const {
  if (!x)
    return {};
  NodeOrder order(*this);
  for (auto [i, root] : llvm::enumerate(roots)) {
    if (!order.add(root))
      return node.fail("tree " + Twine(i) + " has a cycle");
    if (static_cast<int64_t>(order.features.size()) > mostNodes)
      return node.unsupported("trees of this size");
  }
  const int32_t features =
      order.features.empty() ? 0 : 1 + *llvm::max_element(order.features);
  const int64_t width = node.size(x, 1);
  if (!ShapedType::isDynamic(width) && features > width)
    return node.fail("a tree tests feature " + Twine(features - 1) +
                     ", but the input has " + Twine(width) + " features");
  if (ShapedType::isDynamic(width))
    node.require(node.compare(
        formats::sizeScalar(node, node.dim(x, 1), node.i64()),
        node.scalar(node.i64(), features), stablehlo::ComparisonDirection::GE));
  OpBuilder &builder = node.builder();
  return node.op<nn::TreeEnsembleOp>(
      x, builder.getDenseI32ArrayAttr(order.roots),
      builder.getDenseI32ArrayAttr(order.features),
      builder.getDenseF64ArrayAttr(order.splits),
      builder.getDenseI8ArrayAttr(order.modes),
      builder.getDenseI32ArrayAttr(order.whenTrue),
      builder.getDenseI32ArrayAttr(order.whenFalse),
      builder.getDenseI32ArrayAttr(leafStarts),
      builder.getDenseI32ArrayAttr(targets),
      builder.getDenseF64ArrayAttr(
          counts ? std::vector<double>(weights.size(), 1.0) : weights),
      builder.getI64IntegerAttr(targetCount), builder.getStringAttr(aggregate));
}

} // namespace sinter::onnx
