// Sequences and optionals. A sequence with a known number of tensors adds no
// ops; else it is packed (PackedSequence.h).

#include "formats/import/Building.h"
#include "formats/import/SizeArithmetic.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/PackedSequence.h"
#include "formats/onnx/ops/WhileLoop.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter::onnx {

/// Input \p input, a sequence; null and an error if it is none.
static const Bound *sequence(NodeContext &node, int64_t input) {
  const Bound &bound = node.bound(input);
  if (bound.isSequence())
    return &bound;
  node.fail("input " + Twine(input) + " is not a sequence");
  return nullptr;
}

/// A known position in a sequence of \p size elements, possibly from the end,
/// or one past the end if \p end; \p otherwise if there is no such input.
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

/// The sequence \p bound packed, if its number of tensors or the position in
/// input \p input (-1: none) is computed and with ReadOptions::expandsUnknown.
/// Nothing without an error: all of it is known, or must be.
static std::optional<PackedSequence> packed(NodeContext &node,
                                            const Bound &bound, int64_t input) {
  const bool isKnown = bound.kind == Bound::Sequence &&
                       (input < 0 || !node.has(input) ||
                        node.knownIntegers(node.operand(input)));
  if (isKnown || (bound.kind == Bound::Sequence && !node.expandsUnknown()))
    return std::nullopt;
  return PackedSequence::of(node, bound);
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
  const Bound *bound = sequence(node, 0);
  if (!bound)
    return failure();
  if (!node.has(1))
    return node.fail("the position is missing");
  if (auto list = packed(node, *bound, 1))
    return node.result(list->at(node.operand(1)));
  if (node.failed())
    return failure();
  auto at = position(node, 1, bound->elements.size(), false, 0);
  return at ? node.result(bound->elements[*at]) : failure();
}

static LogicalResult importSequenceInsert(NodeContext &node) {
  const Bound *bound = sequence(node, 0);
  Value value = node.operand(1);
  if (!bound)
    return failure();
  if (!value)
    return node.fail("the tensor is missing");
  if (auto list = packed(node, *bound, 2)) {
    auto inserted =
        list->insert(value, node.has(2) ? node.operand(2) : Value());
    return inserted ? node.boundResults({inserted->bound()}) : failure();
  }
  if (node.failed())
    return failure();
  Values elements = bound->elements;
  int64_t size = elements.size();
  auto at = position(node, 2, size, true, size);
  if (!at)
    return failure();
  elements.insert(elements.begin() + *at, value);
  return sequenceResult(node, std::move(elements));
}

static LogicalResult importSequenceErase(NodeContext &node) {
  const Bound *bound = sequence(node, 0);
  if (!bound)
    return failure();
  if (auto list = packed(node, *bound, 1)) {
    const PackedSequence rest =
        list->erase(node.has(1) ? node.operand(1) : Value());
    return node.boundResults({rest.bound()});
  }
  if (node.failed())
    return failure();
  Values elements = bound->elements;
  int64_t size = elements.size();
  if (size == 0)
    return node.fail("the sequence is empty");
  auto at = position(node, 1, size, false, size - 1);
  if (!at)
    return failure();
  elements.erase(elements.begin() + *at);
  return sequenceResult(node, std::move(elements));
}

static LogicalResult importSequenceLength(NodeContext &node) {
  const Bound *bound = sequence(node, 0);
  if (!bound)
    return failure();
  if (auto list = packed(node, *bound, -1))
    return node.result(formats::sizeScalar(node, list->length(), node.i64()));
  if (node.failed())
    return failure();
  return node.result(
      node.scalar(node.i64(), static_cast<double>(bound->elements.size())));
}

/// Concatenates along an existing axis or, with `new_axis`, along a new one.
static LogicalResult importConcatFromSequence(NodeContext &node) {
  const Bound *bound = sequence(node, 0);
  if (!bound)
    return failure();
  const bool isNew = node.getBool("new_axis", false);
  auto list = packed(node, *bound, -1);
  if (node.failed())
    return failure();
  if (!list && bound->elements.empty())
    return node.fail("the sequence is empty");
  const int64_t rank =
      list ? list->tensorType().getRank() : node.rank(bound->elements.front());
  auto axis = node.axis(node.getInt("axis", 0), rank + (isNew ? 1 : 0));
  if (!axis)
    return failure();
  if (list)
    return node.result(list->concatenate(*axis, isNew));
  Values elements = bound->elements;
  if (isNew)
    for (Value &element : elements)
      element = node.unsqueeze(element, {*axis});
  return node.result(node.concatenate(elements, *axis));
}

/// Maximum length of a sequence, each tensor of which is a value of the graph.
static constexpr int64_t longestSequence = 10000;

/// The sizes along dimension \p axis of \p x, [N], where the size or the input
/// `split` is computed.
static Value computedLengths(NodeContext &node, Value x, int64_t axis) {
  Value given = node.cast(node.operand(1), node.i64());
  if (!given || node.rank(given) == 1)
    return given;
  // All have the same size, except for a smaller last one.
  formats::SizeArithmetic sizes(node);
  const Dim total = node.dim(x, axis), one = 1;
  const Dim size(ShapedType::kDynamic, node.reshape(given, Ints{1}));
  node.require(formats::scalarOf(
      node, node.compare(size.extent, node.integers({1}),
                         stablehlo::ComparisonDirection::GE)));
  const Dim step = sizes.max(size, one);
  const Dim count =
      sizes.divide(sizes.add(total, sizes.subtract(step, one)), step);
  Value starts = node.binary<stablehlo::MulOp>(
      formats::iota(node, {count}, 0, node.i64()), step.extent);
  Value rest =
      node.binary<stablehlo::SubtractOp>(node.extents({total}), starts);
  return node.binary<stablehlo::MinOp>(rest, step.extent);
}

