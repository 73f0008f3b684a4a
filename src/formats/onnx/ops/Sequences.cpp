// Sequences and optionals whose structure is known when the model is read: they
// leave nothing in the graph.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"

using namespace mlir;

namespace sinter::onnx {

static std::optional<Values> sequence(NodeContext &node, int64_t input) {
  const Bound &bound = node.bound(input);
  if (bound.kind != Bound::Sequence)
    return node.fail("input " + Twine(input) + " is not a sequence");
  return bound.elements;
}

/// A known position in a sequence of \p size elements, also from the end, or
/// just behind it where \p end allows; \p otherwise if there is no such input.
static std::optional<int64_t> position(NodeContext &node, int64_t input,
                                       int64_t size, bool end,
                                       int64_t otherwise) {
  if (!node.has(input))
    return otherwise;
  auto list = node.integersFrom(input, "position");
  if (!list)
    return std::nullopt;
  int64_t limit = size + (end ? 1 : 0);
  if (list->size() != 1 || list->front() < -size || list->front() >= limit)
    return node.fail("the position is outside of the sequence");
  return list->front() < 0 ? list->front() + size : list->front();
}

static LogicalResult sequenceResult(NodeContext &node, Values elements) {
  return node.boundResults(
      std::vector<Bound>{Bound::sequence(std::move(elements))});
}

static LogicalResult importSequenceConstruct(NodeContext &node) {
  return sequenceResult(node, node.operands());
}

static LogicalResult importSequenceEmpty(NodeContext &node) {
  return sequenceResult(node, {});
}

static LogicalResult importSequenceAt(NodeContext &node) {
  auto elements = sequence(node, 0);
  if (!elements)
    return failure();
  if (!node.has(1))
    return node.fail("the position is missing");
  auto at = position(node, 1, elements->size(), false, 0);
  return at ? node.result((*elements)[*at]) : failure();
}

static LogicalResult importSequenceInsert(NodeContext &node) {
  auto elements = sequence(node, 0);
  Value value = node.operand(1);
  if (!elements)
    return failure();
  if (!value)
    return node.fail("the tensor is missing");
  int64_t size = elements->size();
  auto at = position(node, 2, size, true, size);
  if (!at)
    return failure();
  elements->insert(elements->begin() + *at, value);
  return sequenceResult(node, std::move(*elements));
}

static LogicalResult importSequenceErase(NodeContext &node) {
  auto elements = sequence(node, 0);
  if (!elements)
    return failure();
  int64_t size = elements->size();
  if (size == 0)
    return node.fail("the sequence is empty");
  auto at = position(node, 1, size, false, size - 1);
  if (!at)
    return failure();
  if (*at < 0)
    return node.fail("the sequence is empty");
  elements->erase(elements->begin() + *at);
  return sequenceResult(node, std::move(*elements));
}

static LogicalResult importSequenceLength(NodeContext &node) {
  auto elements = sequence(node, 0);
  if (!elements)
    return failure();
  return node.result(
      node.scalar(node.i64(), static_cast<double>(elements->size())));
}

/// Joins along an existing axis or, with `new_axis`, along a new one.
static LogicalResult importConcatFromSequence(NodeContext &node) {
  auto elements = sequence(node, 0);
  if (!elements)
    return failure();
  if (elements->empty())
    return node.fail("the sequence is empty");
  bool fresh = node.getBool("new_axis", false);
  auto axis = node.axis(node.getInt("axis", 0),
                        node.rank(elements->front()) + (fresh ? 1 : 0));
  if (!axis)
    return failure();
  if (fresh)
    for (Value &element : *elements)
      element = node.unsqueeze(element, {*axis});
  return node.result(node.concatenate(*elements, *axis));
}

/// Parts of given lengths, of one length (the last perhaps shorter), or of
/// length 1, which `keepdims` may drop.
/// Each tensor of a sequence is a value of its own in the graph.
static constexpr int64_t longestSequence = 10000;

static LogicalResult importSplitToSequence(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  auto axis = node.axis(node.getInt("axis", 0), node.rank(x));
  if (!axis)
    return failure();
  int64_t total = node.shape(x)[*axis];
  if (ShapedType::isDynamic(total))
    return node.unsupported("the size along the axis is unknown");
  Ints lengths{1};
  bool scalar = true;
  if (node.has(1)) {
    auto given = node.integersFrom(1, "split");
    if (!given)
      return failure();
    scalar = node.rank(node.operand(1)) == 0;
    lengths = std::move(*given);
  }
  if (scalar) {
    int64_t part = lengths.front();
    if (part < 1)
      return node.fail("split is not positive");
    if (total / part > longestSequence)
      return node.unsupported("a sequence of more than " +
                              std::to_string(longestSequence) + " tensors");
    lengths.assign(total / part, part);
    if (total % part != 0)
      lengths.push_back(total % part);
  }
  Values parts;
  int64_t start = 0;
  for (int64_t length : lengths) {
    if (length < 0 || length > total - start)
      return node.fail("split does not add up to the dimension's size");
    Value part = node.sliceAxis(x, *axis, start, start + length);
    if (!node.has(1) && !node.getBool("keepdims", true))
      part = node.squeeze(part, {*axis});
    parts.push_back(part);
    start += length;
  }
  if (start != total)
    return node.fail("split does not add up to the dimension's size");
  return sequenceResult(node, std::move(parts));
}

/// Applies a graph to each element; sequences behind the first go along with
/// it, tensors are the same for all.
static LogicalResult importSequenceMap(NodeContext &node) {
  const GraphProto *body = node.getGraph("body");
  auto first = sequence(node, 0);
  if (!body || !first)
    return failure();
  std::vector<Values> results(body->output_size());
  std::string name = cast<NameLoc>(node.location()).getName().str();
  for (size_t i = 0; i < first->size(); ++i) {
    std::vector<Bound> inputs;
    for (int64_t k = 0; k < node.inputCount(); ++k) {
      Bound each = node.bound(k);
      if (each.kind == Bound::Sequence) {
        if (each.elements.size() != first->size())
          return node.fail("the sequences differ in length");
        each = Bound(each.elements[i]);
      }
      inputs.push_back(each);
    }
    auto outputs = node.importer.importGraph(
        *body, node.frame, inputs, name + "/" + std::to_string(i) + "/");
    if (!outputs)
      return failure();
    for (auto [list, output] : llvm::zip_equal(results, *outputs)) {
      if (output.kind != Bound::Tensor)
        return node.unsupported("a body that gives something else than "
                                "tensors, or uses what is not supported");
      list.push_back(output.value);
    }
  }
  std::vector<Bound> bounds;
  for (Values &list : results)
    bounds.push_back(Bound::sequence(std::move(list)));
  return node.boundResults(std::move(bounds));
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

static LogicalResult importOptional(NodeContext &node) {
  return node.boundResults(std::vector<Bound>{node.bound(0)});
}

static LogicalResult importOptionalHasElement(NodeContext &node) {
  bool there = node.bound(0).kind != Bound::None;
  return node.result(node.scalar(node.i1(), there));
}

static LogicalResult importOptionalGetElement(NodeContext &node) {
  if (node.bound(0).kind == Bound::None)
    return node.fail("the optional is empty");
  return node.boundResults(std::vector<Bound>{node.bound(0)});
}

llvm::ArrayRef<Operator> sequenceOperators() {
  static const Operator table[] = {
      {"ConcatFromSequence", "", 11, importConcatFromSequence, 1, 1, true},
      {"Optional", "", 15, importOptional, 0, 1, true},
      {"OptionalGetElement", "", 15, importOptionalGetElement, 1, 1, true},
      {"OptionalHasElement", "", 15, importOptionalHasElement, 0, 1, true},
      {"SequenceAt", "", 11, importSequenceAt, 2, 2, true},
      {"SequenceConstruct", "", 11, importSequenceConstruct, 1, anyNumber},
      {"SequenceEmpty", "", 11, importSequenceEmpty, 0, 0},
      {"SequenceErase", "", 11, importSequenceErase, 1, 2, true},
      {"SequenceInsert", "", 11, importSequenceInsert, 2, 3, true},
      {"SequenceLength", "", 11, importSequenceLength, 1, 1, true},
      {"SequenceMap", "", 17, importSequenceMap, 1, anyNumber, true},
      {"SplitToSequence", "", 11, importSplitToSequence, 1, 2},
  };
  return table;
}

} // namespace sinter::onnx
