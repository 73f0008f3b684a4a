//===- QuantizedForms.h - quantisation that is spelt out as arithmetic ----===//

#ifndef SINTER_PASSES_QUANTIZEDFORMS_H
#define SINTER_PASSES_QUANTIZEDFORMS_H

#include "graph/Quantization.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace sinter {

/// Constant numbers, one for a whole tensor or one an element of its dimension
/// `axis`.
struct Spread {
  llvm::SmallVector<double> numbers;
  int64_t axis = -1;

  /// What \p value repeats, seen through broadcasts, and reshapes and
  /// transposes of dimensions of size 1. Nothing for other values.
  static std::optional<Spread> of(mlir::Value value);
  static Spread zero() { return {{0}, -1}; }
  bool isScalar() const { return axis < 0; }
};

/// Scales and zero points in one; nothing where they lie along different
/// dimensions or a zero point is no integer.
std::optional<QuantizationParameters> together(const Spread &scales,
                                               const Spread &zeroPoints);

/// convert(clamp(round(number) + zero point)): a number that is rounded to an
/// integer of \p storage.
struct RoundedNumber {
  mlir::Value number;
  mlir::IntegerType storage;
  mlir::FloatType compute;
  Spread zeroPoints;

  static std::optional<RoundedNumber> match(mlir::Operation *convert);
};

/// (convert(elements) - zero point) * scale.
struct LinearNumber {
  mlir::Value elements;
  mlir::quant::QuantizedType type;

  static std::optional<LinearNumber> match(mlir::Operation *multiply);
};

/// convert<i32>(elements) - zero point.
struct CentredInteger {
  mlir::Value elements;
  Spread zeroPoints;

  static std::optional<CentredInteger> match(mlir::Value value);
};

/// The factor of a requantisation: lhs * rhs / result.
struct ScaleQuotient {
  double lhs, result;
  Spread rhs;

  static std::optional<ScaleQuotient> match(mlir::Value value);
};

/// Operations that go into the graph together, or not at all.
class PendingOperations {
public:
  explicit PendingOperations(mlir::MLIRContext *context) : builder(context) {
    builder.setInsertionPointToEnd(&block);
  }
  ~PendingOperations() { block.clear(); }
  /// Puts all that was made where \p to is.
  void insert(mlir::OpBuilder &to);

private:
  mlir::Block block;

public:
  mlir::OpBuilder builder;
};

/// \p elements as a tensor of \p type: what they are the storage of where that
/// is known, a constant of that type for a constant.
mlir::Value asQuantized(mlir::OpBuilder &builder, mlir::Value elements,
                        mlir::quant::QuantizedType type);

/// A copy of \p op with other operands, whose one result has elements of
/// \p element; null where that is no operation. Per axis, the axis goes where
/// \p op takes it.
mlir::Operation *copyWith(mlir::OpBuilder &builder, mlir::Operation *op,
                          const mlir::IRMapping &operands, mlir::Type element);

/// The constant \p value in storage elements of \p type, if they stand for just
/// its numbers; null else.
mlir::Value exactConstant(mlir::OpBuilder &builder, mlir::Value value,
                          mlir::quant::QuantizedType type);

/// \p numbers in \p type, rounded as ONNX does: StableHLO's operation where
/// that is the same.
mlir::Value emitQuantize(mlir::OpBuilder &builder, mlir::Location location,
                         mlir::Value numbers, mlir::quant::QuantizedType type);

/// The numbers of the quantised \p elements, in the type that they express.
mlir::Value emitDequantize(mlir::OpBuilder &builder, mlir::Location location,
                           mlir::Value elements);

/// What \p value is the number of; null for what is not dequantised.
mlir::Value dequantizedElements(mlir::Value value);

/// Whether a scale for all or one along a dimension fits the shape of \p type.
bool hasScalesFor(mlir::quant::QuantizedType element,
                  mlir::RankedTensorType type);

/// The numbers of the quantised \p value in elements of \p type, which has the
/// same scales and zero points that differ by one integer: a constant that
/// remembers what it was (storedAsAttribute), or a rescale. Null where they do
/// not fit, and for no type.
mlir::Value inType(mlir::OpBuilder &builder, mlir::Value value,
                   mlir::quant::QuantizedType type);

} // namespace sinter

#endif // SINTER_PASSES_QUANTIZEDFORMS_H
