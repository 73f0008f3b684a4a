#include "formats/onnx/ops/JoinedBranches.h"

#include "formats/onnx/ops/Bodies.h"
#include "formats/onnx/ops/PackedSequence.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter::onnx {

/// Whether the static sizes of both tensors agree.
static bool haveKnownSizesAlike(Type first, Type second) {
  auto one = dyn_cast<RankedTensorType>(first),
       other = dyn_cast<RankedTensorType>(second);
  return one && other && succeeded(verifyCompatibleShape(one, other));
}

/// Imports a branch into \p region and returns its results. A branch that is no
/// valid graph (because its shapes only fit the other branch, say) is an error
/// at run time if it is taken.
static std::optional<std::vector<Bound>> readBranch(NodeContext &node,
                                                    Region &region,
                                                    const GraphProto &branch,
                                                    StringRef name) {
  std::vector<Bound> outputs;
  auto read = [&] {
    return node.importer.importGraph(branch, node.frame, {}, innerPrefix(node));
  };
  // Its results are determined only once the other branch is imported.
  auto give = [&](std::vector<Bound> found) {
    outputs = std::move(found);
    return Values();
  };
  const bool isValid = fillRegion(node, region, read, give);
  if (const std::optional<Error> error = node.importer.takeError())
    node.unknown("its " + name + " is refused (" + error->message() +
                 "), and the condition is known only at run time");
  if (!isValid || node.failed())
    return std::nullopt;
  return outputs;
}

/// \p value cast to the type \p wanted, with its dynamic dimensions.
static Value dynamicSizes(NodeContext &node, Value value,
                          RankedTensorType wanted) {
  if (value.getType() == wanted || wanted.hasStaticShape())
    return value;
  return node.typed<stablehlo::DynamicReshapeOp>(
      wanted, value, node.extents(node.dims(value)));
}

namespace {

class JoinedBranches {
public:
  JoinedBranches(NodeContext &node, Operation *holder)
      : node(node), holder(holder) {}

  LogicalResult build(const GraphProto &yes, const GraphProto &no) {
    auto first = readBranch(node, holder->getRegion(0), yes, "then_branch");
    if (!first)
      return failure();
    auto second = readBranch(node, holder->getRegion(1), no, "else_branch");
    if (!second)
      return failure();
    if (first->size() != second->size())
      return node.fail("the branches differ in how many values they give");
    for (auto [i, one] : llvm::enumerate(*first))
      if (!addOutput(one, (*second)[i], i))
        return failure();
    SmallVector<Type> all;
    for (RankedTensorType type : types)
      all.push_back(type);
    for (auto [region, given] : llvm::zip_equal(holder->getRegions(), values)) {
      Operation *end = region.front().getTerminator();
      for (auto [value, type] : llvm::zip_equal(given, types)) {
        OpBuilder::InsertionGuard guard(node.builder());
        node.builder().setInsertionPoint(end);
        value = dynamicSizes(node, value, type);
      }
      if (node.failed())
        return failure();
      end->setOperands(given);
    }
    Operation *op = closeHolder(node, holder, all);
    return op ? node.boundResults(results(op->getResults())) : failure();
  }

private:
  /// Adds output \p number, which is \p one or \p other.
  bool addOutput(const Bound &one, const Bound &other, size_t number) {
    if (one.kind == Bound::Tensor && other.kind == Bound::Tensor) {
      outputs.push_back(one);
      return addTensor(one.value, other.value, number);
    }
    if (!one.isSequence() || !other.isSequence()) {
      node.unsupported("a branch that gives an optional");
      return false;
    }
    if (one.kind == other.kind && one.kind == Bound::Sequence &&
        one.elements.size() == other.elements.size()) {
      outputs.push_back(one);
      for (auto [element, with] : llvm::zip_equal(one.elements, other.elements))
        if (!addTensor(element, with, number))
          return false;
      return true;
    }
    auto type = tensorTypeOf(node, one);
    if (type)
      type = tensorTypeOf(node, other, *type);
    if (!type)
      return false;
    auto first = pack(one, *type, 0), second = pack(other, *type, 1);
    if (!first || !second)
      return false;
    outputs.push_back(first->bound());
    for (auto [value, with] :
         llvm::zip_equal(first->bound().elements, second->bound().elements))
      if (!addTensor(value, with, number))
        return false;
    return true;
  }

  /// Packs \p bound, a sequence returned by branch \p branch, in that branch.
  std::optional<PackedSequence> pack(const Bound &bound, RankedTensorType type,
                                     unsigned branch) {
    OpBuilder::InsertionGuard guard(node.builder());
    node.builder().setInsertionPoint(
        holder->getRegion(branch).front().getTerminator());
    return PackedSequence::of(node, bound, type);
  }

  bool addTensor(Value one, Value other, size_t number) {
    const Type type = joinTypes(one.getType(), other.getType());
    if (!type || (!node.expandsUnknown() &&
                  !haveKnownSizesAlike(one.getType(), other.getType()))) {
      node.unknown("output " + Twine(number) + " has another " +
                   (type ? "shape" : "rank or element type") +
                   " in either branch, and the condition is known only "
                   "at run time; " +
                   optionText("shape") + " or " + optionText("bind") +
                   " may decide it");
      return false;
    }
    types.push_back(cast<RankedTensorType>(type));
    values[0].push_back(one);
    values[1].push_back(other);
    return true;
  }

  /// The node's outputs, from the op's results \p given.
  std::vector<Bound> results(ValueRange given) const {
    std::vector<Bound> bounds = outputs;
    for (Bound &bound : bounds) {
      if (bound.kind == Bound::Tensor) {
        bound = Bound(given.front());
        given = given.drop_front();
        continue;
      }
      for (Value &element : bound.elements) {
        element = given.front();
        given = given.drop_front();
      }
    }
    return bounds;
  }

  NodeContext &node;
  Operation *holder;
  std::vector<Bound> outputs;
  /// The results of each branch, and their common types.
  Values values[2];
  SmallVector<RankedTensorType> types;
};

} // namespace

LogicalResult joinBranches(NodeContext &node, Value condition,
                           const GraphProto &yes, const GraphProto &no) {
  Operation *holder =
      makeHolder(node, stablehlo::IfOp::getOperationName(), condition, {});
  return JoinedBranches(node, holder).build(yes, no);
}

} // namespace sinter::onnx