/// The sizes along a dimension of \p total elements that the input `split`
/// gives; all 1 without one.
static std::optional<Ints> knownLengths(NodeContext &node, int64_t total) {
  Ints lengths{1};
  bool isOne = true;
  if (node.has(1)) {
    auto given = node.integersFrom(1, "split");
    if (!given)
      return std::nullopt;
    isOne = node.rank(node.operand(1)) == 0;
    lengths = std::move(*given);
  }
  if (!isOne)
    return lengths;
  const int64_t size = lengths.front();
  if (size < 1)
    return node.fail("split is not positive");
  if (total / size > longestSequence)
    return node.unsupported("a sequence of more than " +
                            std::to_string(longestSequence) + " tensors");
  lengths.assign(total / size, size);
  if (total % size != 0)
    lengths.push_back(total % size);
  return lengths;
}

/// Tensors of given lengths, of one length (the last perhaps shorter), or of
/// length 1, which `keepdims` may drop.
static LogicalResult importSplitToSequence(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  auto axis = node.axis(node.getInt("axis", 0), node.rank(x));
  if (!axis)
    return failure();
  int64_t total = node.size(x, *axis);
  const bool dropsDimension = !node.has(1) && !node.getBool("keepdims", true);
  if (ShapedType::isDynamic(total) ||
      (node.has(1) && !node.knownIntegers(node.operand(1)))) {
    if (!node.expandsUnknown())
      return node.unknown("the number of tensors is known only at run time");
    if (!node.has(1))
      return node.boundResults(
          {PackedSequence::splitEach(node, x, *axis, !dropsDimension).bound()});
    Value lengths = computedLengths(node, x, *axis);
    return lengths
               ? node.boundResults(
                     {PackedSequence::split(node, x, *axis, lengths).bound()})
               : failure();
  }
  auto lengths = knownLengths(node, total);
  if (!lengths)
    return failure();
  Values tensors;
  int64_t start = 0;
  for (int64_t length : *lengths) {
    if (length < 0 || length > total - start)
      return node.fail("split does not add up to the dimension's size");
    Value tensor = node.sliceAxis(x, *axis, start, start + length);
    tensors.push_back(dropsDimension ? node.squeeze(tensor, {*axis}) : tensor);
    start += length;
  }
  if (start != total)
    return node.fail("split does not add up to the dimension's size");
  return sequenceResult(node, std::move(tensors));
}

/// SequenceMap over \p first, whose number of tensors is computed: a loop that
/// inserts the graph's results into sequences.
static LogicalResult mapInLoop(NodeContext &node, const GraphProto &body,
                               const PackedSequence &first) {
  std::vector<std::optional<PackedSequence>> lists(node.inputCount());
  for (int64_t k = 0; k < node.inputCount(); ++k)
    if (const Bound &bound = node.bound(k); bound.isSequence()) {
      auto list = PackedSequence::of(node, bound);
      if (!list)
        return failure();
      lists[k].emplace(*list);
      node.require(formats::scalarOf(
          node, node.compare(node.extents({lists[k]->length()}),
                             node.extents({first.length()}),
                             stablehlo::ComparisonDirection::EQ)));
    }
  auto read = [&](ArrayRef<Bound> states) -> std::optional<std::vector<Bound>> {
    std::vector<Bound> inputs;
    for (auto [k, list] : llvm::enumerate(lists))
      inputs.push_back(list ? Bound(list->at(states[0].value))
                            : node.bound(static_cast<int64_t>(k)));
    auto outputs =
        node.importer.importGraph(body, node.frame, inputs, innerPrefix(node));
    if (!outputs || anyPoisoned(*outputs))
      return outputs;
    std::vector<Bound> next = {states[1]};
    for (auto [list, output] :
         llvm::zip_equal(states.drop_front(2), *outputs)) {
      if (output.kind != Bound::Tensor)
        return node.unsupported(
            "a body that gives something else than tensors");
      if (list.kind == Bound::Sequence) {
        next.push_back(Bound::sequence({output.value}));
        continue;
      }
      auto longer = PackedSequence::of(node, list)->insert(output.value, {});
      if (!longer)
        return std::nullopt;
      next.push_back(longer->bound());
    }
    return next;
  };
  const std::vector<Bound> none(body.output_size(), Bound::sequence({}));
  Value count = formats::sizeScalar(node, first.length(), node.i64());
  return whileLoop(node, {count, {}, none, 0, read});
}

/// Applies a graph to each element; further sequences are iterated together
/// with the first, tensors are the same for all.
static LogicalResult importSequenceMap(NodeContext &node) {
  const GraphProto *body = node.getGraph("body");
  const Bound *first = sequence(node, 0);
  if (!body || !first)
    return failure();
  if (auto list = packed(node, *first, -1))
    return mapInLoop(node, *body, *list);
  if (node.failed())
    return failure();
  const size_t count = first->elements.size();
  std::vector<Values> results(body->output_size());
  std::string name = cast<NameLoc>(node.location()).getName().str();
  for (size_t i = 0; i < count; ++i) {
    std::vector<Bound> inputs;
    for (int64_t k = 0; k < node.inputCount(); ++k) {
      Bound each = node.bound(k);
      if (each.kind == Bound::Packed) {
        auto list = PackedSequence::of(node, each);
        if (!list)
          return failure();
        each = Bound(list->at(node.integers({static_cast<int64_t>(i)})));
      } else if (each.kind == Bound::Sequence) {
        if (each.elements.size() != count)
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
  const Bound optional = node.bound(0);
  if (optional.kind == Bound::None)
    return optional.isNotGiven
               ? node.unsupported("the optional is an input without a value; " +
                                  optionText("shape") + " gives it one")
               : node.fail("the optional is empty");
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
