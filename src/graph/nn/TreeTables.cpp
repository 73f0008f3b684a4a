// A tree ensemble as tables.

#include "graph/nn/TreeTables.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace sinter::nn {

namespace {

/// A node with the condition x <= threshold, or x == threshold.
struct PlainNode {
  double threshold = 0;
  bool isEqual = false;
  bool holdsForNaN = false;
  bool swapsChildren = false;
};

class TableMaker {
public:
  explicit TableMaker(TreeEnsembleOp op)
      : op(op), isNarrow(tensorOf(op.getOperand()).getElementType().isF32() ||
                         tensorOf(op.getOperand()).getElementType().isF16() ||
                         tensorOf(op.getOperand()).getElementType().isBF16()),
        isSum(op.getAggregate() == "sum" || op.getAggregate() == "average") {}

  std::optional<TreeTables> make();

private:
  PlainNode plain(size_t node) const;
  double below(double threshold, bool orEqual) const;
  bool choosesTargets();
  bool setLeaves();
  bool setLayout();
  void setDepth();
  void place();
  void write(int64_t place, int32_t child);
  bool isFar() const;
  void writeWords(int64_t place, double number, int64_t bits, uint64_t control);

  mutable TreeEnsembleOp op;
  bool isNarrow, isSum;
  TreeTables tables;
  /// Of each leaf: its weight, or its row.
  std::vector<double> leafWeights;
  /// Without rows: the target of each tree.
  std::vector<int32_t> treeTargets;
  /// The place of each node's first child.
  std::vector<int64_t> pairs;
  /// The trees in the order of the table of roots.
  std::vector<int32_t> order;
};

} // namespace

/// \p number, or the next one below that is zero or normal: machines that take
/// others for zero find the same of those that are.
template <typename T> static T normalAtMost(T number) {
  if (std::fpclassify(number) != FP_SUBNORMAL)
    return number;
  return number < 0 ? -std::numeric_limits<T>::min() : T(0);
}

/// The greatest number of the operand's type that is below \p threshold, or not
/// above it; NaN where there is none, which no number is below or at.
double TableMaker::below(double threshold, bool orEqual) const {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(threshold) || (!orEqual && threshold == -infinity))
    return none;
  if (!isNarrow)
    return normalAtMost(orEqual ? threshold
                                : std::nextafter(threshold, -infinity));
  constexpr float most = std::numeric_limits<float>::infinity();
  auto narrow = static_cast<float>(threshold);
  if (double(narrow) > threshold || (!orEqual && double(narrow) == threshold))
    narrow = std::nextafter(narrow, -most);
  return normalAtMost(narrow);
}

PlainNode TableMaker::plain(size_t node) const {
  const int8_t mode = op.getModes()[node];
  const double threshold = op.getThresholds()[node];
  PlainNode plain;
  plain.holdsForNaN = (mode & treeHoldsForNaN) != 0;
  switch (static_cast<TreeMode>(mode & ~treeHoldsForNaN)) {
  case TreeMode::LessOrEqual:
    plain.threshold = below(threshold, /*orEqual=*/true);
    return plain;
  case TreeMode::Less:
    plain.threshold = below(threshold, /*orEqual=*/false);
    return plain;
  case TreeMode::GreaterOrEqual:
  case TreeMode::Greater: {
    const bool orEqual =
        static_cast<TreeMode>(mode & ~treeHoldsForNaN) == TreeMode::Greater;
    plain.swapsChildren = true;
    plain.holdsForNaN = !plain.holdsForNaN;
    // No number is above or at NaN: all go to the first child.
    plain.threshold = std::isnan(threshold)
                          ? std::numeric_limits<double>::infinity()
                          : below(threshold, orEqual);
    return plain;
  }
  case TreeMode::Equal:
  case TreeMode::NotEqual:
    plain.isEqual = true;
    plain.threshold =
        isNarrow && double(static_cast<float>(threshold)) != threshold
            ? std::numeric_limits<double>::quiet_NaN()
            : threshold;
    if (static_cast<TreeMode>(mode & ~treeHoldsForNaN) == TreeMode::NotEqual) {
      // NaN differs from every number.
      plain.swapsChildren = true;
      plain.holdsForNaN = false;
    }
    return plain;
  }
  return plain;
}

