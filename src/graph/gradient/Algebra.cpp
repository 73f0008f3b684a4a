// Gradients of triangular solves and Cholesky factors.

#include "graph/gradient/Gradient.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// A batch of matrices, transposed.
static Value flipped(TensorBuilder &e, Value matrices) {
  SmallVector<int64_t> order = allDimensions(matrices);
  std::swap(order[order.size() - 2], order.back());
  return e.transpose(matrices, order);
}

/// A batch of matrices, conjugate-transposed.
static Value adjoint(TensorBuilder &e, Value matrices) {
  return conjugate(e, flipped(e, matrices));
}

/// The batched matmul of \p a and \p b.
static Value matrixProduct(TensorBuilder &e, Value a, Value b) {
  SmallVector<int64_t> shape(tensorOf(a).getShape());
  int64_t rank = static_cast<int64_t>(shape.size());
  shape.back() = tensorOf(b).getShape().back();
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  auto numbers = DotDimensionNumbersAttr::get(e.builder.getContext(), batch,
                                              batch, {rank - 1}, {rank - 2});
  return e.make<DotGeneralOp>(
      RankedTensorType::get(shape, tensorOf(a).getElementType()), a, b, numbers,
      ArrayAttr());
}

/// The lower (upper) triangle of square matrices, the diagonal times a factor.
static Value triangle(TensorBuilder &e, Value matrices, bool isLower,
                      double diagonal) {
  auto type = tensorOf(matrices);
  Value row = e.iota(type.getShape(), type.getRank() - 2, e.integerType(64));
  Value column = e.iota(type.getShape(), type.getRank() - 1, e.integerType(64));
  Value inside = e.compare(
      isLower ? ComparisonDirection::GT : ComparisonDirection::LT, row, column);
  Value rest = e.splat(0, type);
  if (diagonal != 0)
    rest = e.select(e.compare(ComparisonDirection::EQ, row, column),
                    e.mul(matrices, diagonal), rest);
  return e.select(inside, matrices, rest);
}

/// op(a) x = b: the gradient by b is s, the solution of op(a)^H s = dy; that by
/// op(a) is -s x^H; mirrored where a is on the right.
static Gradients solved(TriangularSolveOp op, TensorBuilder &e, ValueRange dy) {
  if (!hasGradient(op.getA()))
    return failure();
  const Transpose form = op.getTransposeA();
  // op(a)^H; (a^T)^H is a's conjugate.
  Value a = form == Transpose::TRANSPOSE ? conjugate(e, op.getA()) : op.getA();
  Value byB = e.make<TriangularSolveOp>(
      op.getB().getType(), a, dy[0], op.getLeftSideAttr(), op.getLowerAttr(),
      op.getUnitDiagonalAttr(),
      TransposeAttr::get(op.getContext(), form == Transpose::NO_TRANSPOSE
                                              ? Transpose::ADJOINT
                                              : Transpose::NO_TRANSPOSE));
  Value x = op.getResult();
  Value byA = op.getLeftSide() ? matrixProduct(e, byB, adjoint(e, x))
                               : matrixProduct(e, adjoint(e, x), byB);
  if (form == Transpose::TRANSPOSE)
    byA = flipped(e, byA);
  if (form == Transpose::ADJOINT)
    byA = adjoint(e, byA);
  return list(
      {triangle(e, e.neg(byA), op.getLower(), op.getUnitDiagonal() ? 0 : 1),
       byB});
}

/// Iain Murray, "Differentiation of the Cholesky decomposition" (2016): with p
/// the lower triangle of l^H dl, its diagonal halved, the gradient is l^-H p
/// l^-1 plus its adjoint, in the triangle of a that is read.
static Gradients factored(CholeskyOp op, TensorBuilder &e, ValueRange dy) {
  if (!hasGradient(op.getA()))
    return failure();
  bool isLower = op.getLower();
  Value l = isLower ? op.getResult() : adjoint(e, op.getResult());
  Value seed =
      triangle(e, isLower ? dy[0] : adjoint(e, dy[0]), /*isLower=*/true, 1);
  Value p = triangle(e, matrixProduct(e, adjoint(e, l), seed),
                     /*isLower=*/true, 0.5);
  auto solve = [&](Value b, bool isLeft, Transpose transpose) {
    return e.make<TriangularSolveOp>(
        b.getType(), l, b, e.builder.getBoolAttr(isLeft),
        e.builder.getBoolAttr(true), e.builder.getBoolAttr(false),
        TransposeAttr::get(op.getContext(), transpose));
  };
  Value g =
      solve(solve(p, true, Transpose::ADJOINT), false, Transpose::NO_TRANSPOSE);
  return list(
      {triangle(e, e.add(g, adjoint(e, g)), isLower, /*diagonal=*/0.5)});
}

void attachAlgebra(MLIRContext *context) {
  attach<TriangularSolveOp, solved>(context);
  attach<CholeskyOp, factored>(context);
}

} // namespace sinter::gradient
