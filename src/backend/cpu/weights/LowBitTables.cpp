#include "backend/cpu/weights/LowBitTables.h"

#include "backend/cpu/ir/DeadCode.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Groups.h"
#include "passes/WidenedWeights.h"

#include <cstring>
#include <numeric>

using namespace mlir;
using sinter::nn::TensorBuilder;
using namespace sinter::stablehlo;

namespace sinter::cpu {

static constexpr llvm::StringLiteral tableLabel = "low-bit-table";

ArrayRef<PatternInfo> lowBitTablesPatterns() {
  static const PatternInfo infos[] = {
      {tableLabel,
       "gather(convert(w : i8) * s, i) -> convert(gather(w, i)) * gather(s, i)",
       "cpu-low-bit-tables"}};
  return infos;
}

/// The largest block size along the last dimension with equal elements in each
/// block.
static int64_t repetition(const Tensor &values) {
  if (values.rank() < 2 || values.size() == 0 || bitWidth(values.type()) < 8)
    return 1;
  const int64_t length = values.dim(values.rank() - 1);
  const size_t width = byteSize(values.type());
  const std::byte *data = values.data();
  int64_t block = length;
  for (int64_t i = 1; i < values.size() && block > 1; ++i)
    if (std::memcmp(data + i * width, data + (i - 1) * width, width) != 0)
      block = std::gcd(block, i % length);
  return block;
}

static Tensor everyNth(const Tensor &values, int64_t n) {
  Shape shape = values.shape();
  shape.back() /= n;
  Tensor result(values.type(), shape);
  const size_t width = byteSize(values.type());
  auto *to = reinterpret_cast<std::byte *>(result.mutableBytes());
  for (int64_t i = 0; i < result.size(); ++i)
    std::memcpy(to + i * width, values.data() + i * n * width, width);
  return result;
}

namespace {

/// Moves a gather of rows of a table to the constants that the table is
/// computed from.
class TableRows {
public:
  explicit TableRows(GatherOp op)
      : op(op), builder(op), emit(builder, op.getLoc()) {}

  /// The gather's new result; null if it has another form.
  Value run() {
    if (!takesRows() || !isWidenedWeight(op.getOperand()) ||
        !hasRows(op.getOperand()))
      return {};
    const nn::Sizes sizes = emit.sizes(op.getStartIndices());
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (int64_t(dim) != op.getDimensionNumbers().getIndexVectorDim())
        batch.push_back(size);
    return rowsOf(op.getOperand());
  }

private:
  /// Whether the result's last dimensions are whole rows of the table.
  bool takesRows() {
    auto numbers = op.getDimensionNumbers();
    auto table = tensorOf(op.getOperand()), result = tensorOf(op.getResult());
    if (!table.hasStaticShape() || table.getRank() == 0 ||
        !numbers.getOperandBatchingDims().empty() ||
        !llvm::equal(numbers.getCollapsedSliceDims(), ArrayRef<int64_t>(0)) ||
        !llvm::equal(numbers.getStartIndexMap(), ArrayRef<int64_t>(0)) ||
        !llvm::equal(op.getSliceSizes().drop_front(),
                     table.getShape().drop_front()))
      return false;
    const int64_t batchRank = result.getRank() - table.getRank() + 1;
    return llvm::equal(
        numbers.getOffsetDims(),
        llvm::seq<int64_t>(batchRank, batchRank + table.getRank() - 1));
  }

  int64_t tableSize() { return tensorOf(op.getOperand()).getDimSize(0); }

  /// Whether each row of \p value is computed from the same row of constants.
  bool hasRows(Value value) {
    constexpr unsigned mostOperations = 32;
    Operation *made = value.getDefiningOp();
    if (!made || ++seen > mostOperations || tensorOf(value).getRank() == 0 ||
        tensorOf(value).getDimSize(0) != tableSize())
      return false;
    return llvm::TypeSwitch<Operation *, bool>(made)
        .Case([](ConstantOp) { return true; })
        .Case<ConvertOp, SubtractOp, MulOp>([&](Operation *each) {
          return llvm::all_of(each->getOperands(),
                              [&](Value operand) { return hasRows(operand); });
        })
        .Case([&](ReshapeOp each) { return hasRows(each.getOperand()); })
        .Case([&](BroadcastInDimOp each) {
          ArrayRef<int64_t> dims = each.getBroadcastDimensions();
          if (!llvm::is_contained(dims, 0))
            return bool(each.getOperand().getDefiningOp<ConstantOp>());
          return dims.front() == 0 && hasRows(each.getOperand());
        })
        .Default([](Operation *) { return false; });
  }

