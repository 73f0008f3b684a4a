//===- Constants.h - conversion between tensors and attributes ------------===//
//
// A large constant is a resource blob over the tensor's own bytes, in the
// runtime's layout (whole bytes an element), so that a weight stays where the
// model file was mapped. A small one is an ordinary dense attribute.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_CONSTANTS_H
#define SINTER_GRAPH_CONSTANTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/Tensor.h"
#include <optional>

namespace sinter {

/// Constants of up to this many elements become dense attributes, which print
/// in full and are unique in the context.
inline constexpr int64_t largestDenseConstant = 64;

/// The tensor that an attribute holds. Nothing for an element type that the
/// runtime lacks or for a resource whose size is not its type's. Resource bytes
/// are shared (and perhaps not aligned); the tensor keeps toAttribute's alive.
std::optional<Tensor> toTensor(mlir::ElementsAttr attribute);

/// The attribute that holds \p tensor: dense if small, else a resource that
/// shares the tensor's bytes. Its key is \p name, made unique and spelled as a
/// bare identifier.
mlir::ElementsAttr toAttribute(const Tensor &tensor, llvm::StringRef name,
                               mlir::MLIRContext *context);

/// The value as a dense attribute whatever its size, for text that other tools
/// read.
mlir::DenseElementsAttr toDenseAttribute(const Tensor &tensor,
                                         mlir::MLIRContext *context);

/// The value of a `stablehlo.constant`; nothing for any other value.
std::optional<Tensor> constantTensor(mlir::Value value);

/// A `stablehlo.constant` of the tensor. A \p name becomes the attribute
/// `sinter.name`: locations of constants do not survive merging.
mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location location,
                         const Tensor &tensor, llvm::StringRef name = "");

/// A constant of the static type \p type whose elements are all \p number;
/// empty strings if it is of strings.
mlir::Value makeSplat(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::RankedTensorType type, double number);

/// A tensor of \p numbers, rounded to \p type.
Tensor tensorOfDoubles(ElementType type, Shape shape,
                       llvm::ArrayRef<double> numbers);

/// The value of all elements of \p value, if that is a real splat constant or a
/// broadcast of one.
std::optional<double> splatNumber(mlir::Value value);

/// Whether all elements of \p value are +0: a constant or a broadcast of one.
bool isPositiveZero(mlir::Value value);

/// The name of the constant that defines \p value, or "".
llvm::StringRef constantName(mlir::Value value);

} // namespace sinter

#endif // SINTER_GRAPH_CONSTANTS_H