/// Whether each tree gives at most one weight, always to the same target.
bool TableMaker::choosesTargets() {
  ArrayRef<int32_t> starts = op.getLeafStarts(), targets = op.getTargets();
  const size_t nodes = op.getFeatures().size();
  if (op.getTargetCount() == 1 && isSum) {
    treeTargets.assign(op.getRoots().size(), 0);
    return true;
  }
  // What all leaves below a node give: -1 for nothing yet, -2 for several.
  constexpr int32_t nothing = -1, several = -2;
  auto joined = [&](int32_t a, int32_t b) {
    return a == nothing ? b : b == nothing || a == b ? a : several;
  };
  std::vector<int32_t> given(nodes, nothing);
  auto givenBy = [&](int32_t child) {
    if (child >= 0)
      return given[child];
    int32_t all = nothing;
    for (int32_t i = starts[~child]; i < starts[~child + 1]; ++i)
      all = joined(all, targets[i]);
    // A leaf that gives nothing is no weight of 0 where the least one counts.
    const int32_t count = starts[~child + 1] - starts[~child];
    return count == 0 && !isSum ? several : all;
  };
  for (size_t node = nodes; node-- > 0;)
    given[node] = joined(givenBy(op.getTrueChildren()[node]),
                         givenBy(op.getFalseChildren()[node]));
  for (int32_t root : op.getRoots()) {
    const int32_t target = givenBy(root);
    if (target == several)
      return false;
    treeTargets.push_back(target == nothing ? 0 : target);
  }
  return true;
}

/// Whether the weights fit into memory.
bool TableMaker::setLeaves() {
  ArrayRef<int32_t> starts = op.getLeafStarts();
  const size_t leaves = starts.size() - 1;
  const auto count = static_cast<int64_t>(op.getTargetCount());
  auto combined = [&](double all, bool isFirst, double next) {
    if (isFirst)
      return next;
    if (isSum)
      return all + next;
    return op.getAggregate() == "minimum" ? std::min(all, next)
                                          : std::max(all, next);
  };
  tables.layout.hasRows = !choosesTargets();
  if (!tables.layout.hasRows) {
    for (size_t leaf = 0; leaf < leaves; ++leaf) {
      double weight = 0;
      for (int32_t i = starts[leaf]; i < starts[leaf + 1]; ++i)
        weight = combined(weight, i == starts[leaf], op.getWeights()[i]);
      leafWeights.push_back(weight);
    }
    return true;
  }
  constexpr int64_t most = int64_t(1) << 27;
  if (static_cast<int64_t>(leaves) > most / count)
    return false;
  tables.weights.assign(leaves * count,
                        isSum ? 0.0 : std::numeric_limits<double>::quiet_NaN());
  for (size_t leaf = 0; leaf < leaves; ++leaf)
    for (int32_t i = starts[leaf]; i < starts[leaf + 1]; ++i) {
      double &weight = tables.weights[leaf * count + op.getTargets()[i]];
      weight =
          combined(weight, !isSum && std::isnan(weight), op.getWeights()[i]);
    }
  return true;
}

/// Children have greater numbers, so that what is known of them is used.
void TableMaker::setDepth() {
  std::vector<int64_t> depths(op.getFeatures().size());
  auto depthOf = [&](int32_t child) { return child < 0 ? 0 : depths[child]; };
  for (size_t node = depths.size(); node-- > 0;)
    depths[node] = 1 + std::max(depthOf(op.getTrueChildren()[node]),
                                depthOf(op.getFalseChildren()[node]));
  for (int32_t root : op.getRoots())
    tables.layout.depth = std::max(tables.layout.depth, depthOf(root));
}

/// Gives each tree's root a place, in front of the pair of children of the
/// first node that follows it, and each node's children two places side by
/// side.
void TableMaker::place() {
  ArrayRef<int32_t> roots = op.getRoots();
  order.resize(roots.size());
  std::iota(order.begin(), order.end(), 0);
  if (!tables.layout.hasRows)
    llvm::stable_sort(order, [&](int32_t a, int32_t b) {
      return treeTargets[a] < treeTargets[b];
    });
  std::vector<std::pair<int32_t, size_t>> starts;
  for (auto [i, tree] : llvm::enumerate(order))
    starts.push_back({std::max(roots[tree], 0), i});
  llvm::stable_sort(starts, llvm::less_first());
  tables.roots.resize(roots.size());
  int64_t next = 0;
  size_t start = 0;
  for (size_t node = 0; node <= pairs.size(); ++node) {
    for (; start < starts.size() &&
           (node == pairs.size() || starts[start].first == int32_t(node));
         ++start)
      tables.roots[starts[start].second] = static_cast<int32_t>(next++);
    if (node == pairs.size())
      break;
    pairs[node] = next;
    next += 2;
  }
  tables.nodes.assign(next * tables.layout.words(), 0);
  for (auto [i, tree] : llvm::enumerate(order))
    write(tables.roots[i], roots[tree]);
  for (size_t node = 0; node < pairs.size(); ++node) {
    const bool swaps = plain(node).swapsChildren;
    write(pairs[node] + swaps, op.getTrueChildren()[node]);
    write(pairs[node] + !swaps, op.getFalseChildren()[node]);
  }
  if (tables.layout.hasRows)
    return;
  tables.targetStarts.assign(op.getTargetCount() + 1, 0);
  for (int32_t target : treeTargets)
    ++tables.targetStarts[target + 1];
  for (size_t k = 1; k < tables.targetStarts.size(); ++k)
    tables.targetStarts[k] += tables.targetStarts[k - 1];
}

