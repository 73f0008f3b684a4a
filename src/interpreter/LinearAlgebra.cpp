//===- LinearAlgebra.cpp - cholesky, triangular_solve, fft ----------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Fourier.h"
#include "interpreter/Numbers.h"
#include "interpreter/Strided.h"

#include <cmath>

using namespace mlir;

namespace sinter::interpreter {

using Complex = std::complex<double>;

static double conjugate(double x) { return x; }
static Complex conjugate(Complex x) { return std::conj(x); }
static double realPart(double x) { return x; }
static double realPart(Complex x) { return x.real(); }

template <typename T>
static void load(const Tensor &tensor, int64_t begin, std::span<T> out) {
  if constexpr (std::is_same_v<T, Complex>)
    loadComplex(tensor, begin, out);
  else
    loadReals(tensor, begin, out);
}
template <typename T>
static void store(Tensor &tensor, int64_t begin, std::span<const T> values) {
  if constexpr (std::is_same_v<T, Complex>)
    storeComplex(tensor, begin, values);
  else
    storeReals(tensor, begin, values);
}

/// Calls `visit(T())` with the type in which elements of \p type are computed.
template <typename Visitor>
static void visitNumber(ElementType type, Visitor visit) {
  if (isComplex(type))
    visit(Complex());
  else
    visit(0.0);
}

//===----------------------------------------------------------------------===//
// cholesky
//===----------------------------------------------------------------------===//

/// Overwrites the lower triangle of \p a [n, n] by the factor, row by row
/// (Cholesky-Banachiewicz). A matrix that is not positive definite gives NaN.
template <typename T> static void factorize(std::vector<T> &a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      T sum = a[i * n + j];
      for (int64_t k = 0; k < j; ++k)
        sum -= a[i * n + k] * conjugate(a[j * n + k]);
      if (i == j)
        a[i * n + i] = std::sqrt(realPart(sum));
      else
        a[i * n + j] = sum / a[j * n + j];
    }
    for (int64_t j = i + 1; j < n; ++j)
      a[i * n + j] = T();
  }
}

/// The conjugate transpose of \p a [n, n].
template <typename T>
static std::vector<T> adjoint(const std::vector<T> &a, int64_t n) {
  std::vector<T> result(a.size());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      result[j * n + i] = conjugate(a[i * n + j]);
  return result;
}

static Result<Tensors> evaluateCholesky(const Call &call) {
  const Tensor &a = call[0];
  if (a.rank() < 2 || a.dim(a.rank() - 1) != a.dim(a.rank() - 2))
    return invalidModel("the operand is no stack of square matrices");
  const bool lower = call.as<stablehlo::CholeskyOp>().getLower();
  const int64_t n = a.dim(a.rank() - 1);
  return produce(a.type(), a.shape(), [&](Tensor &result) {
    visitNumber(a.type(), [&]<typename T>(T) {
      std::vector<T> matrix(n * n);
      for (int64_t at = 0; at < a.size(); at += n * n) {
        load<T>(a, at, matrix);
        // a = u^H u with u = l^H.
        if (!lower)
          matrix = adjoint(matrix, n);
        factorize(matrix, n);
        if (!lower)
          matrix = adjoint(matrix, n);
        store<T>(result, at, matrix);
      }
    });
  });
}

//===----------------------------------------------------------------------===//
// triangular_solve
//===----------------------------------------------------------------------===//

namespace {
/// A triangular system op(a) x = b of one matrix.
struct Triangle {
  int64_t n;
  /// Whether op(a), the matrix that is solved with, is lower.
  bool isLower, isUnit;
};
} // namespace

/// Solves for the vector \p x, given as the right-hand side, with elements
/// \p stride apart.
template <typename T>
static void substitute(const Triangle &triangle, const std::vector<T> &a, T *x,
                       int64_t stride) {
  const int64_t n = triangle.n;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = triangle.isLower ? step : n - 1 - step;
    T sum = x[i * stride];
    const int64_t first = triangle.isLower ? 0 : i + 1;
    const int64_t last = triangle.isLower ? i : n;
    for (int64_t k = first; k < last; ++k)
      sum -= a[i * n + k] * x[k * stride];
    x[i * stride] = triangle.isUnit ? sum : sum / a[i * n + i];
  }
}

