//===- GraphCheck.cpp - names, scopes and order inside a graph ------------===//
//
// Bottom-up: a graph is checked with all graphs nested in its nodes, and
// returns its free names, which it uses and does not define. They count as
// inputs of the node that holds the graph.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx/file/GraphCheck.h"

#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/ModelCheck.h"
#include "formats/onnx/file/onnx.pb.h"

#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

using namespace sinter;
using namespace sinter::onnx;

namespace {

using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

/// Free names, each with its first user.
using FreeNames = std::unordered_map<std::string_view, std::string>;

/// One graph or function body.
class Scope {
public:
  Scope(Nodes &nodes, int depth) : nodes(nodes), depth(depth) {}

  Result<void> define(std::string_view name, const char *what);
  /// An initialiser may give an input its default.
  Result<void> defineInitializer(std::string_view name);
  /// Checks the nodes and sorts them.
  Result<void> checkNodes();
  /// \p name is used by \p user: if nothing here defines it, it is free.
  void use(std::string_view name, const std::string &user);
  /// The free names of the scope; call once.
  FreeNames takeFree() { return std::move(free); }

private:
  static constexpr int fromOutside = -1;

  Result<void> checkNode(int number);
  Result<void> nested(int number, GraphProto &graph);
  void depend(int number, std::string_view name, const std::string &user);
  Result<void> sort();
  Error cycleError(const std::vector<int> &waiting) const;

  Nodes &nodes;
  int depth;
  /// Every name, with the node that defines it or fromOutside (an input or
  /// initialiser).
  std::unordered_map<std::string_view, int> definitions;
  std::unordered_set<std::string_view> initializers;
  /// For each node the nodes whose results it uses.
  std::vector<std::vector<int>> needs;
  FreeNames free;
};

Result<FreeNames> checkNested(GraphProto &graph, int depth);

} // namespace

std::string onnx::quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

static std::string operatorOf(const NodeProto &node) {
  return isStandardDomain(node.domain()) ? node.op_type()
                                         : node.domain() + "." + node.op_type();
}

/// The node's own name, else that of its first output.
static std::string nameOf(const NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  const auto output = std::ranges::find_if(
      node.output(), [](const std::string &each) { return !each.empty(); });
  return output == node.output().end() ? "" : *output;
}

std::string onnx::describe(const NodeProto &node) {
  const std::string op = operatorOf(node);
  if (!node.name().empty())
    return "node " + quoted(node.name()) + " (" + op + ")";
  for (const std::string &output : node.output())
    if (!output.empty())
      return "the node that gives " + quoted(output) + " (" + op + ")";
  return "a node without name (" + op + ")";
}

Error onnx::atNode(const NodeProto &node, Error error) {
  return sinter::atNode(describe(node), nameOf(node), operatorOf(node),
                        std::move(error));
}

Result<void> Scope::define(std::string_view name, const char *what) {
  if (name.empty())
    return invalidModel(std::string("an ") + what + " has no name");
  if (!definitions.emplace(name, fromOutside).second)
    return invalidModel("the name " + quoted(name) + " is defined twice (" +
                        what + ")");
  return {};
}

Result<void> Scope::defineInitializer(std::string_view name) {
  if (name.empty())
    return invalidModel("an initializer has no name");
  if (!initializers.insert(name).second)
    return invalidModel("the name " + quoted(name) +
                        " is defined twice (initializer)");
  definitions.emplace(name, fromOutside);
  return {};
}

void Scope::use(std::string_view name, const std::string &user) {
  if (!definitions.contains(name))
    free.emplace(name, user);
}

void Scope::depend(int number, std::string_view name, const std::string &user) {
  auto found = definitions.find(name);
  if (found == definitions.end())
    free.emplace(name, user);
  else if (found->second != fromOutside)
    needs[number].push_back(found->second);
}

Result<void> Scope::nested(int number, GraphProto &graph) {
  Result<FreeNames> names = checkNested(graph, depth + 1);
  if (!names)
    return atNode(nodes[number], names.takeError());
  for (const auto &[name, user] : *names)
    depend(number, name, user);
  return {};
}

Result<void> Scope::checkNode(int number) {
  NodeProto &node = nodes[number];
  if (node.op_type().empty())
    return invalidModel(describe(node) + " has no operator");
  std::string user;
  for (const std::string &input : node.input()) {
    if (input.empty())
      continue;
    if (user.empty())
      user = describe(node);
    depend(number, input, user);
  }
  for (AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_g())
      if (Result<void> graph = nested(number, *attribute.mutable_g()); !graph)
        return graph;
    for (GraphProto &graph : *attribute.mutable_graphs())
      if (Result<void> checked = nested(number, graph); !checked)
        return checked;
  }
  return {};
}

