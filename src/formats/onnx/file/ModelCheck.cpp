//===- ModelCheck.cpp - structural checks of a model ----------------------===//

#include "formats/onnx/file/ModelCheck.h"

#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/GraphCheck.h"
#include "formats/onnx/file/NestedGraphs.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

using namespace sinter;
using namespace sinter::onnx;

namespace {

using Opsets = google::protobuf::RepeatedPtrField<OperatorSetIdProto>;

/// Checks that each domain occurs once, with a positive version. \p owner is ""
/// or "function 'f': ".
Result<void> checkOpsets(const Opsets &opsets, const std::string &owner) {
  std::map<std::string_view, int64_t> versions;
  for (const OperatorSetIdProto &opset : opsets) {
    std::string domain = opset.domain().empty() ? "ai.onnx" : opset.domain();
    if (opset.version() < 1)
      return invalidModel(owner + "imports version " +
                          std::to_string(opset.version()) +
                          " of the operator set " + domain);
    auto [place, isNew] =
        versions.emplace(domainKey(opset.domain()), opset.version());
    if (!isNew && place->second != opset.version())
      return invalidModel(owner + "imports the operator set " + domain +
                          " in versions " + std::to_string(place->second) +
                          " and " + std::to_string(opset.version()));
  }
  return {};
}

/// The call graph of the local functions.
class Functions {
public:
  explicit Functions(const ModelProto &model) : model(model) {}

  Result<void> check();

private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  struct Entry {
    const FunctionProto *function;
    std::vector<int> callees; ///< One for each call.
    int64_t ownNodes = 0;
    int callers = 0;
    int depth = 0;    ///< Calls on the longest chain down to this one.
    int64_t uses = 0; ///< Copies of the body after expansion, saturating.
  };

  Result<void> collect();
  Result<void> checkNesting();
  template <typename Nodes>
  void findCalls(const Nodes &nodes, std::vector<int> &callees,
                 int64_t &count) const;

  const ModelProto &model;
  std::map<Key, int> numbers;
  std::vector<Entry> entries;
};

} // namespace

static std::string functionName(const FunctionProto &function) {
  std::string name = function.name();
  if (!function.domain().empty())
    name = function.domain() + "." + name;
  if (!function.overload().empty())
    name += ":" + function.overload();
  return "function '" + name + "'";
}

/// The nesting of graphs was checked before, so recursion is bounded.
template <typename Nodes>
void Functions::findCalls(const Nodes &nodes, std::vector<int> &callees,
                          int64_t &count) const {
  count += nodes.size();
  for (const NodeProto &node : nodes) {
    auto found = numbers.find(
        {domainKey(node.domain()), node.op_type(), node.overload()});
    if (found != numbers.end())
      callees.push_back(found->second);
    forEachGraph(node, [&](const GraphProto &graph) {
      findCalls(graph.node(), callees, count);
    });
  }
}

Result<void> Functions::collect() {
  for (const FunctionProto &function : model.functions()) {
    if (function.name().empty())
      return invalidModel("a local function has no name");
    Key key{domainKey(function.domain()), function.name(), function.overload()};
    if (!numbers.emplace(key, static_cast<int>(entries.size())).second)
      return invalidModel(functionName(function) + " is defined twice");
    entries.push_back({&function, {}});
  }
  for (Entry &entry : entries)
    findCalls(entry.function->node(), entry.callees, entry.ownNodes);
  for (Entry &entry : entries)
    for (int callee : entry.callees)
      ++entries[callee].callers;
  return {};
}

/// Walks from callers to callees (Kahn's algorithm), so that the cost is linear
/// in the number of calls in the file.
Result<void> Functions::checkNesting() {
  std::vector<int> roots;
  int64_t total = 0;
  findCalls(model.graph().node(), roots, total);
  for (int root : roots)
    ++entries[root].uses;
  std::vector<int> ready;
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].callers == 0)
      ready.push_back(static_cast<int>(i));
  size_t done = 0;
  for (; done < ready.size(); ++done) {
    const Entry &entry = entries[ready[done]];
    if (entry.depth >= maxFunctionNesting)
      return invalidModel(functionName(*entry.function) +
                          ": local functions call each other more than " +
                          std::to_string(maxFunctionNesting) + " deep");
    if (entry.uses > 0 && entry.ownNodes > 0 &&
        entry.uses > (maxExpandedNodes - total) / entry.ownNodes)
      return invalidModel(
          functionName(*entry.function) +
          ": local functions call each other so often that the model would "
          "have more than " +
          std::to_string(maxExpandedNodes) + " nodes");
    total += entry.uses * entry.ownNodes;
    for (int number : entry.callees) {
      Entry &callee = entries[number];
      callee.depth = std::max(callee.depth, entry.depth + 1);
      callee.uses = std::min(callee.uses + entry.uses, maxExpandedNodes + 1);
      if (--callee.callers == 0)
        ready.push_back(number);
    }
  }
  if (done == entries.size())
    return {};
  for (const Entry &entry : entries)
    if (entry.callers > 0)
      return invalidModel(functionName(*entry.function) +
                          " calls itself, or functions that do");
  return {};
}

Result<void> Functions::check() {
  if (Result<void> collected = collect(); !collected)
    return collected;
  return checkNesting();
}

Result<void> onnx::checkModel(ModelProto &model) {
  if (!model.has_graph() && !model.has_ir_version() &&
      model.opset_import_size() == 0)
    return invalidModel("not an ONNX model: it has no graph and no version");
  if (!model.has_graph())
    return invalidModel("the model has no graph");
  // 255 is far above any existing version, and far below what random bytes
  // give.
  if (model.ir_version() < 1 || model.ir_version() > 255)
    return invalidModel("not an ONNX model: its ir_version is " +
                        (model.has_ir_version()
                             ? std::to_string(model.ir_version())
                             : std::string("missing")));
  if (model.ir_version() >= 3 && model.opset_import_size() == 0)
    return invalidModel("the model does not say which operator sets it uses");
  if (Result<void> opsets = checkOpsets(model.opset_import(), ""); !opsets)
    return opsets;
  if (Result<void> graph = checkGraph(*model.mutable_graph()); !graph)
    return graph;
  for (FunctionProto &function : *model.mutable_functions()) {
    std::string owner = functionName(function) + ": ";
    Result<void> checked = checkOpsets(function.opset_import(), owner);
    if (checked)
      checked = checkFunction(function);
    if (!checked)
      return checked.error().message().starts_with(owner)
                 ? checked.takeError()
                 : inside(functionName(function), checked.takeError());
  }
  return Functions(model).check();
}