static Result<Tensors> evaluateTriangularSolve(const Call &call) {
  auto op = call.as<stablehlo::TriangularSolveOp>();
  const Tensor &a = call[0], &b = call[1];
  const int64_t rank = a.rank();
  if (rank < 2 || b.rank() != rank || a.dim(rank - 1) != a.dim(rank - 2) ||
      b.dim(op.getLeftSide() ? rank - 2 : rank - 1) != a.dim(rank - 1))
    return invalidModel("the operands' shapes do not fit together");
  for (int64_t i = 0; i < rank - 2; ++i)
    if (a.dim(i) != b.dim(i))
      return invalidModel("the operands' batches differ");
  const bool isTransposed =
      op.getTransposeA() != stablehlo::Transpose::NO_TRANSPOSE;
  const bool isConjugated = op.getTransposeA() == stablehlo::Transpose::ADJOINT;
  // x op(a) = b is op(a)^T x^T = b^T.
  const bool isSolvedTransposed = isTransposed != !op.getLeftSide();
  const int64_t n = a.dim(rank - 1);
  const Triangle triangle{n, op.getLower() != isSolvedTransposed,
                          op.getUnitDiagonal()};
  const int64_t rows = b.dim(rank - 2), columns = b.dim(rank - 1);
  return produce(b.type(), b.shape(), [&](Tensor &result) {
    if (b.size() == 0)
      return;
    visitNumber(b.type(), [&]<typename T>(T) {
      std::vector<T> matrix(n * n), x(rows * columns);
      for (int64_t batch = 0; batch < b.size() / (rows * columns); ++batch) {
        load<T>(a, batch * n * n, matrix);
        load<T>(b, batch * rows * columns, x);
        if (isSolvedTransposed)
          matrix = adjoint(matrix, n);
        // The transposition has conjugated.
        if (isSolvedTransposed != isConjugated)
          for (T &element : matrix)
            element = conjugate(element);
        const int64_t systems = op.getLeftSide() ? columns : rows;
        for (int64_t s = 0; s < systems; ++s)
          substitute(triangle, matrix,
                     x.data() + (op.getLeftSide() ? s : s * columns),
                     op.getLeftSide() ? columns : 1);
        store<T>(result, batch * rows * columns, x);
      }
    });
  });
}

//===----------------------------------------------------------------------===//
// fft
//===----------------------------------------------------------------------===//

/// Transforms an array of \p shape along one dimension.
static void transformAlong(std::vector<Complex> &values, const Shape &shape,
                           int64_t dimension, bool inverse) {
  const AxisView view(shape, dimension);
  if (view.size <= 1)
    return;
  Fourier fourier(view.size, inverse);
  std::vector<Complex> line(view.size);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.inner; ++i) {
      Complex *at = values.data() + o * view.size * view.inner + i;
      for (int64_t k = 0; k < view.size; ++k)
        line[k] = at[k * view.inner];
      fourier.run(line);
      for (int64_t k = 0; k < view.size; ++k)
        at[k * view.inner] = line[k];
    }
}

/// The last dimension of \p values, of \p from elements, resized to \p to
/// elements: truncated, or extended so that the transform is real.
static std::vector<Complex>
withLastDimension(const std::vector<Complex> &values, int64_t from,
                  int64_t to) {
  const auto rows = static_cast<int64_t>(values.size()) / from;
  std::vector<Complex> result(rows * to);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t k = 0; k < to; ++k)
      result[row * to + k] = k < from ? values[row * from + k]
                                      : std::conj(values[row * from + to - k]);
  return result;
}

static Result<Tensors> evaluateFft(const Call &call) {
  using stablehlo::FftType;
  auto op = call.as<stablehlo::FftOp>();
  const FftType type = op.getFftType();
  ArrayRef<int64_t> lengths = op.getFftLength();
  const auto count = static_cast<int64_t>(lengths.size());
  const Tensor &operand = call[0];
  if (count == 0 || count > operand.rank())
    return invalidModel("fft_length has not one to rank(operand) elements");
  // The shape in which the transform is computed.
  Shape shape = operand.shape();
  const int64_t first = operand.rank() - count;
  for (int64_t i = 0; i < count; ++i) {
    const bool isHalf = type == FftType::IRFFT && i == count - 1;
    const int64_t size =
        isHalf && lengths[i] != 0 ? lengths[i] / 2 + 1 : lengths[i];
    if (lengths[i] < 0 || shape[first + i] != size)
      return invalidModel("fft_length does not match the operand's shape");
  }
  const int64_t length = lengths.back();
  Shape resultShape = shape;
  if (type == FftType::RFFT)
    resultShape.back() = length == 0 ? 0 : length / 2 + 1;
  if (type == FftType::IRFFT)
    resultShape.back() = length;
  const bool inverse = type == FftType::IFFT || type == FftType::IRFFT;
  if (Result<void> ok = checkSize(ElementType::C128, resultShape); !ok)
    return ok.takeError();
  return produce(call.resultElement(), resultShape, [&](Tensor &result) {
    if (result.size() == 0)
      return;
    std::vector<Complex> values(operand.size());
    loadComplex(operand, 0, values);
    for (int64_t i = 0; i < count - 1; ++i)
      transformAlong(values, shape, first + i, inverse);
    if (type == FftType::IRFFT) {
      values = withLastDimension(values, shape.back(), length);
      shape.back() = length;
    }
    transformAlong(values, shape, operand.rank() - 1, inverse);
    if (type == FftType::RFFT)
      values = withLastDimension(values, length, resultShape.back());
    if (inverse) {
      double total = 1;
      for (int64_t each : lengths)
        total *= static_cast<double>(each);
      for (Complex &value : values)
        value /= total;
    }
    if (isComplex(result.type()))
      return storeComplex(result, 0, values);
    std::vector<double> numbers;
    numbers.reserve(values.size());
    for (Complex value : values)
      numbers.push_back(value.real());
    storeReals(result, 0, numbers);
  });
}

void registerLinearAlgebra(Registry &registry) {
  registry.add<stablehlo::CholeskyOp>(evaluateCholesky);
  registry.add<stablehlo::TriangularSolveOp>(evaluateTriangularSolve);
  registry.add<stablehlo::FftOp>(evaluateFft);
}

} // namespace sinter::interpreter
