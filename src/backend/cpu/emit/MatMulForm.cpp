#include "backend/cpu/emit/MatMulForm.h"

#include "backend/cpu/cost/GraphShapes.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// One operand, its dimensions sorted by what they are for.
struct Side {
  ArrayRef<Dim> shape;
  SmallVector<Dim> strides;
  ArrayRef<int64_t> batching, contracting;
  SmallVector<int64_t> free;

  explicit Side(const stablehlo::ProductSide &side)
      : shape(dimsOf(side.value)), strides(shape.size(), Dim(1)),
        batching(side.batching), contracting(side.contracting),
        free(side.free()) {
    for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
      strides[i] = strides[i + 1] * shape[i + 1];
  }

  /// Size and stride of \p dims, which are static, taken as one dimension, the
  /// last one fastest.
  std::optional<std::pair<int64_t, int64_t>>
  collapse(ArrayRef<int64_t> dims) const {
    int64_t size = 1, stride = 1;
    for (int64_t dim : llvm::reverse(dims)) {
      if (shape[dim] == 1)
        continue;
      const std::optional<int64_t> apart = strides[dim].number();
      if (!apart || (size != 1 && *apart != stride * size))
        return std::nullopt;
      if (size == 1)
        stride = *apart;
      size *= shape[dim].value();
    }
    return std::pair(size, stride);
  }
};

} // namespace

/// Whether the rows of B that a task reads lie so far apart that each reading
/// of them meets other pages and the same few lines of the cache, and are read
/// often enough to pay for a copy.
static bool readsBetterTogether(const MatMulShape &shape) {
  constexpr int64_t leastRows = 24, leastDepth = 16, leastStride = 256;
  return shape.m >= leastRows && shape.k >= leastDepth &&
         shape.bStride >= leastStride;
}

/// Where sizes are not known, the product of a matrix whose rows come first, by
/// one of known sizes.
static std::optional<MatMulForm> ofDynamicRows(const Side &lhs, const Side &rhs,
                                               bool hasConstantRhs) {
  const size_t free = lhs.free.size();
  auto isInOrder = [](ArrayRef<int64_t> dims, size_t first) {
    return llvm::equal(dims, llvm::seq<int64_t>(first, first + dims.size()));
  };
  if (!isStaticShape(rhs.shape) || !lhs.batching.empty() ||
      !isInOrder(lhs.free, 0) || !isInOrder(lhs.contracting, free) ||
      !isStaticShape(lhs.shape.drop_front(free)))
    return std::nullopt;
  auto columns = rhs.collapse(rhs.free), depth = rhs.collapse(rhs.contracting);
  if (!columns || !depth || columns->first < 1 || depth->first < 1)
    return std::nullopt;
  MatMulForm form;
  MatMulShape &shape = form.shape;
  shape.dynamicRows = lhs.shape.take_front(free).vec();
  shape.m = unknownSizeEstimate;
  shape.n = columns->first;
  shape.k = depth->first;
  shape.aRowStride = shape.k;
  shape.cRowStride = shape.n;
  if (hasConstantRhs) {
    shape.bLayout = MatMulShape::BLayout::Packed;
    form.packedKStride = depth->second;
    form.packedNStride = columns->second;
    return form;
  }
  const bool isByRows = columns->second == 1 || shape.n == 1;
  shape.bLayout =
      isByRows ? MatMulShape::BLayout::Rows : MatMulShape::BLayout::Transposed;
  shape.bStride = isByRows ? depth->second : columns->second;
  if (!isByRows && depth->second != 1)
    return std::nullopt;
  return form;
}

std::optional<MatMulForm> MatMulForm::of(const stablehlo::ProductSide &left,
                                         const stablehlo::ProductSide &right,
                                         bool hasConstantRhs) {
  Side lhs(left), rhs(right);
  if (!isStaticShape(lhs.shape) || !isStaticShape(rhs.shape))
    return ofDynamicRows(lhs, rhs, hasConstantRhs);
  auto rows = lhs.collapse(lhs.free), columns = rhs.collapse(rhs.free);
  auto lhsDepth = lhs.collapse(lhs.contracting);
  auto rhsDepth = rhs.collapse(rhs.contracting);
  if (!rows || !columns || !lhsDepth || !rhsDepth)
    return std::nullopt;
  MatMulForm form;
  MatMulShape &shape = form.shape;
  shape.m = rows->first;
  shape.n = columns->first;
  shape.k = lhsDepth->first;
  if (shape.m < 1 || shape.n < 1 || shape.k < 1)
    return std::nullopt;
  shape.aRowStride = rows->second;
  shape.aColumnStride = lhsDepth->second;
  shape.cRowStride = shape.n;

  int64_t batchStride = shape.m * shape.n;
  SmallVector<MatMulShape::BatchDim> batch;
  for (auto [left, right] :
       llvm::reverse(llvm::zip_equal(lhs.batching, rhs.batching))) {
    const int64_t size = lhs.shape[left].value();
    if (size < 1)
      return std::nullopt;
    if (size > 1)
      batch.push_back({size, lhs.strides[left].value(),
                       rhs.strides[right].value(), batchStride});
    batchStride *= size;
  }
  shape.batch.assign(batch.rbegin(), batch.rend());

  if (hasConstantRhs && shape.batch.empty()) {
    shape.bLayout = MatMulShape::BLayout::Packed;
    form.packedKStride = rhsDepth->second;
    form.packedNStride = columns->second;
    return form;
  }
  if (columns->second == 1 || shape.n == 1) {
    shape.bStride = rhsDepth->second;
    shape.bLayout = readsBetterTogether(shape)
                        ? MatMulShape::BLayout::CopiedRows
                        : MatMulShape::BLayout::Rows;
    return form;
  }
  if (rhsDepth->second == 1) {
    shape.bLayout = MatMulShape::BLayout::Transposed;
    shape.bStride = columns->second;
    return form;
  }
  return std::nullopt;
}
