#include "formats/onnx/write/RuntimeFusions.h"

#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/NestedGraphs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

using namespace mlir;

namespace sinter::onnx {

namespace {
/// Calls \p use with each tensor that \p node uses, and each that the graphs
/// inside of it use or give.
void forEachUse(const NodeProto &node,
                llvm::function_ref<void(const std::string &)> use) {
  for (const std::string &input : node.input())
    use(input);
  forEachGraph(node, [&](const GraphProto &inner) {
    for (const ValueInfoProto &output : inner.output())
      use(output.name());
    for (const NodeProto &each : inner.node())
      forEachUse(each, use);
  });
}

/// The nodes of a graph while some of them become one. A node that is erased
/// stays in its place until the end, without an operator.
class Fusions {
public:
  Fusions(GraphProto &graph, const TensorFacts &facts)
      : graph(graph), facts(facts) {
    for (const ValueInfoProto &output : graph.output())
      ++uses[output.name()];
    for (NodeProto &node : *graph.mutable_node()) {
      forEachUse(node, [&](const std::string &tensor) { ++uses[tensor]; });
      for (const std::string &output : node.output())
        makers[output] = &node;
    }
  }
  void run();

private:
  RankedTensorType typeOf(const std::string &name) const {
    auto found = facts.types.find(name);
    return found == facts.types.end() ? RankedTensorType() : found->second;
  }
  bool isF32(const std::string &name) const {
    RankedTensorType type = typeOf(name);
    return type && type.getElementType().isF32();
  }
  /// The node of ONNX's operator \p name that gives \p tensor, or null.
  NodeProto *maker(const std::string &tensor, StringRef name) const {
    auto found = makers.find(tensor);
    return found != makers.end() && found->second->op_type() == name &&
                   isStandardDomain(found->second->domain())
               ? found->second
               : nullptr;
  }
  /// The same if nothing else uses the tensor.
  NodeProto *onlyFor(const std::string &tensor, StringRef name) const {
    auto used = uses.find(tensor);
    return used != uses.end() && used->second == 1 ? maker(tensor, name)
                                                   : nullptr;
  }
  static const AttributeProto *attribute(const NodeProto &node,
                                         StringRef name) {
    for (const AttributeProto &each : node.attribute())
      if (each.name() == name)
        return &each;
    return nullptr;
  }
  static void setFloat(NodeProto &node, StringRef name, float value) {
    AttributeProto &added = *node.add_attribute();
    added.set_name(name.str());
    added.set_type(AttributeProto::FLOAT);
    added.set_f(value);
  }
  static void setInt(NodeProto &node, StringRef name, int64_t value) {
    AttributeProto &added = *node.add_attribute();
    added.set_name(name.str());
    added.set_type(AttributeProto::INT);
    added.set_i(value);
  }
  /// Makes \p node one of ONNX Runtime's operator \p name.
  static void become(NodeProto &node, StringRef name) {
    node.set_op_type(name.str());
    node.set_domain(runtimeDomain);
  }
  /// Replaces input \p index of \p node.
  void setInput(NodeProto &node, int index, const std::string &tensor) {
    --uses[node.input(index)];
    ++uses[tensor];
    node.set_input(index, tensor);
  }
  /// Erases \p node, which then uses nothing.
  void erase(NodeProto &node) {
    for (const std::string &input : node.input())
      --uses[input];
    node.Clear();
  }

  void eraseUnused();
  void fuseActivation(NodeProto &node);
  NodeProto *inverseOf(const NodeProto &second) const;
  void skipInverses();
  void fuseTranspose(NodeProto &product, int input);
  void fuseFactor(NodeProto &multiply);
  bool isNumber(const std::string &tensor, double value) const;
  std::string gatedBy(const std::string &tensor,
                      std::vector<NodeProto *> &nodes) const;
  void fuseGelu(NodeProto &multiply);
  void fuseBias(NodeProto &gelu);
  void fuseSkip(int place);

