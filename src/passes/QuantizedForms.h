//===- QuantizedForms.h - forms of quantisation arithmetic ----------------===//

#ifndef SINTER_PASSES_QUANTIZEDFORMS_H
#define SINTER_PASSES_QUANTIZEDFORMS_H

#include "graph/Quantization.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace sinter {

/// Constant values, one for a whole tensor or one for each index of its
/// dimension `axis`.
struct Spread {
  llvm::SmallVector<double> numbers;
  int64_t axis = -1;

  /// The constant that \p value broadcasts, seen through broadcasts, and
  /// reshapes and transposes of dimensions of size 1. Nothing for other values.
  static std::optional<Spread> of(mlir::Value value);
  static Spread zero() { return {{0}, -1}; }
  bool isScalar() const { return axis < 0; }
};

/// Scales and zero points combined; nothing where they lie along different
/// dimensions or a zero point is not an integer.
std::optional<QuantizationParameters> together(const Spread &scales,
                                               const Spread &zeroPoints);

/// convert(clamp(round(number) + zero point)): a value rounded to an integer of
/// type `storage`.
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

/// Operations that are inserted into the graph together, or not at all.
class PendingOperations {
public:
  explicit PendingOperations(mlir::MLIRContext *context) : builder(context) {
    builder.setInsertionPointToEnd(&block);
  }
  ~PendingOperations() { block.clear(); }
  /// Inserts all operations at the position of \p to.
  void insert(mlir::OpBuilder &to);

private:
  mlir::Block block;

public:
  mlir::OpBuilder builder;
};

/// \p elements as a tensor of \p type: the quantised value that they are the
/// storage of, if known; a constant of that type for a constant.
mlir::Value asQuantized(mlir::OpBuilder &builder, mlir::Value elements,
                        mlir::quant::QuantizedType type);

/// A copy of \p op with other operands, whose one result has elements of
/// \p element; null where that is not a valid operation. The axis of a per-axis
/// type moves with \p op.
mlir::Operation *copyWith(mlir::OpBuilder &builder, mlir::Operation *op,
                          const mlir::IRMapping &operands, mlir::Type element);

/// The constant \p value in storage elements of \p type, if they represent it
/// exactly; null else.
mlir::Value exactConstant(mlir::OpBuilder &builder, mlir::Value value,
                          mlir::quant::QuantizedType type);

/// Quantises \p numbers to \p type, rounding as ONNX does; by StableHLO's
/// operation where that is the same.
mlir::Value emitQuantize(mlir::OpBuilder &builder, mlir::Location location,
                         mlir::Value numbers, mlir::quant::QuantizedType type);

/// Dequantises \p elements, to their expressed type.
mlir::Value emitDequantize(mlir::OpBuilder &builder, mlir::Location location,
                           mlir::Value elements);

/// The quantised operand that \p value dequantises; null for other values.
mlir::Value dequantizedElements(mlir::Value value);

/// Whether the per-tensor or per-axis scales of \p element fit the shape of
/// \p type.
bool hasScalesFor(mlir::quant::QuantizedType element,
                  mlir::RankedTensorType type);

/// The quantised \p value in \p type, which has the same scales and zero points
/// that differ by one integer: a constant with a storedAsAttribute, or a
/// rescale. Null where the elements do not fit, and for a null type.
mlir::Value inType(mlir::OpBuilder &builder, mlir::Value value,
                   mlir::quant::QuantizedType type);

} // namespace sinter

#endif // SINTER_PASSES_QUANTIZEDFORMS_H
