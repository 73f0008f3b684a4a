//===- WinogradArithmetic.cpp - transforms of Winograd convolution --------===//

#include "backend/cpu/kernels/conv/WinogradArithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime/ElementDispatch.h"

#include <array>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

std::optional<WinogradArithmetic>
WinogradArithmetic::of(const Arithmetic &given, const Target &target,
                       int64_t outputRows) {
  if (given == Arithmetic() || given.isOfBFloat16Groups())
    return WinogradArithmetic{given, Arithmetic(), outputRows};
  const bool isOfBytes =
      isByte(given.rhs) && given.accumulator == ElementType::I32;
  // int8 dot products of four per lane gain as much as the method saves; x86
  // has such instructions for pairs of 16 bits, too.
  const bool savesTime = target.hasPairSum ||
                         (target.hasLongPairSum && !target.hasSignedDotProduct);
  if (!isOfBytes || !savesTime)
    return std::nullopt;
  return WinogradArithmetic{given, Arithmetic::ofPairs(target), outputRows};
}

bool WinogradArithmetic::holdsSums(ElementType activations,
                                   const Tensor &weights) {
  // The range that is left after dividing 576 by 9.
  constexpr int64_t most = (int64_t(1) << 25) - 1;
  const bool isSigned = activations == ElementType::I8;
  const int64_t greatest = isSigned ? 127 : 255, least = isSigned ? 128 : 0;
  const int64_t outputs = weights.shape()[0],
                products = outputs ? weights.size() / outputs : 0;
  return dispatch(weights.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_integral_v<T>) {
      return false;
    } else {
      for (int64_t output = 0; output < outputs; ++output) {
        int64_t above = 0, below = 0;
        for (int64_t i = 0; i < products; ++i) {
          // A weight is an integer, not a character.
          // NOLINTNEXTLINE(bugprone-signed-char-misuse)
          const int64_t weight = weights.at<T>(output * products + i);
          above += std::max<int64_t>(weight, 0);
          below += std::max<int64_t>(-weight, 0);
        }
        if (above * greatest + below * least > most ||
            below * greatest + above * least > most)
          return false;
      }
      return true;
    }
  });
}

SmallVector<Value>
WinogradArithmetic::transformInputs(VectorBuilder &code,
                                    ArrayRef<Value> d) const {
  if (d.size() == 4)
    return {code.subVectors(d[0], d[2]), code.addVectors(d[1], d[2]),
            code.subVectors(d[2], d[1]), code.subVectors(d[1], d[3])};
  Value a = code.scaleAdd(d[2], -4, d[4]);
  Value b = code.scaleAdd(d[1], -4, d[3]);
  Value c = code.subVectors(d[4], d[2]);
  Value f = code.subVectors(d[3], d[1]);
  return {code.scaleAdd(d[0], 4, code.scaleAdd(d[2], -5, d[4])),
          code.addVectors(a, b),
          code.subVectors(a, b),
          code.scaleAdd(f, 2, c),
          code.scaleAdd(f, -2, c),
          code.scaleAdd(d[1], 4, code.scaleAdd(d[3], -5, d[5]))};
}

SmallVector<Value>
WinogradArithmetic::transformProducts(VectorBuilder &code,
                                      ArrayRef<Value> m) const {
  Value s = code.addVectors(m[1], m[2]);
  Value d = code.subVectors(m[1], m[2]);
  if (m.size() == 4)
    return isOfFloats() ? SmallVector<Value>{code.addVectors(m[0], s),
                                             code.subVectors(d, m[3])}
                        : SmallVector<Value>{code.scaleAdd(m[0], 2, s),
                                             code.scaleAdd(m[3], -2, d)};
  Value p = code.addVectors(m[3], m[4]);
  Value q = code.subVectors(m[3], m[4]);
  if (!isOfFloats())
    return {code.scaleAdd(m[0], 6, code.scaleAdd(s, 4, p)),
            code.scaleAdd(d, 2, q), code.addVectors(s, p),
            code.scaleAdd(m[5], 6, code.scaleAdd(q, 2, d))};
  return {code.addVectors(m[0], code.addVectors(s, p)), code.scaleAdd(q, 2, d),
          code.scaleAdd(p, 4, s),
          code.addVectors(m[5], code.scaleAdd(q, 8, d))};
}

