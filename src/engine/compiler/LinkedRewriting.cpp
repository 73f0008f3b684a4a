#include "engine/compiler/LinkedRewriting.h"

#include "backend/cpu/shapes/InferDimensions.h"
#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/NodeTraces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter {

namespace {

/// Of a location that more nodes have nothing follows.
constexpr size_t mostNodesOfLocation = 8;

/// The nodes of a graph by the places in the user's file that they came from.
class NodesByPlace {
public:
  explicit NodesByPlace(const NodesOfGraph &nodes) {
    for (auto [op, node] : nodes.nodeOf)
      forEachPlace(op->getLoc(), [&, node = node](Location place) {
        auto &all = nodesAt[place];
        if (all.size() <= mostNodesOfLocation)
          all.insert(node);
      });
  }

  /// Calls \p call with each node that has a place of \p location.
  void forEachNode(Location location,
                   llvm::function_ref<void(uint32_t)> call) const {
    forEachPlace(location, [&](Location place) {
      const auto found = nodesAt.find(place);
      if (found != nodesAt.end() && found->second.size() <= mostNodesOfLocation)
        llvm::for_each(found->second, call);
    });
  }

private:
  static void forEachPlace(Location location,
                           llvm::function_ref<void(Location)> call) {
    location->walk([&](Location each) {
      if (isa<FileLineColLoc, NameLoc>(each))
        call(each);
      return isa<NameLoc>(each) ? WalkResult::skip() : WalkResult::advance();
    });
  }

  llvm::DenseMap<Attribute, llvm::SmallSetVector<uint32_t, 2>> nodesAt;
};

/// Links the nodes of two graphs.
class NodeLinks {
public:
  NodeLinks(NodesOfGraph &before, NodesOfGraph &after)
      : before(before), after(after), hasNumber(after.view.nodes.size()) {}

  /// \p numbered: the values of the graph after with the numbers of before.
  void followNumbers(ArrayRef<NumberedValue> numbered,
                     const NodeTraces &traces);
  /// For nodes without numbers.
  void followPlaces(const NodesByPlace &places);
  /// What made a node without numbers made the values that it is for.
  void inheritRewrites();
  void sort();

private:
  void link(uint32_t from, uint32_t to) {
    if (links.insert({from, to}).second) {
      before.view.nodes[from].counterparts.push_back(to);
      after.view.nodes[to].counterparts.push_back(from);
    }
  }

  NodesOfGraph &before, &after;
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> links;
  std::vector<char> hasNumber;
};

} // namespace

void NodeLinks::followNumbers(ArrayRef<NumberedValue> numbered,
                              const NodeTraces &traces) {
  for (auto [value, number] : numbered) {
    const auto from = traces.nodes().find(number);
    const auto to = after.nodeOf.find(value.getDefiningOp());
    if (from == traces.nodes().end() || to == after.nodeOf.end())
      continue;
    link(from->second, to->second);
    hasNumber[to->second] = true;
    for (const std::string &label : traces.labelsOf(number))
      addOnce(after.view.nodes[to->second].rewrites, label);
  }
  for (auto [number, node] : traces.nodes())
    for (const std::string &label : traces.labelsOf(number))
      addOnce(before.view.nodes[node].rewrites, label);
}

void NodeLinks::followPlaces(const NodesByPlace &places) {
  for (auto [op, node] : after.nodeOf)
    if (!hasNumber[node])
      places.forEachNode(op->getLoc(),
                         [&, node = node](uint32_t from) { link(from, node); });
}

void NodeLinks::inheritRewrites() {
  std::vector<ViewedNode> &nodes = after.view.nodes;
  std::vector<std::vector<uint32_t>> users(after.view.tensors.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    for (uint32_t tensor : nodes[i].inputs)
      users[tensor].push_back(i);
  for (uint32_t i = nodes.size(); i-- > 0;)
    if (!hasNumber[i])
      for (uint32_t tensor : nodes[i].outputs)
        for (uint32_t user : users[tensor])
          if (nodes[i].rewrites.empty() && user != i)
            nodes[i].rewrites = nodes[user].rewrites;
}

void NodeLinks::sort() {
  for (GraphView *graph : {&before.view, &after.view})
    for (ViewedNode &node : graph->nodes)
      llvm::sort(node.counterparts);
}

Result<NodesOfGraph> rewriteLinked(Model &model, NodesOfGraph &before,
                                   const PassOptions &passes) {
  const NodesByPlace places(before);
  NodeTraces traces(model, before);
  if (func::FuncOp entry = model.entry(); cpu::hasUnknownSizes(entry))
    if (Result<void> guarded = cpu::collectGuards(entry); !guarded)
      return guarded.takeError();
  Result<Rewriting> done = rewriteForKernels(model, passes, traces.watcher());
  if (!done)
    return done.takeError();
  const std::vector<NumberedValue> numbered =
      ValueNumbers::valuesOf(model.module());
  // Names are found by all attributes of operations.
  ValueNumbers::remove(model.module());
  Result<NodesOfGraph> after = viewGraph(model);
  if (!after)
    return after.takeError();
  NodeLinks links(before, *after);
  links.followNumbers(numbered, traces);
  links.followPlaces(places);
  links.inheritRewrites();
  links.sort();
  return after;
}

} // namespace sinter
