// Gathers, scatters, table look-ups.

#include "formats/import/Indexing.h"
#include "formats/import/Unique.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Results.h"

using namespace mlir;
using sinter::formats::Combine;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

/// A list of indices [N]; [N, 1] is reshaped, other ranks fail.
static Value indexList(OperatorContext &op, StringRef slot) {
  Value indices = op.operand(slot);
  if (!indices || op.rank(indices) != 2)
    return indices;
  const int64_t width = op.size(indices, 1);
  if (width != 1 && !ShapedType::isDynamic(width))
    return op.fail("input " + slot + " is a matrix with " + Twine(width) +
                   " columns, not one");
  return op.squeeze(indices, {1});
}

static LogicalResult takeSlices(OperatorContext &op, Value indices,
                                int64_t along) {
  Value x = op.operand("X");
  if (!x || !indices)
    return failure();
  auto axis = op.axis(along, op.rank(x));
  if (!axis || !indicesFit(op, indices, x, *axis))
    return failure();
  return op.result(
      "Out",
      asDeclared(op, "Out",
                 op.op<nn::TakeOp>(x, indices, static_cast<uint64_t>(*axis))));
}
static LogicalResult importGather(OperatorContext &op) {
  auto axis = op.integersFrom({"Axis"}, "axis");
  if (!axis)
    return failure();
  return takeSlices(op, indexList(op, "Index"),
                    axis->empty() ? 0 : axis->front());
}
static LogicalResult importIndexSelect(OperatorContext &op) {
  return takeSlices(op, op.operand("Index"), op.getInt("dim", 0));
}

static LogicalResult importGatherNd(OperatorContext &op) {
  Value x = op.operand("X"), indices = op.operand("Index");
  if (!x || !indices)
    return failure();
  // An index without coordinates selects the whole tensor.
  if (op.rank(indices) > 0 && op.size(indices, -1) == 0) {
    Dims sizes = op.dims(indices);
    sizes.pop_back();
    const auto before = static_cast<int64_t>(sizes.size());
    sizes.append(op.dims(x));
    return op.result("Out",
                     op.broadcastInDim(x, sizes,
                                       llvm::to_vector(llvm::seq<int64_t>(
                                           before, before + op.rank(x)))));
  }
  return op.result("Out",
                   asDeclared(op, "Out", gatherTuples(op, x, indices, 0)));
}

static LogicalResult takeAlong(OperatorContext &op, StringRef from,
                               StringRef to, int64_t along) {
  Value x = op.operand(from), indices = op.operand("Index");
  if (!x || !indices)
    return failure();
  auto axis = op.axis(along, op.rank(x));
  if (!axis || !indicesFit(op, indices, x, *axis))
    return failure();
  return op.result(
      to, op.op<nn::TakeAlongOp>(x, indices, static_cast<uint64_t>(*axis)));
}
static LogicalResult importIndexSample(OperatorContext &op) {
  return takeAlong(op, "X", "Out", 1);
}
static LogicalResult importTakeAlongAxis(OperatorContext &op) {
  return takeAlong(op, "Input", "Result", op.getInt("Axis", 0));
}

/// Replaces rows of X by those of Updates, or sums the latter into rows that
/// start at 0.
static LogicalResult importScatter(OperatorContext &op) {
  Value x = op.operand("X"), indices = indexList(op, "Ids"),
        updates = op.operand("Updates");
  if (!x || !indices || !updates)
    return failure();
  if (op.rank(indices) == 0)
    indices = op.reshape(indices, ArrayRef<int64_t>{1});
  if (op.rank(indices) != 1)
    return op.fail("Ids is not a list");
  indices = op.unsqueeze(indices, {1});
  if (op.getBool("overwrite", true))
    return op.result("Out",
                     scatterTuples(op, x, indices, updates, Combine::Replace));
  Value zeros =
      op.broadcastInDim(op.scalar(op.element(x), 0), op.dims(updates), {});
  Value cleared = scatterTuples(op, x, indices, zeros, Combine::Replace);
  return op.result("Out",
                   scatterTuples(op, cleared, indices, updates, Combine::Add));
}

