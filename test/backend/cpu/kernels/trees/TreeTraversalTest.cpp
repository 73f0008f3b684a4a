// Rows through tree ensembles: whole programs against the interpreter, which
// goes through each tree by the definition.
//
// Covers: backend/cpu/emit TreeKernel
// Covers: backend/cpu/kernels/trees TreeTraversal

#include "backend/cpu/kernels/trees/TreeTraversal.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>
#include <random>

using namespace sinter;

namespace {

struct Ensemble {
  int64_t rows = 1, features = 3, targets = 1;
  int trees = 1, nodes = 7; ///< Of each tree.
  std::string element = "f32", aggregate = "sum";
  int mode = 0;         ///< Of all nodes; any where it is negative.
  int weights = 1;      ///< Of a leaf.
  bool isChain = false; ///< Trees as deep as they have nodes.
  bool hasMissing = false;
  bool ofOneTarget = false; ///< All leaves of a tree give to the same one.
};

template <typename T>
std::string array(const std::string &type, const std::vector<T> &values) {
  std::string text = "array<" + type;
  for (size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? ": " : ", ") + std::to_string(values[i]);
  return text + ">";
}

/// Random trees. A node of a tree takes the place of a leaf of those before it.
std::string textOf(const Ensemble &e) {
  std::mt19937 random(e.rows * 31 + e.trees * 7 + e.nodes);
  auto below = [&](size_t count) {
    return random() % std::max<size_t>(count, 1);
  };
  std::vector<int> roots, features, modes, whenTrue, whenFalse, starts{0},
      targets;
  std::vector<double> thresholds, weights;
  auto addLeaf = [&](int tree) {
    for (int i = 0; i < e.weights; ++i) {
      targets.push_back(e.ofOneTarget ? tree % int(e.targets)
                                      : int(below(e.targets)));
      // Whole numbers, whose sums are exact in any order.
      weights.push_back(double(below(64)) - 32);
    }
    starts.push_back(int(targets.size()));
    return -int(starts.size()) + 1;
  };
  for (int tree = 0; tree < e.trees; ++tree) {
    // Where a leaf is still to come: the node, and which child.
    std::vector<std::pair<int, bool>> open;
    auto addNode = [&] {
      const int node = int(features.size());
      features.push_back(int(below(e.features)));
      thresholds.push_back((double(below(17)) - 8) / 8);
      modes.push_back((e.mode < 0 ? int(below(6)) : e.mode) +
                      (e.hasMissing && below(2) ? 8 : 0));
      whenTrue.push_back(0);
      whenFalse.push_back(0);
      open.push_back({node, true});
      open.push_back({node, false});
      return node;
    };
    if (e.nodes == 0) {
      roots.push_back(addLeaf(tree));
      continue;
    }
    roots.push_back(addNode());
    for (int i = 1; i < e.nodes; ++i) {
      const size_t at = e.isChain ? open.size() - 1 : below(open.size());
      const auto [parent, isTrue] = open[at];
      open.erase(open.begin() + long(at));
      const int child = addNode();
      (isTrue ? whenTrue : whenFalse)[size_t(parent)] = child;
    }
    for (auto [parent, isTrue] : open)
      (isTrue ? whenTrue : whenFalse)[size_t(parent)] = addLeaf(tree);
  }
  const std::string rows = std::to_string(e.rows),
                    x = "tensor<" + rows + "x" + std::to_string(e.features) +
                        "x" + e.element + ">",
                    y = "tensor<" + rows + "x" + std::to_string(e.targets) +
                        "x" + e.element + ">";
  // Features that are equal to thresholds, and NaN where 8 x is -3.
  std::string body = "(%x: " + x + ") -> " + y + " {\n";
  auto add = [&](const std::string &name, const std::string &value) {
    body += "%" + name + " = stablehlo." + value + " : " + x + "\n";
  };
  add("eight", "constant dense<8.0>");
  add("scaled", "multiply %x, %eight");
  add("round", "round_nearest_even %scaled");
  add("some",
      "constant dense<" + std::string(e.hasMissing ? "-3.0" : "99.0") + ">");
  add("shift", "subtract %round, %some");
  add("ratio", "divide %shift, %shift");
  add("grid", "multiply %round, %ratio");
  add("at", "divide %grid, %eight");
  body += "%r = nn.tree_ensemble %at, \"" + e.aggregate +
          "\" {roots = " + array("i32", roots) +
          ", features = " + array("i32", features) +
          ", thresholds = " + array("f64", thresholds) +
          ", modes = " + array("i8", modes) +
          ", true_children = " + array("i32", whenTrue) +
          ", false_children = " + array("i32", whenFalse) +
          ", leaf_starts = " + array("i32", starts) +
          ", targets = " + array("i32", targets) +
          ", weights = " + array("f64", weights) +
          ", target_count = " + std::to_string(e.targets) + " : i64} : (" + x +
          ") -> " + y + "\nreturn %r : " + y + " }";
  return body;
}

void check(const Ensemble &e) {
  SCOPED_TRACE(testing::Message()
               << e.rows << " rows, " << e.trees << " trees of " << e.nodes
               << " nodes, " << e.targets << " targets, " << e.element << " "
               << e.aggregate << " mode " << e.mode);
  EXPECT_EQ(test::differs(textOf(e)), "");
}

} // namespace

