#include "formats/onnx/LoopSize.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstring>

namespace sinter::onnx {

namespace {

/// A graph on the current path of the walk, and the names that it defines.
struct Scope {
  Scope(const GraphProto &graph, const Scope *parent)
      : graph(graph), parent(parent) {
    for (const ValueInfoProto &input : graph.input())
      defined.insert(input.name());
    for (const NodeProto &node : graph.node())
      for (const std::string &output : node.output())
        defined.insert(output);
  }

  const GraphProto &graph;
  const Scope *parent;
  llvm::StringSet<> defined;
};

class Counter {
public:
  Counter(KnownInteger known, int64_t limit) : known(known), limit(limit) {}

  int64_t count(const NodeProto &node, const Scope *scope) const {
    if (node.op_type() != "If" && node.op_type() != "Loop")
      return 1;
    std::optional<int64_t> least;
    for (const AttributeProto &attribute : node.attribute())
      if (attribute.has_g()) {
        const Scope inner(attribute.g(), scope);
        const int64_t times =
            node.op_type() == "Loop" ? iterations(node, inner) : 1;
        const int64_t size = product(times, countAll(inner));
        least = std::min(least.value_or(size), size);
      }
    return std::min(limit, 1 + least.value_or(0));
  }

private:
  int64_t countAll(const Scope &scope) const {
    int64_t sum = 0;
    for (const NodeProto &node : scope.graph.node())
      sum = std::min(limit, sum + count(node, &scope));
    return sum;
  }

  int64_t product(int64_t lhs, int64_t rhs) const {
    int64_t result = 0;
    return llvm::MulOverflow(lhs, rhs, result) ? limit
                                               : std::min(limit, result);
  }

  /// The minimum number of iterations.
  int64_t iterations(const NodeProto &node, const Scope &body) const {
    if (node.input_size() == 0 || node.input(0).empty())
      return 0;
    const bool isAsked = node.input_size() > 1 && !node.input(1).empty();
    if ((isAsked && integerOf(node.input(1), body.parent).value_or(0) == 0) ||
        !runsToItsEnd(body))
      return 0;
    return std::clamp<int64_t>(
        integerOf(node.input(0), body.parent).value_or(0), 0, limit);
  }

  /// Whether the condition that a body returns is always true.
  bool runsToItsEnd(const Scope &body) const {
    if (body.graph.input_size() < 2 || body.graph.output_size() < 1)
      return false;
    std::string name = body.graph.output(0).name();
    // Follow Identity nodes; there are at most as many as nodes.
    for (int i = 0; i <= body.graph.node_size(); ++i) {
      if (name == body.graph.input(1).name())
        return true;
      const NodeProto *from = definitionOf(name, body.graph);
      const bool isCopy =
          from && from->input_size() == 1 &&
          (from->op_type() == "Identity" || from->op_type() == "Cast");
      if (!isCopy)
        break;
      name = from->input(0);
    }
    return integerOf(name, &body).value_or(0) != 0;
  }

  static const NodeProto *definitionOf(const std::string &name,
                                       const GraphProto &graph) {
    for (const NodeProto &node : graph.node())
      if (std::find(node.output().begin(), node.output().end(), name) !=
          node.output().end())
        return &node;
    return nullptr;
  }

  std::optional<int64_t> integerOf(const std::string &name,
                                   const Scope *scope) const {
    for (; scope; scope = scope->parent) {
      for (const TensorProto &tensor : scope->graph.initializer())
        if (tensor.name() == name)
          return integerOf(tensor);
      if (!scope->defined.contains(name))
        continue;
      const NodeProto *node = definitionOf(name, scope->graph);
      if (node && node->op_type() == "Constant" && node->attribute_size() == 1)
        return node->attribute(0).has_t() ? integerOf(node->attribute(0).t())
                                          : std::nullopt;
      return std::nullopt;
    }
    return known(name);
  }

  /// The value of an i64 or boolean scalar.
  static std::optional<int64_t> integerOf(const TensorProto &tensor) {
    const std::string &raw = tensor.raw_data();
    if (tensor.data_type() == TensorProto::INT64) {
      int64_t value = 0;
      if (raw.size() == sizeof value)
        std::memcpy(&value, raw.data(), sizeof value);
      else if (tensor.int64_data_size() == 1)
        value = tensor.int64_data(0);
      return value;
    }
    if (tensor.data_type() == TensorProto::BOOL)
      return raw.size() == 1
                 ? raw[0] != 0
                 : tensor.int32_data_size() == 1 && tensor.int32_data(0) != 0;
    return std::nullopt;
  }

  KnownInteger known;
  const int64_t limit;
};

} // namespace

int64_t leastNodesRun(const NodeProto &node, KnownInteger known,
                      int64_t limit) {
  return Counter(known, limit).count(node, nullptr);
}

} // namespace sinter::onnx