Result<void> Scope::checkNodes() {
  for (int number = 0; number < nodes.size(); ++number)
    for (const std::string &output : nodes[number].output())
      if (!output.empty() && !definitions.emplace(output, number).second)
        return atNode(nodes[number], invalidModel("the name " + quoted(output) +
                                                  " is defined twice"));
  needs.resize(nodes.size());
  for (int number = 0; number < nodes.size(); ++number)
    if (Result<void> checked = checkNode(number); !checked)
      return checked;
  return sort();
}

/// Stable topological sort: of the nodes that are ready, the first in the file.
Result<void> Scope::sort() {
  bool sorted = true;
  for (int number = 0; number < nodes.size(); ++number)
    for (int need : needs[number])
      sorted &= need < number;
  if (sorted)
    return {};
  std::vector<std::vector<int>> users(nodes.size());
  std::vector<int> waiting(nodes.size());
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int number = 0; number < nodes.size(); ++number) {
    waiting[number] = static_cast<int>(needs[number].size());
    for (int need : needs[number])
      users[need].push_back(number);
    if (waiting[number] == 0)
      ready.push(number);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    int number = ready.top();
    ready.pop();
    order.push_back(number);
    for (int user : users[number])
      if (--waiting[user] == 0)
        ready.push(user);
  }
  if (order.size() < static_cast<size_t>(nodes.size()))
    return cycleError(waiting);
  std::vector<NodeProto *> taken(nodes.size());
  nodes.ExtractSubrange(0, nodes.size(), taken.data());
  for (int number : order)
    nodes.AddAllocated(taken[number]);
  return {};
}

/// \p waiting counts the unresolved dependencies of each node. Each waiting
/// node depends on a waiting node, so following these finds a cycle.
Error Scope::cycleError(const std::vector<int> &waiting) const {
  int current = 0;
  while (waiting[current] == 0)
    ++current;
  std::vector<int> path;
  std::vector<int> position(nodes.size(), -1);
  while (position[current] < 0) {
    position[current] = static_cast<int>(path.size());
    path.push_back(current);
    for (int need : needs[current])
      if (waiting[need] > 0) {
        current = need;
        break;
      }
  }
  path.erase(path.begin(), path.begin() + position[current]);
  constexpr size_t shown = 5;
  std::string text = "the graph has a cycle: ";
  for (size_t i = 0; i < path.size() && i < shown; ++i)
    text += describe(nodes[path[i]]) + " needs ";
  if (path.size() > shown)
    text += "... (" + std::to_string(path.size() - shown) +
            " more nodes), which needs ";
  return invalidModel(text + describe(nodes[path.front()]));
}

namespace {

Result<FreeNames> checkNested(GraphProto &graph, int depth) {
  if (depth > maxGraphNesting)
    return invalidModel("graphs are nested more than " +
                        std::to_string(maxGraphNesting) + " deep");
  Scope scope(*graph.mutable_node(), depth);
  for (const ValueInfoProto &input : graph.input())
    if (Result<void> defined = scope.define(input.name(), "input"); !defined)
      return defined.takeError();
  for (const TensorProto &tensor : graph.initializer())
    if (Result<void> defined = scope.defineInitializer(tensor.name()); !defined)
      return defined.takeError();
  for (const SparseTensorProto &tensor : graph.sparse_initializer())
    if (Result<void> defined = scope.defineInitializer(tensor.values().name());
        !defined)
      return defined.takeError();
  if (Result<void> checked = scope.checkNodes(); !checked)
    return checked.takeError();
  for (const ValueInfoProto &output : graph.output()) {
    if (output.name().empty())
      return invalidModel("an output of the graph has no name");
    scope.use(output.name(), "output " + quoted(output.name()));
  }
  return scope.takeFree();
}

/// Fails if the main graph has free names.
Result<void> nothingFree(const FreeNames &names) {
  const std::pair<const std::string_view, std::string> *first = nullptr;
  for (const auto &entry : names)
    if (!first || entry.first < first->first)
      first = &entry;
  if (!first)
    return {};
  return invalidModel(first->second + ": " + quoted(first->first) +
                      " is not defined: no input, initializer or node gives "
                      "it");
}

} // namespace

Result<void> onnx::checkGraph(GraphProto &graph) {
  Result<FreeNames> names = checkNested(graph, /*depth=*/0);
  if (!names)
    return names.takeError();
  return nothingFree(*names);
}

Result<void> onnx::checkFunction(FunctionProto &function) {
  Scope scope(*function.mutable_node(), /*depth=*/0);
  for (const std::string &input : function.input())
    if (Result<void> defined = scope.define(input, "input"); !defined)
      return defined;
  if (Result<void> checked = scope.checkNodes(); !checked)
    return checked;
  for (const std::string &output : function.output())
    scope.use(output, "output " + quoted(output));
  return nothingFree(scope.takeFree());
}