  /// The sizes of \p type with the indices' dimensions in place of the first.
  nn::Sizes sizesOfRows(RankedTensorType type) {
    nn::Sizes sizes = batch;
    llvm::append_range(sizes, type.getShape().drop_front());
    return sizes;
  }
  RankedTensorType typeOfRows(RankedTensorType type) {
    return type.clone(sizesOfRows(type).shape());
  }

  /// The gathered rows of \p value, for which hasRows() holds.
  Value rowsOf(Value value) {
    Value &rows = known[value];
    if (rows)
      return rows;
    Operation *made = value.getDefiningOp();
    const auto type = typeOfRows(tensorOf(value));
    Value result =
        llvm::TypeSwitch<Operation *, Value>(made)
            .Case([&](ConstantOp each) { return rowsOfConstant(each); })
            .Case([&](ReshapeOp each) {
              return emit.reshape(rowsOf(each.getOperand()),
                                  sizesOfRows(tensorOf(each.getResult())));
            })
            .Case([&](BroadcastInDimOp each) { return rowsOfRepeated(each); })
            .Default([&](Operation *each) {
              SmallVector<Value> operands;
              for (Value operand : each->getOperands())
                operands.push_back(rowsOf(operand));
              Operation *copy = builder.clone(*each);
              copy->removeDiscardableAttr(traceAttribute);
              copy->setOperands(operands);
              copy->getResult(0).setType(type);
              return copy->getResult(0);
            });
    return known[value] = result;
  }

  Value rowsOfConstant(ConstantOp constant) {
    const nn::Sizes sizes = sizesOfRows(tensorOf(constant.getResult()));
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue())) {
      auto type = tensorOf(constant.getResult());
      if (sizes.areKnown())
        return emit.make<ConstantOp>(
            splat.resizeSplat(type.clone(sizes.shape())));
      Value scalar = emit.make<ConstantOp>(
          splat.resizeSplat(type.clone(ArrayRef<int64_t>())));
      return emit.broadcast(scalar, {}, sizes);
    }
    std::optional<Tensor> values = constantTensor(constant.getResult());
    const int64_t block = values ? repetition(*values) : 1;
    if (block == 1)
      return gatherRows(constant.getResult());
    // A scale per block, expanded to one per element.
    Value rows = gatherRows(
        makeConstant(builder, op.getLoc(), everyNth(*values, block)));
    nn::Sizes repeated = emit.sizes(rows);
    const auto rank = static_cast<int64_t>(repeated.size());
    repeated.push_back(block);
    return emit.reshape(
        emit.broadcast(rows, llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                       repeated),
        sizes);
  }

  Value gatherRows(Value constant) {
    auto whole = tensorOf(constant);
    auto type = typeOfRows(whole);
    auto numbers = op.getDimensionNumbers();
    SmallVector<int64_t> sizes(whole.getShape()), offsets;
    sizes.front() = 1;
    for (int64_t i = 1; i < whole.getRank(); ++i)
      offsets.push_back(int64_t(batch.size()) + i - 1);
    return emit.make<GatherOp>(
        type, constant, op.getStartIndices(),
        GatherDimensionNumbersAttr::get(
            op.getContext(), offsets, numbers.getCollapsedSliceDims(), {}, {},
            numbers.getStartIndexMap(), numbers.getIndexVectorDim()),
        sizes, op.getIndicesAreSorted());
  }

  Value rowsOfRepeated(BroadcastInDimOp op) {
    ArrayRef<int64_t> dims = op.getBroadcastDimensions();
    const bool isByRow = llvm::is_contained(dims, 0);
    const auto more = int64_t(batch.size()) - 1;
    SmallVector<int64_t> moved;
    if (isByRow)
      llvm::append_range(moved, llvm::seq<int64_t>(0, batch.size()));
    for (int64_t dim : dims.drop_front(isByRow))
      moved.push_back(dim + more);
    return emit.broadcast(isByRow ? rowsOf(op.getOperand()) : op.getOperand(),
                          moved, sizesOfRows(tensorOf(op.getResult())));
  }

  GatherOp op;
  OpBuilder builder;
  TensorBuilder emit;
  /// The sizes of the indices.
  nn::Sizes batch;
  unsigned seen = 0;
  llvm::DenseMap<Value, Value> known;
};

} // namespace

void lowBitTables(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(tableLabel))
    return;
  SmallVector<GatherOp> found;
  function.walk([&](GatherOp op) { found.push_back(op); });
  bool isChanged = false;
  for (GatherOp op : found) {
    Value rows = TableRows(op).run();
    if (!rows)
      continue;
    run.replace(tableLabel, op, rows);
    op.erase();
    run.graphIsWhole(tableLabel);
    isChanged = true;
  }
  // Constant folding would evaluate the old tables.
  if (isChanged)
    removeDeadCode(function);
}

} // namespace sinter::cpu
