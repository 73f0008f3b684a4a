// Tile, expand and similar.

#include "formats/import/Filling.h"
#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"

using namespace mlir;

namespace sinter::paddle {

/// The elements of the vector \p list as sizes.
static std::optional<Dims> sizesIn(OperatorContext &op, Value list) {
  if (!list)
    return std::nullopt;
  if (op.rank(list) != 1 || !op.isStatic(list))
    return op.unknown("the number of dimensions is unknown");
  auto known = op.knownElements(list);
  Dims sizes;
  for (int64_t i = 0; i < op.size(list, 0); ++i)
    if (known && (*known)[i].isInteger())
      sizes.push_back((*known)[i].value);
    else
      sizes.push_back(
          Dim(ShapedType::kDynamic, op.sliceAxis(list, 0, i, i + 1)));
  return sizes;
}

/// The shorter of dimensions and repeats gets leading ones.
static LogicalResult tileBy(OperatorContext &op, Value list) {
  Value x = op.operand("X");
  auto repeats = sizesIn(op, list);
  if (!x || !repeats)
    return failure();
  for (const Dim &each : *repeats)
    if (each.isStatic() && each.size < 0)
      return op.fail("a number of repeats is negative");
  const auto rank = std::max<int64_t>(op.rank(x), repeats->size());
  repeats->insert(repeats->begin(), rank - repeats->size(), Dim(1));
  return op.result("Out", tile(op, op.alignRank(x, rank), *repeats));
}
static LogicalResult importTile(OperatorContext &op) {
  return tileBy(op, op.integersValue({"RepeatTimes", "repeat_times_tensor"},
                                     "repeat_times"));
}
static LogicalResult importExpandV1(OperatorContext &op) {
  return tileBy(op, op.integersValue({"ExpandTimes", "expand_times_tensor"},
                                     "expand_times"));
}

/// Broadcasts to a shape in which -1 keeps the operand's size.
static LogicalResult expandTo(OperatorContext &op, std::optional<Dims> sizes) {
  Value x = op.operand("X");
  if (!x || !sizes)
    return failure();
  const int64_t own = op.rank(x), rank = sizes->size();
  if (rank < own)
    return op.fail("the shape has fewer dimensions than X");
  for (int64_t i = 0; i < rank; ++i) {
    Dim &size = (*sizes)[i];
    const int64_t at = i - (rank - own);
    if (size.isStatic() && size.size == -1) {
      if (at < 0)
        return op.fail("the shape keeps a dimension that X lacks");
      size = op.dim(x, at);
      continue;
    }
    if (!size.isStatic() || at < 0)
      continue;
    const int64_t there = op.size(x, at);
    if (size.size < 0 ||
        (!ShapedType::isDynamic(there) && there != 1 && there != size.size))
      return op.fail("X does not broadcast to the shape");
  }
  return op.result(
      "Out",
      op.broadcastInDim(x, *sizes,
                        llvm::to_vector(llvm::seq<int64_t>(rank - own, rank))));
}
static LogicalResult importExpand(OperatorContext &op) {
  return expandTo(
      op, sizesIn(op, op.integersValue({"Shape", "expand_shapes_tensor"},
                                       "shape")));
}
/// Broadcasts to the shape of a tensor.
static LogicalResult importExpandAs(OperatorContext &op) {
  for (StringRef slot : {"Y", "target_tensor"})
    if (op.has(slot))
      return expandTo(op, op.dims(op.operand(slot)));
  return expandTo(op, sizesIn(op, op.integersValue({}, "target_shape")));
}

/// The first generation repeats X as often as it takes to fill the shape of a
/// tensor.
static LogicalResult importExpandAsV1(OperatorContext &op) {
  Value x = op.operand("X"),
        target = op.operand(op.has("expand_tensor") ? "expand_tensor"
                                                    : "target_tensor");
  if (!x || !target)
    return failure();
  if (op.rank(x) != op.rank(target))
    return op.fail("X has " + Twine(op.rank(x)) +
                   " dimensions, the tensor whose shape it gets " +
                   Twine(op.rank(target)));
  Dims repeats;
  for (int64_t i = 0; i < op.rank(x); ++i) {
    const Dim own = op.dim(x, i), asked = op.dim(target, i);
    if (own.size == 1 || op.known().sameSize(x, i, target, i)) {
      repeats.push_back(own.size == 1 ? asked : Dim(1));
      continue;
    }
    if (own.isStatic() && asked.isStatic()) {
      if (own.size == 0 || asked.size % own.size != 0)
        return op.fail("dimension " + Twine(i) + " of " + Twine(asked.size) +
                       " elements is no multiple of X's " + Twine(own.size));
      repeats.push_back(asked.size / own.size);
      continue;
    }
    repeats.push_back(
        Dim(ShapedType::kDynamic,
            op.op<stablehlo::DivOp>(op.extents({asked}), op.extents({own}))));
  }
  return op.result("Out", tile(op, x, repeats));
}

/// Broadcasts each of the tensors along its own dimension.
static LogicalResult importMeshgrid(OperatorContext &op) {
  Values parts = op.operands("X");
  if (parts.empty() || op.failed())
    return failure();
  Dims sizes;
  for (Value part : parts) {
    if (op.rank(part) > 1)
      return op.fail("a tensor has more than one dimension");
    sizes.push_back(op.product(op.dims(part)));
  }
  Values results;
  for (auto [i, part] : llvm::enumerate(parts))
    results.push_back(op.broadcastInDim(op.reshape(part, Dims{sizes[i]}), sizes,
                                        {static_cast<int64_t>(i)}));
  return op.results("Out", results);
}

OperatorReaders repeatingReaders() {
  static const OperatorReader table[] = {
      {"expand", importExpandV1},       {"expand_as", importExpandAsV1},
      {"expand_as_v2", importExpandAs}, {"expand_v2", importExpand},
      {"meshgrid", importMeshgrid},     {"tile", importTile},
  };
  return table;
}

} // namespace sinter::paddle
