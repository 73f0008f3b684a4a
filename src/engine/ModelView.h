//===- ModelView.h - a model's graphs and program, to be shown ------------===//
//
// The graph as it was read, the graph that is compiled, and the steps of the
// program, with links between all three:
//
//     before.nodes[i].counterparts    nodes of `after` that came of node i
//     after.nodes[i].counterparts     and back
//     steps[i].nodes                  nodes of `after` that step i computes
//
// Plain data, which page builders turn into text (view/ModelPage.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_MODELVIEW_H
#define SINTER_ENGINE_MODELVIEW_H

#include "runtime/Role.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sinter {

/// A few facts of a constant's values.
struct ConstantFacts {
  /// Of `looked` elements, spread evenly, of `elements`.
  double min = 0, max = 0, mean = 0;
  int64_t elements = 0, looked = 0;
  /// The first ones, as text.
  std::vector<std::string> first;
};

struct ViewedTensor {
  /// The name in the user's file, or of the node that computes it.
  std::string name;
  /// "f32 [N, 64]".
  std::string type;
  Role role = Role::Temporary;
  /// Nothing if a size is dynamic.
  std::optional<int64_t> bytes;
  std::optional<ConstantFacts> constant;
};

/// An operation of the graph language.
struct ViewedOperation {
  std::string name; ///< "stablehlo.convolution"
  /// Names and values.
  std::vector<std::pair<std::string, std::string>> attributes;
};

/// A node: the operations that came of one node of the file and are as the
/// reader made them, or a single operation.
struct ViewedNode {
  /// The file's operator, "Conv", or else the operation without its dialect.
  std::string op;
  /// The node's name in the file; empty if it has none.
  std::string name;
  std::vector<ViewedOperation> operations;
  /// Tensors, by index. Results of branches and loop bodies are inputs, too, of
  /// the node that they belong to.
  std::vector<uint32_t> inputs, outputs;
  /// The node in whose branch or loop it is.
  std::optional<uint32_t> owner;
  /// Labels of rewrites: of `before`, of those that replaced its results; of
  /// `after`, of those that made it.
  std::vector<std::string> rewrites;
  /// Labels of the backend's rewrites of its results; of `after` only.
  std::vector<std::string> lowered;
  std::vector<uint32_t> counterparts;
};

struct GraphView {
  std::vector<ViewedTensor> tensors;
  /// In the order of the graph: a node is behind those whose results it takes.
  std::vector<ViewedNode> nodes;
  /// Tensors, by index; states are both.
  std::vector<uint32_t> inputs, outputs;
};

/// A step (instruction) of the program, or all stages of one kernel.
struct ViewedStep {
  /// The number of the first one in `sinter inspect --steps`, and how many
  /// there are.
  size_t number = 0, stages = 1;
  /// The name of a node of the file, the operations, and how they are computed,
  /// as in `sinter inspect --json`.
  std::string layer, op, kernel;
  /// Its work; nothing where sizes are dynamic.
  double flops = 0, bytesMoved = 0;
  std::optional<int64_t> tasks;
  /// The control flow that it is in: 0 for none.
  unsigned depth = 0;
  /// The estimated time of one thread; nothing where sizes are dynamic, and for
  /// control flow.
  std::optional<double> seconds;
  /// The kernels that were considered, and their estimated times.
  std::string choice;
  /// By index.
  std::vector<uint32_t> nodes;
};

struct ModelView {
  GraphView before;
  /// Nothing where the graph could not be simplified; `notes` say why.
  std::optional<GraphView> after;
  /// In order; those in branches and loops are behind the step that owns them.
  /// Empty where there is no program; `notes` say why.
  std::vector<ViewedStep> steps;
  /// Diagrams of the rewrites that occur, by label.
  std::vector<std::pair<std::string, std::string>> pictures;
  std::vector<std::string> notes;
};

} // namespace sinter

#endif // SINTER_ENGINE_MODELVIEW_H