/// The operations along columns of a tile, and along rows.
static int64_t operations(const WinogradArithmetic &of, int64_t rows,
                          int64_t ofFour, int64_t ofSix) {
  return WinogradArithmetic::inputColumns *
             (of.outputRows == 4 ? ofSix : ofFour) +
         rows * ofSix;
}
int64_t WinogradArithmetic::inputOperations() const {
  return operations(*this, inputRows(), 4, 14);
}
int64_t WinogradArithmetic::outputOperations() const {
  return operations(*this, outputRows, 4, 12);
}

Value WinogradArithmetic::unscaled(VectorBuilder &code, Value scaled,
                                   int64_t row, int64_t column) const {
  if (isOfFloats())
    return scaled;
  // 24, 12, 6 and 6 are 3 times these powers of two; with two rows there is no
  // 3.
  constexpr int64_t powers[] = {3, 2, 1, 1};
  constexpr uint32_t inverseOfThree = 2863311531,
                     inverseOfNine = inverseOfThree * inverseOfThree;
  static_assert(inverseOfThree * uint32_t(3) == 1);
  const bool areFour = outputRows == 4;
  const int64_t ofRow = areFour ? powers[row] : 1;
  OpBuilder &b = code.builder;
  auto constant = [&](uint32_t number) -> Value {
    return b.create<arith::ConstantOp>(
        code.loc, DenseElementsAttr::get(cast<ShapedType>(scaled.getType()),
                                         b.getI32IntegerAttr(int32_t(number))));
  };
  Value product = b.create<arith::MulIOp>(
      code.loc, scaled, constant(areFour ? inverseOfNine : inverseOfThree));
  return b.create<arith::ShRSIOp>(code.loc, product,
                                  constant(uint32_t(ofRow + powers[column])));
}

namespace {
/// A row of G, times its denominator.
struct WeightRow {
  std::array<double, 3> numbers;
  double denominator;
};
} // namespace

static constexpr WeightRow ofFourOutputs[] = {
    {{1, 0, 0}, 4},  {{-1, -1, -1}, 6}, {{-1, 1, -1}, 6},
    {{1, 2, 4}, 24}, {{1, -2, 4}, 24},  {{0, 0, 1}, 1}};
static constexpr WeightRow ofTwoOutputs[] = {
    {{1, 0, 0}, 1}, {{1, 1, 1}, 2}, {{1, -1, 1}, 2}, {{0, 0, 1}, 1}};

void WinogradArithmetic::transformWeights(const double *taps, int64_t count,
                                          double *result) const {
  auto matrix = [&](ArrayRef<WeightRow> rows) {
    SmallVector<std::array<double, 3>> g;
    for (const WeightRow &row : rows) {
      g.push_back(row.numbers);
      for (double &number : g.back())
        number /= isOfFloats() ? row.denominator : 1;
    }
    return g;
  };
  const auto along = matrix(ofFourOutputs),
             down = outputRows == 4 ? along : matrix(ofTwoOutputs);
  for (const auto &row : down) {
    for (int64_t n = 0; n < count; ++n) {
      double half[3]; // A row of G g.
      for (int64_t j = 0; j < 3; ++j)
        half[j] = row[0] * taps[j * count + n] +
                  row[1] * taps[(3 + j) * count + n] +
                  row[2] * taps[(6 + j) * count + n];
      for (int64_t j = 0; j < inputColumns; ++j) {
        const auto &g = along[size_t(j)];
        result[j * count + n] =
            half[0] * g[0] + half[1] * g[1] + half[2] * g[2];
      }
    }
    result += inputColumns * count;
  }
}
