// Gradients by complex values: the gradient of a real scalar by z = x + iy is
// that by x plus i times that by y. A function with the derivative f' has the
// gradient dy conj(f').

#include "graph/gradient/Gradient.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

bool isComplex(Value value) {
  return isa<ComplexType>(tensorOf(value).getElementType());
}

Value conjugate(TensorBuilder &e, Value value) {
  if (!isComplex(value))
    return value;
  return e.make<ComplexOp>(e.make<RealOp>(value), e.neg(e.make<ImagOp>(value)));
}

/// Fourier transforms are linear, and their matrices symmetric: complex ones
/// have the gradient conj(F conj(dy)).
static Gradients transformed(FftOp op, TensorBuilder &e, ValueRange dy) {
  Value x = op.getOperand();
  auto transform = [&](Value value, FftType type, RankedTensorType result) {
    return e.make<FftOp>(result, value, FftTypeAttr::get(op.getContext(), type),
                         op.getFftLengthAttr());
  };
  ArrayRef<int64_t> length = op.getFftLength();
  if (llvm::is_contained(tensorOf(x).getShape(), 0))
    return list({Value()});
  auto type = tensorOf(dy[0]);
  int64_t last = type.getRank() - 1;
  switch (op.getFftType()) {
  case FftType::FFT:
  case FftType::IFFT:
    return list(
        {conjugate(e, transform(conjugate(e, dy[0]), op.getFftType(), type))});
  case FftType::RFFT: {
    // The frequencies that are left out have no gradient.
    SmallVector<int64_t> shape(tensorOf(x).getShape()), none(shape.size(), 0),
        high(shape.size(), 0);
    high[last] = shape[last] - type.getDimSize(last);
    Value zero = e.scalar(0, type.getElementType());
    Value whole = e.make<PadOp>(conjugate(e, dy[0]), zero, none, high, none);
    return list({e.make<RealOp>(
        transform(whole, FftType::FFT,
                  RankedTensorType::get(shape, type.getElementType())))});
  }
  case FftType::IRFFT: {
    // A frequency whose mirrored one is left out counts twice.
    Value gradient = transform(dy[0], FftType::RFFT, tensorOf(x));
    double count = 1;
    for (int64_t each : length)
      count *= static_cast<double>(each);
    SmallVector<double> factors;
    int64_t frequencies = tensorOf(x).getDimSize(last);
    for (int64_t i = 0; i < frequencies; ++i)
      factors.push_back((i == 0 || 2 * i == length.back() ? 1 : 2) / count);
    Value row = e.floats(factors, type.getElementType());
    Value zero = e.splat(0, tensorOf(row));
    row = e.broadcast(e.make<ComplexOp>(row, zero), {last},
                      tensorOf(x).getShape());
    return list({e.mul(gradient, row)});
  }
  }
  return failure();
}

void attachComplex(MLIRContext *context) {
  attach<ComplexOp, [](ComplexOp, TensorBuilder &e, ValueRange dy) {
    return list({e.make<RealOp>(dy[0]), e.make<ImagOp>(dy[0])});
  }>(context);
  attach<RealOp, [](RealOp op, TensorBuilder &e, ValueRange dy) {
    if (!isComplex(op.getOperand()))
      return list({dy[0]});
    return list({e.make<ComplexOp>(dy[0], e.splat(0, tensorOf(dy[0])))});
  }>(context);
  attach<ImagOp, [](ImagOp op, TensorBuilder &e, ValueRange dy) {
    if (!isComplex(op.getOperand()))
      return list({Value()});
    return list({e.make<ComplexOp>(e.splat(0, tensorOf(dy[0])), dy[0])});
  }>(context);
  attach<FftOp, transformed>(context);
}

} // namespace sinter::gradient
