//===- Quantization.h - quantised types and their arithmetic --------------===//
//
//   real number = scale * (storage element - zero point)
//
// The parameters of quantised types, the two orders in which a real number is
// rounded to a storage element, and the arithmetic, on host values and as
// emitted operations.
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

/// The element type of a tensor, if it is quantised; else null.
mlir::quant::QuantizedType quantizedOf(mlir::Type type);

/// Whether an operand or a result of \p op is quantised.
bool hasQuantizedType(mlir::Operation *op);

/// The integer type that stores an element: signless for signed ones, as in
/// StableHLO.
mlir::IntegerType storageOf(mlir::quant::QuantizedType type);
/// The tensor type of the storage elements of \p type, whose elements are
/// quantised.
mlir::RankedTensorType storageOf(mlir::RankedTensorType type);

/// An inclusive range of integers.
struct IntegerBounds {
  int64_t least = 0, greatest = 0;
  bool operator==(const IntegerBounds &) const = default;
  bool contains(int64_t number) const {
    return least <= number && number <= greatest;
  }
};

/// The range of \p type, of at most 32 bits.
IntegerBounds boundsOf(mlir::IntegerType type);
/// The range of the storage elements that \p type allows.
IntegerBounds boundsOf(mlir::quant::QuantizedType type);

/// Scales and zero points: one of each, or one per element of dimension `axis`.
struct QuantizationParameters {
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  int64_t axis = -1;

  bool operator==(const QuantizationParameters &) const = default;
  bool isSymmetric() const;
};

/// The parameters of \p type; nothing if it is quantised neither per tensor nor
/// per axis.
std::optional<QuantizationParameters>
parametersOf(mlir::quant::QuantizedType type);
/// The same with scales rounded to the expressed type, which arithmetic uses.
std::optional<QuantizationParameters>
roundedParametersOf(mlir::quant::QuantizedType type);

/// The quantised type with these parameters that stores values of \p expressed
/// in \p storage, or in its elements within \p bounds. Null where StableHLO has
/// no such type.
mlir::quant::QuantizedType
quantizedElement(mlir::IntegerType storage, mlir::FloatType expressed,
                 const QuantizationParameters &parameters,
                 std::optional<IntegerBounds> bounds = std::nullopt);

/// Whether all quantised operands of \p op, which has one result, have the
/// scales and zero points of the result, according to \p parameters.
bool keepsParameters(mlir::Operation *op,
                     llvm::function_ref<std::optional<QuantizationParameters>(
                         mlir::quant::QuantizedType)>
                         parameters);

/// Whether \p op can work on storage elements in place of the real values, if
/// all its tensors have the same parameters: it only moves elements, passes
/// whole tensors on, or leaves the arithmetic to its regions.
bool takesStorage(mlir::Operation *op);

/// Whether dequantising and quantising again gives the same element, for each
/// element of \p type: the rounding errors of the value and of its quotient
/// must together stay below a half.
bool survives(mlir::quant::QuantizedType type);

/// The range of storage elements minus their zero points.
IntegerRange centredRange(mlir::quant::QuantizedType type);

/// \p type with storage type \p storage: storage elements and zero points shift
/// by the same amount. Null where they do not fit.
mlir::quant::QuantizedType withStorage(mlir::quant::QuantizedType type,
                                       mlir::IntegerType storage);
/// \p type with storage type \p storage, its elements and zero points increased
/// by \p shift and its range kept. Null where they do not fit.
mlir::quant::QuantizedType movedBy(mlir::quant::QuantizedType type,
                                   mlir::IntegerType storage, int64_t shift);
/// The shift such that element x of \p from and element x + shift of \p to have
/// the same real value; nothing where there is none.
std::optional<int64_t> shiftBetween(mlir::quant::QuantizedType from,
                                    mlir::quant::QuantizedType to);
/// The operand of the rescale that gives \p value, if the rescale only changes
/// the storage type and shifts elements; else \p value itself.
mlir::Value beforeShift(mlir::Value value);

/// A discardable attribute of a quantised constant: the element type that it
/// had before it was shifted to the storage type of the other operand of its
/// product.
inline constexpr llvm::StringLiteral storedAsAttribute =
    "sinter.source.stored_as";
/// The type in that attribute of \p value. Null where there is none, or where
/// it does not describe the same real values: IR text may have anything under
/// this name.
mlir::quant::QuantizedType storedAs(mlir::Value value);
/// The minimum and maximum of \p elements, integers; 0 and 0 if there are none.
IntegerBounds boundsOfElements(const Tensor &elements);
/// The integers of \p elements with \p shift added, as elements of
/// \p storage, which has them.
Tensor shifted(const Tensor &elements, mlir::IntegerType storage,
               int64_t shift);

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// When a quotient is rounded, ties to even. The two differ by one where the
/// quotient is a tie and the zero point is odd, or where adding the zero point
/// rounds the quotient to a tie.
enum class QuantizedRounding {
  /// round(clamp(x / scale + zero point)): StableHLO's `quantize`.
  AfterZeroPoint,
  /// clamp(round(x / scale) + zero point): ONNX's QuantizeLinear.
  BeforeZeroPoint
};

/// The storage element of \p x, every step rounded to \p compute; NaN gives 0.
int64_t quantizedNumber(double x, double scale, int64_t zeroPoint,
                        IntegerBounds bounds, mlir::FloatType compute,
                        QuantizedRounding rounding);

/// The real value of \p element, rounded to \p expressed once.
double dequantizedNumber(int64_t element, double scale, int64_t zeroPoint,
                         mlir::FloatType expressed);

namespace nn {
class TensorBuilder;
} // namespace nn

/// The storage elements of \p type nearest to \p quotients, real values divided
/// by its scales, every step in the type of \p quotients.
mlir::Value emitRounded(nn::TensorBuilder &emit, mlir::Value quotients,
                        mlir::quant::QuantizedType type,
                        QuantizedRounding rounding);

/// The storage elements of \p type nearest to \p reals, every step in the type
/// of \p reals.
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

/// \p numbers, one or one per element of dimension \p axis, broadcast to the
/// shape and type of \p like.
mlir::Value emitSpread(nn::TensorBuilder &emit, llvm::ArrayRef<double> numbers,
                       int64_t axis, mlir::Value like);

} // namespace sinter

#endif // SINTER_GRAPH_QUANTIZATION_H