  GraphProto &graph;
  const TensorFacts &facts;
  std::map<std::string, int64_t> uses;
  std::map<std::string, NodeProto *> makers;
};
} // namespace

/// f(Conv(x)) -> FusedConv(x), in the place of f.
void Fusions::fuseActivation(NodeProto &node) {
  struct Parameter {
    StringRef name;
    float otherwise;
  };
  static const std::map<StringRef, std::vector<Parameter>> functions = {
      {"Relu", {}},
      {"Sigmoid", {}},
      {"Tanh", {}},
      {"LeakyRelu", {{"alpha", 0.01f}}},
      {"HardSigmoid", {{"alpha", 0.2f}, {"beta", 0.5f}}}};
  auto function = functions.find(node.op_type());
  if (function == functions.end() || !isStandardDomain(node.domain()) ||
      !isF32(node.output(0)))
    return;
  NodeProto *conv = onlyFor(node.input(0), "Conv");
  if (!conv)
    return;
  NodeProto fused = *conv;
  become(fused, "FusedConv");
  AttributeProto &name = *fused.add_attribute();
  name.set_name("activation");
  name.set_type(AttributeProto::STRING);
  name.set_s(node.op_type());
  if (!function->second.empty()) {
    AttributeProto &parameters = *fused.add_attribute();
    parameters.set_name("activation_params");
    parameters.set_type(AttributeProto::FLOATS);
    for (const Parameter &each : function->second) {
      const AttributeProto *given = attribute(node, each.name);
      parameters.add_floats(given ? given->f() : each.otherwise);
    }
  }
  fused.set_output(0, node.output(0));
  // The inputs keep their numbers of uses.
  --uses[node.input(0)];
  conv->Clear();
  node = std::move(fused);
}

/// The order of a Transpose, if it is given.
static ArrayRef<int64_t> orderOf(const AttributeProto *perm) {
  return perm ? ArrayRef<int64_t>(perm->ints().data(),
                                  static_cast<size_t>(perm->ints_size()))
              : ArrayRef<int64_t>();
}

/// The Transpose that \p second undoes, if it is one.
NodeProto *Fusions::inverseOf(const NodeProto &second) const {
  NodeProto *first =
      second.op_type() == "Transpose" && isStandardDomain(second.domain())
          ? maker(second.input(0), "Transpose")
          : nullptr;
  if (!first)
    return nullptr;
  const ArrayRef<int64_t> before = orderOf(attribute(*first, "perm")),
                          after = orderOf(attribute(second, "perm"));
  if (before.empty() || before.size() != after.size())
    return nullptr;
  for (auto [i, from] : llvm::enumerate(after))
    if (before[static_cast<size_t>(from)] != static_cast<int64_t>(i))
      return nullptr;
  return first;
}

/// Transpose(Transpose(x)) -> x, if the second one undoes the first.
void Fusions::skipInverses() {
  std::map<std::string, std::vector<std::pair<NodeProto *, int>>> users;
  for (NodeProto &node : *graph.mutable_node())
    for (int i = 0; i < node.input_size(); ++i)
      users[node.input(i)].emplace_back(&node, i);
  for (NodeProto &second : *graph.mutable_node()) {
    NodeProto *first = inverseOf(second);
    if (!first)
      continue;
    auto &own = users[second.output(0)];
    // It may be an output, or graphs inside of nodes may use it.
    if (static_cast<int64_t>(own.size()) != uses[second.output(0)])
      continue;
    const std::string x = first->input(0);
    for (auto [user, input] : own)
      setInput(*user, input, x);
    llvm::append_range(users[x], std::exchange(own, {}));
    llvm::erase(users[second.input(0)], std::pair(&second, 0));
    erase(second);
  }
}

/// MatMul(Transpose(a), b) -> FusedMatMul(a, b).
void Fusions::fuseTranspose(NodeProto &product, int input) {
  NodeProto *turned = maker(product.input(input), "Transpose");
  RankedTensorType type = typeOf(product.input(input));
  if (!turned || !type || type.getRank() < 2)
    return;
  const ArrayRef<int64_t> order = orderOf(attribute(*turned, "perm"));
  auto wanted = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(wanted.back(), wanted[wanted.size() - 2]);
  if (order != ArrayRef<int64_t>(wanted))
    return;
  const std::string tensor = turned->input(0);
  setInput(product, input, tensor);
  become(product, "FusedMatMul");
  setInt(product, input == 0 ? "transA" : "transB", 1);
}

/// MatMul(a, b) * number -> FusedMatMul(a, b), in the place of the product.
void Fusions::fuseFactor(NodeProto &multiply) {
  if (multiply.op_type() != "Mul" || !isStandardDomain(multiply.domain()) ||
      !isF32(multiply.output(0)))
    return;
  for (int i : {0, 1}) {
    auto number = facts.numbers.find(multiply.input(1 - i));
    RankedTensorType type = typeOf(multiply.input(1 - i)),
                     result = typeOf(multiply.output(0));
    auto found = makers.find(multiply.input(i));
    if (number == facts.numbers.end() || !type || type.getRank() > 1 ||
        result.getRank() < 2 || found == makers.end() ||
        uses[multiply.input(i)] != 1)
      continue;
    NodeProto &product = *found->second;
    const bool isPlain =
        product.op_type() == "MatMul" && isStandardDomain(product.domain());
    if (!isPlain &&
        (product.op_type() != "FusedMatMul" || attribute(product, "alpha")))
      continue;
    NodeProto fused = product;
    become(fused, "FusedMatMul");
    setFloat(fused, "alpha", number->second);
    fused.set_output(0, multiply.output(0));
    --uses[multiply.input(1 - i)];
    --uses[multiply.input(i)];
    product.Clear();
    multiply = std::move(fused);
    return;
  }
}

bool Fusions::isNumber(const std::string &tensor, double value) const {
  auto found = facts.numbers.find(tensor);
  return found != facts.numbers.end() &&
         std::abs(found->second - value) < 1e-6 * std::abs(value);
}

/// x, if \p tensor is 1 + erf(x / sqrt(2)), of \p nodes that nothing else uses;
/// else "".
std::string Fusions::gatedBy(const std::string &tensor,
                             std::vector<NodeProto *> &nodes) const {
  NodeProto *sum = onlyFor(tensor, "Add");
  for (int i = 0; sum && i < 2; ++i) {
    NodeProto *erf = onlyFor(sum->input(i), "Erf");
    if (!erf || !isNumber(sum->input(1 - i), 1))
      continue;
    NodeProto *quotient = onlyFor(erf->input(0), "Div"),
              *product = onlyFor(erf->input(0), "Mul");
    const double root = 1.41421356237309504880;
    nodes = {sum, erf, quotient ? quotient : product};
    if (quotient && isNumber(quotient->input(1), root))
      return quotient->input(0);
    for (int k = 0; product && k < 2; ++k)
      if (isNumber(product->input(1 - k), 1 / root))
        return product->input(k);
  }
  return "";
}

/// x * (1 + erf(x / sqrt(2))) * 0.5, in any order -> Gelu(x), in the place of
/// the last product.
void Fusions::fuseGelu(NodeProto &multiply) {
  if (multiply.op_type() != "Mul" || !isStandardDomain(multiply.domain()) ||
      !isF32(multiply.output(0)))
    return;
  for (int i : {0, 1}) {
    NodeProto *inner = onlyFor(multiply.input(i), "Mul");
    if (!inner)
      continue;
    std::vector<std::string> factors = {multiply.input(1 - i), inner->input(0),
                                        inner->input(1)};
    auto half = llvm::find_if(
        factors, [&](const std::string &each) { return isNumber(each, 0.5); });
    if (half == factors.end())
      continue;
    factors.erase(half);
    for (int k : {0, 1}) {
      std::vector<NodeProto *> nodes;
      const std::string x = gatedBy(factors[k], nodes);
      // A number of more dimensions gives the result more.
      if (x.empty() || x != factors[1 - k] || !typeOf(x) ||
          typeOf(x) != typeOf(multiply.output(0)))
        continue;
      for (const std::string &input : multiply.input())
        --uses[input];
      erase(*inner);
      for (NodeProto *each : nodes)
        erase(*each);
      multiply.clear_input();
      multiply.add_input(x);
      ++uses[x];
      become(multiply, "Gelu");
      return;
    }
  }
}

/// Gelu(x + bias) -> BiasGelu(x, bias); FastGelu has a bias itself.
void Fusions::fuseBias(NodeProto &gelu) {
  const bool isOwn = gelu.domain() == runtimeDomain;
  if ((gelu.op_type() != "Gelu" && !(isOwn && gelu.op_type() == "FastGelu")) ||
      gelu.input_size() != 1 || !isF32(gelu.output(0)))
    return;
  const AttributeProto *form = attribute(gelu, "approximate");
  const bool isFast =
      gelu.op_type() == "FastGelu" || (form && form->s() == "tanh");
  NodeProto *sum = onlyFor(gelu.input(0), "Add");
  if (!sum)
    return;
  for (int i : {0, 1}) {
    RankedTensorType x = typeOf(sum->input(i)),
                     bias = typeOf(sum->input(1 - i));
    if (!x || !bias || bias.getRank() != 1 || x.getRank() < 2 ||
        x.isDynamicDim(x.getRank() - 1) ||
        x.getShape().back() != bias.getDimSize(0))
      continue;
    const std::string first = sum->input(i), second = sum->input(1 - i);
    --uses[gelu.input(0)];
    sum->Clear();
    become(gelu, isFast ? "FastGelu" : "BiasGelu");
    gelu.clear_attribute();
    gelu.set_input(0, first);
    gelu.add_input(second);
    return;
  }
}

/// LayerNormalization(x + y) -> SkipLayerNormalization(x, y), whose fourth
/// output is the sum.
void Fusions::fuseSkip(int place) {
  NodeProto &norm = *graph.mutable_node(place);
  if (norm.op_type() != "LayerNormalization" ||
      !isStandardDomain(norm.domain()) || norm.input_size() < 2 ||
      norm.output_size() != 1 || !isF32(norm.output(0)))
    return;
  NodeProto *sum = maker(norm.input(0), "Add");
  const AttributeProto *axis = attribute(norm, "axis");
  RankedTensorType type = typeOf(norm.input(0));
  if (!sum || !type || type.getRank() != 3 || !type.hasStaticShape() ||
      (axis && axis->i() != -1 && axis->i() != 2))
    return;
  for (const std::string &input : sum->input())
    if (typeOf(input) != type)
      return;
  for (int i = 1; i < norm.input_size(); ++i) {
    RankedTensorType vector = typeOf(norm.input(i));
    if (!vector || vector.getRank() != 1)
      return;
  }
  // The sum is there from this node's place on only.
  bool isUsedBefore = false;
  for (int i = place - 1; i >= 0 && &graph.node(i) != sum; --i)
    forEachUse(graph.node(i), [&](const std::string &tensor) {
      isUsedBefore |= tensor == norm.input(0);
    });
  if (isUsedBefore)
    return;
  NodeProto fused;
  fused.set_name(norm.name());
  become(fused, "SkipLayerNormalization");
  for (const std::string &input : sum->input())
    fused.add_input(input);
  for (int i = 1; i < norm.input_size(); ++i)
    fused.add_input(norm.input(i));
  const AttributeProto *epsilon = attribute(norm, "epsilon");
  setFloat(fused, "epsilon", epsilon ? epsilon->f() : 1e-5f);
  fused.add_output(norm.output(0));
  if (--uses[norm.input(0)] > 0) {
    fused.add_output("");
    fused.add_output("");
    fused.add_output(norm.input(0));
  }
  sum->Clear();
  makers[norm.input(0)] = &norm;
  norm = std::move(fused);
}

/// Erases nodes whose outputs nothing uses any more.
void Fusions::eraseUnused() {
  for (NodeProto &node : llvm::reverse(*graph.mutable_node()))
    if (llvm::none_of(node.output(), [&](const std::string &each) {
          return !each.empty() && uses[each] > 0;
        }))
      erase(node);
}

void Fusions::run() {
  skipInverses();
  for (int place = 0; place < graph.node_size(); ++place) {
    NodeProto &node = *graph.mutable_node(place);
    if (node.op_type() == "MatMul" && isStandardDomain(node.domain()) &&
        isF32(node.output(0)))
      for (int input : {0, 1})
        fuseTranspose(node, input);
    if (node.op_type().empty() || node.output_size() == 0)
      continue;
    fuseGelu(node);
    fuseFactor(node);
    fuseActivation(node);
    fuseBias(node);
    fuseSkip(place);
    makers[node.output(0)] = &node;
  }
  eraseUnused();
  auto &nodes = *graph.mutable_node();
  nodes.erase(std::remove_if(
                  nodes.begin(), nodes.end(),
                  [](const NodeProto &node) { return node.op_type().empty(); }),
              nodes.end());
}

void fuseForOnnxRuntime(ModelProto &model, const TensorFacts &facts) {
  Fusions(*model.mutable_graph(), facts).run();
  const bool isUsed =
      llvm::any_of(model.graph().node(), [](const NodeProto &node) {
        return node.domain() == runtimeDomain;
      });
  const bool isDeclared =
      llvm::any_of(model.opset_import(), [](const OperatorSetIdProto &each) {
        return each.domain() == runtimeDomain;
      });
  if (!isUsed || isDeclared)
    return;
  OperatorSetIdProto &added = *model.add_opset_import();
  added.set_domain(runtimeDomain);
  added.set_version(1);
}

} // namespace sinter::onnx
