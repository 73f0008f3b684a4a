//===- Quantization.h - what storage elements mean ------------------------===//
//
//   real number = scale * (storage element - zero point)
//
// The one place that says so: the parameters of quantised types, the two orders
// in which a real number is rounded to a storage element, and the arithmetic,
// by numbers and as operations.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_QUANTIZATION_H
#define SINTER_GRAPH_QUANTIZATION_H

#include "graph/IntegerRange.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "runtime/Tensor.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The element type of a tensor, if it is quantised; null else.
mlir::quant::QuantizedType quantizedOf(mlir::Type type);

/// Whether an operand or a result of \p op is quantised.
bool hasQuantizedType(mlir::Operation *op);

/// The integer that stores an element: signless for signed ones, as StableHLO
/// has them.
mlir::IntegerType storageOf(mlir::quant::QuantizedType type);
/// The tensor type of the storage elements of \p type, whose elements are
/// quantised.
mlir::RankedTensorType storageOf(mlir::RankedTensorType type);

/// From the least to the greatest number.
struct IntegerBounds {
  int64_t least = 0, greatest = 0;
  bool operator==(const IntegerBounds &) const = default;
  bool contains(int64_t number) const {
    return least <= number && number <= greatest;
  }
};

/// Of all numbers of \p type, of at most 32 bits.
IntegerBounds boundsOf(mlir::IntegerType type);
/// Of the storage elements that \p type allows.
IntegerBounds boundsOf(mlir::quant::QuantizedType type);

/// Scales and zero points: one of each, or one an element of dimension `axis`.
struct QuantizationParameters {
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  int64_t axis = -1;

  bool operator==(const QuantizationParameters &) const = default;
  bool isSymmetric() const;
};

/// Those that \p type says; nothing for what is neither quantised per tensor
/// nor per axis.
std::optional<QuantizationParameters>
parametersOf(mlir::quant::QuantizedType type);
/// The same with scales rounded to the expressed type, in which is computed.
std::optional<QuantizationParameters>
roundedParametersOf(mlir::quant::QuantizedType type);

/// The type that stores in all of \p storage, or in the elements of it between
/// \p bounds, what \p parameters say of numbers of \p expressed. Null where
/// StableHLO has no such type.
mlir::quant::QuantizedType
quantizedElement(mlir::IntegerType storage, mlir::FloatType expressed,
                 const QuantizationParameters &parameters,
                 std::optional<IntegerBounds> bounds = std::nullopt);

/// Whether all quantised operands of \p op, of one result, have the scales and
/// zero points of the result, as \p parameters gives them.
bool keepsParameters(mlir::Operation *op,
                     llvm::function_ref<std::optional<QuantizationParameters>(
                         mlir::quant::QuantizedType)>
                         parameters);

/// Whether \p op does to storage elements what it does to the numbers that they
/// stand for, if those mean the same in all of its tensors: it only moves
/// elements, or hands whole tensors on, or its regions say what becomes of
/// them.
bool takesStorage(mlir::Operation *op);

/// Whether quantising the number that an element stands for gives the element,
/// for each of \p type: a number and its quotient are rounded, which together
/// must stay below a half.
bool survives(mlir::quant::QuantizedType type);

/// The distances of storage elements from their zero points.
IntegerRange centredRange(mlir::quant::QuantizedType type);

/// \p type with storage elements of \p storage: by as much greater as its zero
/// points become. Null where they do not fit.
mlir::quant::QuantizedType withStorage(mlir::quant::QuantizedType type,
                                       mlir::IntegerType storage);
/// \p type with storage elements of \p storage, greater by \p shift, and no
/// others than \p type has. Null where they do not fit.
mlir::quant::QuantizedType movedBy(mlir::quant::QuantizedType type,
                                   mlir::IntegerType storage, int64_t shift);
/// By how much the elements of \p to are greater than those of \p from that
/// stand for the same numbers; nothing where there is no such integer.
std::optional<int64_t> shiftBetween(mlir::quant::QuantizedType from,
                                    mlir::quant::QuantizedType to);
/// What \p value is the same numbers as in another storage type, by a rescale
/// that changes nothing else; \p value itself for anything else.
mlir::Value beforeShift(mlir::Value value);

/// The discardable attribute of a quantised constant with the element type that
/// it had before it was moved to the storage type of what it is multiplied by.
inline constexpr llvm::StringLiteral storedAsAttribute =
    "sinter.source.stored_as";
/// What that attribute of \p value says. Null where there is none, or where it
/// is not the type of the same numbers: a text may have anything under this
/// name.
mlir::quant::QuantizedType storedAs(mlir::Value value);
/// The least and the greatest of \p elements, integers; 0 and 0 of none.
IntegerBounds boundsOfElements(const Tensor &elements);
/// The integers of \p elements with \p shift added, as elements of
/// \p storage, which has them.
Tensor shifted(const Tensor &elements, mlir::IntegerType storage,
               int64_t shift);

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// When a quotient is rounded, ties to even. The two differ by one where the
/// quotient lies in the middle and the zero point is odd, or where adding the
/// zero point rounds the quotient to a middle.
enum class QuantizedRounding {
  /// round(clamp(x / scale + zero point)): StableHLO's `quantize`.
  AfterZeroPoint,
  /// clamp(round(x / scale) + zero point): ONNX's QuantizeLinear.
  BeforeZeroPoint
};

/// The storage element of \p x, every step rounded to \p compute; NaN is 0.
int64_t quantizedNumber(double x, double scale, int64_t zeroPoint,
                        IntegerBounds bounds, mlir::FloatType compute,
                        QuantizedRounding rounding);

/// The number that \p element stands for, rounded to \p expressed once.
double dequantizedNumber(int64_t element, double scale, int64_t zeroPoint,
                         mlir::FloatType expressed);

namespace nn {
class TensorBuilder;
} // namespace nn

/// The storage elements of \p type nearest to \p quotients, numbers that are
/// divided by its scales, every step in the type of these.
mlir::Value emitRounded(nn::TensorBuilder &emit, mlir::Value quotients,
                        mlir::quant::QuantizedType type,
                        QuantizedRounding rounding);

/// The storage elements of \p type nearest to \p reals, every step in the type
/// of these.
mlir::Value emitQuantized(nn::TensorBuilder &emit, mlir::Value reals,
                          mlir::quant::QuantizedType type,
                          QuantizedRounding rounding);

/// (\p storage - zero point) * scale, every step in \p compute.
mlir::Value emitDequantized(nn::TensorBuilder &emit, mlir::Value storage,
                            mlir::quant::QuantizedType type,
                            mlir::Type compute);

/// \p value without the zero points of \p parameters, in its own type.
mlir::Value emitCentred(nn::TensorBuilder &emit, mlir::Value value,
                        const QuantizationParameters &parameters);

/// \p numbers, one or one an element of dimension \p axis, in the shape and
/// type of \p like.
mlir::Value emitSpread(nn::TensorBuilder &emit, llvm::ArrayRef<double> numbers,
                       int64_t axis, mlir::Value like);

} // namespace sinter

#endif // SINTER_GRAPH_QUANTIZATION_H