TEST(TreeTraversal, RowsOfEveryNumber) {
  for (int64_t rows :
       {1, 2, 15, 16, 17, 39, 40, 63, 64, 65, 128, 129, 168, 300})
    check({.rows = rows, .trees = 5});
}

TEST(TreeTraversal, TreesOfEveryNumber) {
  for (int trees : {1, 2, 15, 16, 17, 18, 63, 64, 65, 80, 130})
    for (int64_t rows : {1, 70})
      check({.rows = rows, .trees = trees});
}

TEST(TreeTraversal, EveryMode) {
  for (int mode : {-1, 0, 1, 2, 3, 4, 5})
    for (bool hasMissing : {false, true})
      for (const char *element : {"f32", "f64", "f16"})
        check({.rows = 75,
               .trees = 9,
               .element = element,
               .mode = mode,
               .hasMissing = hasMissing});
}

TEST(TreeTraversal, EveryAggregateAndTarget) {
  for (const char *aggregate : {"sum", "average", "minimum", "maximum"})
    for (int64_t targets : {1, 2, 7})
      for (int weights : {0, 1, 3})
        for (bool ofOne : {false, true})
          check({.rows = 70,
                 .targets = targets,
                 .trees = 20,
                 .nodes = 5,
                 .element = targets == 2 ? "f64" : "f32",
                 .aggregate = aggregate,
                 .weights = weights,
                 .ofOneTarget = ofOne});
}

TEST(TreeTraversal, Shapes) {
  check({.rows = 70, .trees = 3, .nodes = 0});
  check({.rows = 3, .trees = 3, .nodes = 1});
  check({.rows = 70, .trees = 3, .nodes = 600, .isChain = true});
  check({.rows = 2, .features = 700, .trees = 70, .nodes = 200, .mode = -1});
  // A distance and a feature that do not fit beside a threshold.
  check({.rows = 3, .features = 300000, .trees = 1, .nodes = 3000});
}

TEST(TreeTraversal, MachinesWithFewerInstructions) {
  for (const cpu::Target &target : test::lesserTargets())
    for (const char *element : {"f32", "f64"})
      EXPECT_EQ(test::differs(textOf({.rows = 75,
                                      .targets = 2,
                                      .trees = 20,
                                      .element = element,
                                      .mode = -1,
                                      .weights = 2,
                                      .hasMissing = true}),
                              {}, nullptr, target),
                "")
          << target.cpu;
}