void TableMaker::writeWords(int64_t place, double number, int64_t bits,
                            uint64_t control) {
  if (tables.layout.isWide) {
    tables.nodes[2 * place] =
        bits >= 0 ? bits : llvm::bit_cast<int64_t>(number);
    tables.nodes[2 * place + 1] = static_cast<int64_t>(control);
    return;
  }
  const uint64_t low =
      bits >= 0 ? static_cast<uint32_t>(bits)
                : llvm::bit_cast<uint32_t>(static_cast<float>(number));
  tables.nodes[place] = static_cast<int64_t>(low | control << 32);
}

/// Writes node or leaf \p child at \p place.
void TableMaker::write(int64_t place, int32_t child) {
  if (child < 0)
    return tables.layout.hasRows
               ? writeWords(place, 0, ~child, 0)
               : writeWords(place, leafWeights[~child], -1, 0);
  const PlainNode node = plain(child);
  uint64_t control =
      uint64_t(node.holdsForNaN) << TreeLayout::nanBit |
      uint64_t(node.isEqual) << TreeLayout::equalBit |
      uint64_t(op.getFeatures()[child]) << TreeLayout::featureShift |
      uint64_t(pairs[child] - place) << tables.layout.distanceShift();
  writeWords(place, node.threshold, -1, control);
}

/// Whether the table is small enough for numbers of 32 bits.
bool TableMaker::setLayout() {
  TreeLayout &layout = tables.layout;
  const size_t nodes = op.getFeatures().size();
  if (nodes > (size_t(1) << 28) || op.getRoots().size() > (size_t(1) << 28))
    return false;
  int32_t feature = 1;
  for (size_t node = 0; node < nodes; ++node) {
    feature = std::max(feature, op.getFeatures()[node]);
    const PlainNode each = plain(node);
    layout.knowsNaN |= each.holdsForNaN;
    layout.hasEqual |= each.isEqual;
  }
  auto fitsNarrow = [](double number) {
    return double(static_cast<float>(number)) == number || std::isnan(number);
  };
  layout.featureBits = llvm::Log2_32(feature) + 1;
  layout.isWide = !isNarrow || !llvm::all_of(leafWeights, fitsNarrow);
  return true;
}

/// Whether a distance has not enough bits beside a threshold of 32.
bool TableMaker::isFar() const {
  if (tables.layout.distanceShift() >= 32)
    return true;
  const int64_t most = int64_t(1) << (32 - tables.layout.distanceShift());
  auto isFarFrom = [&](int64_t place, int32_t child) {
    return child >= 0 && pairs[child] - place >= most;
  };
  for (auto [i, tree] : llvm::enumerate(order))
    if (isFarFrom(tables.roots[i], op.getRoots()[tree]))
      return true;
  for (size_t node = 0; node < pairs.size(); ++node)
    if (isFarFrom(pairs[node], op.getTrueChildren()[node]) ||
        isFarFrom(pairs[node], op.getFalseChildren()[node]))
      return true;
  return false;
}

std::optional<TreeTables> TableMaker::make() {
  if (!setLeaves() || !setLayout())
    return std::nullopt;
  setDepth();
  pairs.resize(op.getFeatures().size());
  place();
  if (!tables.layout.isWide && isFar()) {
    tables.layout.isWide = true;
    place();
  }
  return std::move(tables);
}

std::optional<TreeTables> treeTablesOf(TreeEnsembleOp op) {
  return TableMaker(op).make();
}

} // namespace sinter::nn
