//===- SplitConcatenates.cpp - split wide concatenates --------------------===//

#include "backend/cpu/legalize/SplitConcatenates.h"

#include "graph/Constants.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using sinter::nn::TensorBuilder;
using sinter::stablehlo::ConcatenateOp;
using sinter::stablehlo::SliceOp;

static constexpr llvm::StringLiteral takePiecesLabel = "take-pieces",
                                     splitConcatenateLabel =
                                         "split-concatenate",
                                     splitPass = "cpu-split-concatenates";

/// The most operands that one kernel concatenates.
static constexpr size_t mostPieces = 64;

ArrayRef<PatternInfo> cpu::splitConcatenatesPatterns() {
  static const PatternInfo infos[] = {
      {takePiecesLabel,
       "concatenate(x[3:4], x[0:1], ...) -> take(x, [3, 0, ...])", splitPass},
      {splitConcatenateLabel,
       "concatenate(a, b, c, d, ...) -> concatenate(concatenate(a, b, ...), "
       "concatenate(c, d, ...), ...)",
       splitPass}};
  return infos;
}

/// Whether \p slice only slices along \p dim.
static bool slicesOnly(SliceOp slice, int64_t dim) {
  ArrayRef<int64_t> all = tensorOf(slice.getOperand()).getShape(),
                    taken = tensorOf(slice.getResult()).getShape();
  for (int64_t i = 0; i < int64_t(all.size()); ++i)
    if (i != dim && all[i] != taken[i])
      return false;
  return true;
}

/// The indices of the slices of one tensor that \p op concatenates, in order;
/// empty if there is no such tensor, or slices are long.
static std::vector<int64_t> takenIndices(ConcatenateOp op) {
  constexpr int64_t mostOnAverage = 16;
  const auto dim = static_cast<int64_t>(op.getDimension());
  if (!tensorOf(op.getResult()).hasStaticShape())
    return {};
  const int64_t count = tensorOf(op.getResult()).getDimSize(dim);
  if (count > mostOnAverage * int64_t(op.getInputs().size()))
    return {};
  auto first = op.getInputs().front().getDefiningOp<SliceOp>();
  std::vector<int64_t> places;
  places.reserve(count);
  for (Value input : op.getInputs()) {
    auto slice = input.getDefiningOp<SliceOp>();
    if (!slice || slice.getOperand() != first.getOperand() ||
        !slicesOnly(slice, dim))
      return {};
    const int64_t start = slice.getStartIndices()[dim],
                  stride = slice.getStrides()[dim],
                  size = tensorOf(input).getDimSize(dim);
    for (int64_t i = 0; i < size; ++i)
      places.push_back(start + i * stride);
  }
  return places;
}

static Value taken(ConcatenateOp op, ArrayRef<int64_t> places) {
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  Tensor numbers(ElementType::I64, {int64_t(places.size())});
  std::memcpy(numbers.mutableBytes(), places.data(), numbers.bytes());
  Value source = op.getInputs().front().getDefiningOp<SliceOp>().getOperand();
  return emit.take(source, makeConstant(builder, op.getLoc(), numbers),
                   static_cast<int64_t>(op.getDimension()));
}

/// Splits \p op into as many stages as necessary.
static Value concatenated(ConcatenateOp op) {
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  const auto dim = static_cast<int64_t>(op.getDimension());
  SmallVector<Value> pieces(op.getInputs());
  while (pieces.size() > mostPieces) {
    SmallVector<Value> fewer;
    for (ArrayRef<Value> rest = pieces; !rest.empty();) {
      ArrayRef<Value> next = rest.take_front(mostPieces);
      rest = rest.drop_front(next.size());
      fewer.push_back(next.size() == 1 ? next.front()
                                       : emit.concatenate(next, dim));
    }
    pieces = std::move(fewer);
  }
  return emit.concatenate(pieces, dim);
}

void cpu::splitConcatenates(func::FuncOp function, PatternRun &run) {
  SmallVector<ConcatenateOp> found;
  function.walk([&](ConcatenateOp op) {
    if (op.getInputs().size() > mostPieces)
      found.push_back(op);
  });
  for (ConcatenateOp op : found) {
    std::vector<int64_t> places = run.isEnabled(takePiecesLabel)
                                      ? takenIndices(op)
                                      : std::vector<int64_t>();
    if (!places.empty())
      run.replace(takePiecesLabel, op, taken(op, places));
    else if (run.isEnabled(splitConcatenateLabel))
      run.replace(splitConcatenateLabel, op, concatenated(op));
  }
}