static LogicalResult importScatterNdAdd(OperatorContext &op) {
  return op.result("Out",
                   scatterTuples(op, op.operand("X"), op.operand("Index"),
                                 op.operand("Updates"), Combine::Add));
}

static LogicalResult importPutAlongAxis(OperatorContext &op) {
  Value x = op.operand("Input"), indices = op.operand("Index"),
        values = op.operand("Value");
  const std::string how = op.getString("Reduce", "assign");
  if (!x || !indices || !values)
    return failure();
  auto axis = op.axis(op.getInt("Axis", 0), op.rank(x));
  if (!axis || !indicesFit(op, indices, x, *axis))
    return failure();
  if (op.rank(indices) != op.rank(x))
    return op.fail("Index has not as many dimensions as Input");
  if (!op.getBool("Include_self", true) && how != "assign")
    return op.unsupported("attribute 'Include_self' is false");
  std::optional<Combine> combine =
      how == "assign"                     ? std::optional(Combine::Replace)
      : how == "add"                      ? std::optional(Combine::Add)
      : how == "mul" || how == "multiply" ? std::optional(Combine::Multiply)
      : how == "amax"                     ? std::optional(Combine::Max)
      : how == "amin"                     ? std::optional(Combine::Min)
                                          : std::nullopt;
  if (!combine)
    return op.unsupported("attribute 'Reduce' is '" + how + "'");
  values = op.alignRank(values, op.rank(indices));
  Ints positions = llvm::to_vector(llvm::seq<int64_t>(0, op.rank(indices)));
  values = op.broadcastInDim(values, op.dims(indices), positions);
  return op.result("Result",
                   scatterAlong(op, x, indices, values, *axis, *combine));
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Looks up rows of W; that of padding_idx is 0.
static LogicalResult lookUp(OperatorContext &op, Value ids) {
  Value table = op.operand("W");
  if (!table || !ids)
    return failure();
  if (op.rank(table) != 2)
    return op.fail("W is not a matrix");
  Value rows = op.op<nn::TakeOp>(table, ids, uint64_t(0));
  int64_t padding = op.getInt("padding_idx", -1);
  if (!rows || padding == -1)
    return op.result("Out", rows);
  if (padding < 0 && !ShapedType::isDynamic(op.size(table, 0)))
    padding += op.size(table, 0);
  Value wide = op.cast(ids, op.i64());
  Value isPadding = op.compare(wide, op.one(wide, static_cast<double>(padding)),
                               ComparisonDirection::EQ);
  Value everywhere = op.unsqueeze(isPadding, {op.rank(ids)});
  return op.result("Out", select(op, everywhere, op.one(rows, 0), rows));
}
/// Indices of the first generation have a last dimension of size 1.
static Value withoutLast(OperatorContext &op, StringRef slot) {
  Value indices = op.operand(slot);
  if (!indices)
    return {};
  const int64_t rank = op.rank(indices);
  const int64_t last = rank > 0 ? op.size(indices, rank - 1) : 0;
  if (last != 1 && !ShapedType::isDynamic(last))
    return op.fail("input " + slot +
                   " does not end with a dimension of one element");
  return op.squeeze(indices, {rank - 1});
}
static LogicalResult importLookupTable(OperatorContext &op) {
  return lookUp(op, withoutLast(op, "Ids"));
}
static LogicalResult importLookupTableV2(OperatorContext &op) {
  return lookUp(op, op.operand("Ids"));
}

/// 1 at each index; all 0 for an index out of bounds.
static LogicalResult oneHot(OperatorContext &op, Value indices) {
  Type element = op.elementType("dtype", 5);
  auto depth = op.integersFrom({"depth_tensor"}, "depth");
  if (!indices || !element || !depth)
    return failure();
  if (depth->size() != 1 || depth->front() < 1 ||
      depth->front() > formats::longestTable)
    return op.fail("the depth is out of range");
  const int64_t rank = op.rank(indices);
  Value each = op.unsqueeze(op.cast(indices, op.i64()), {rank});
  Ints shape(rank, 1);
  shape.push_back(depth->front());
  Value positions = iota(op, Dims(shape.begin(), shape.end()), rank, op.i64());
  return op.result(
      "Out",
      op.cast(op.compare(each, positions, ComparisonDirection::EQ), element));
}
static LogicalResult importOneHot(OperatorContext &op) {
  return oneHot(op, withoutLast(op, "X"));
}
static LogicalResult importOneHotV2(OperatorContext &op) {
  return oneHot(op, op.operand("X"));
}

/// Whether each index up to maxlen is less than the sequence's length.
static LogicalResult importSequenceMask(OperatorContext &op) {
  Value lengths = op.operand("X");
  Type element = op.elementType("out_dtype", 3);
  auto most = op.integersFrom({"MaxLenTensor"}, "maxlen");
  if (!lengths || !element || !most)
    return failure();
  if (most->size() != 1 || most->front() < 1 ||
      most->front() > formats::longestTable)
    return op.unknown("the longest length is known only at run time");
  const int64_t rank = op.rank(lengths);
  Ints shape(rank, 1);
  shape.push_back(most->front());
  Value positions = iota(op, Dims(shape.begin(), shape.end()), rank, op.i64());
  Value each = op.unsqueeze(op.cast(lengths, op.i64()), {rank});
  return op.result(
      "Y",
      op.cast(op.compare(positions, each, ComparisonDirection::LT), element));
}

/// The coordinates of the elements for which the condition holds.
static LogicalResult importWhereIndex(OperatorContext &op) {
  Value condition = op.operand("Condition");
  if (!condition)
    return failure();
  if (op.rank(condition) == 0)
    condition = op.reshape(condition, ArrayRef<int64_t>{1});
  Value found = op.typed<nn::NonZeroOp>(
      op.tensorType({op.rank(condition), ShapedType::kDynamic}, op.i64()),
      condition);
  return op.result("Out", op.transpose(found, {1, 0}));
}

/// The elements for which the mask holds, as a vector.
static LogicalResult importMaskedSelect(OperatorContext &op) {
  Values both = op.broadcastTogether({op.operand("X"), op.operand("Mask")});
  if (both.size() != 2)
    return failure();
  auto flat = [&](Value value) {
    return op.reshape(value, Dims{op.product(op.dims(value))});
  };
  Value found = op.typed<nn::NonZeroOp>(
      op.tensorType({1, ShapedType::kDynamic}, op.i64()), flat(both[1]));
  return op.result("Y", op.op<nn::TakeOp>(flat(both[0]), op.squeeze(found, {0}),
                                          uint64_t(0)));
}

/// The distinct elements or slices: in ascending order or, in the first
/// generation, in the order of their occurrence.
static LogicalResult importUnique(OperatorContext &op) {
  Type indexType = op.elementType("dtype", 3);
  Ints axes = op.getInts("axis");
  const bool isSorted = op.getBool("is_sorted", false);
  if (!indexType || op.failed())
    return failure();
  if (axes.size() > 1)
    return op.fail("attribute 'axis' has more than one element");
  std::optional<int64_t> axis;
  if (!axes.empty() && isSorted)
    axis = axes.front();
  auto found = uniqueSlices(op, op.operand("X"), axis, isSorted);
  if (!found)
    return failure();
  for (auto [slot, value] :
       {std::pair("Indices", found->first), std::pair("Index", found->inverse),
        std::pair("Counts", found->counts)})
    if (mlir::failed(op.result(slot, op.cast(value, indexType))))
      return failure();
  return op.result("Out", found->slices);
}

OperatorReaders indexingReaders() {
  static const OperatorReader table[] = {
      {"gather", importGather},
      {"gather_nd", importGatherNd},
      {"index_sample", importIndexSample},
      {"index_select", importIndexSelect},
      {"lookup_table", importLookupTable},
      {"lookup_table_v2", importLookupTableV2},
      {"masked_select", importMaskedSelect},
      {"one_hot", importOneHot},
      {"one_hot_v2", importOneHotV2},
      {"put_along_axis", importPutAlongAxis},
      {"scatter", importScatter},
      {"scatter_nd_add", importScatterNdAdd},
      {"sequence_mask", importSequenceMask},
      {"take_along_axis", importTakeAlongAxis},
      {"unique", importUnique},
      {"where_index", importWhereIndex},
  };
  return table;
}

} // namespace sinter::paddle
