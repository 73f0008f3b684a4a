//===- Dim.h - a dimension: a number, or a dynamic size by its name -------===//
//
// How large a dimension is, as far as it is known when code is generated:
//
//   static    a number
//   named     a dynamic size that the size table of the module knows by its
//             number (backend/cpu/shapes/SizeTable.h); sizes that are always
//             the same have the same name
//   unknown   a dynamic size without a name: `?`, or what arithmetic makes of
//             named ones
//
// So for tensor<?x128xf32, names of [N, 128]>
//
//   dimsOf(type)[0]        named          dimsOf(type)[1]        static, 128
//   dimsOf(type)[0] * 1    the same       dimsOf(type)[1] * 4    static, 512
//   dimsOf(type)[0] * 4    unknown
//
// Arithmetic never wraps: what does not fit is unknown, too. Code that gets an
// unknown size for a number that it must have is not for dynamic sizes; kernels
// of such code are refused (backend/cpu/kernels/common/IndexBuilder.h).
//
// A type says only `?` of a dynamic size. The names are its encoding, where an
// integer that no tensor has as a size stands for each:
//
//   tensor<?x128xf32, array<i64: NAME, 128>>
//
// The attributes of operations have the same integers (`slice_sizes`, `limits`,
// `window_dimensions`). `dimsIn` and `encodedDims` lead from them to dimensions
// and back; nothing else computes with them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_DIM_H
#define SINTER_GRAPH_DIM_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <optional>
#include <string>

namespace sinter {

class Dim {
public:
  /// A static size.
  constexpr Dim(int64_t size = 0) : encoded(size) {}
  /// The dynamic size with entry \p number, below 2^29, in the size table.
  static constexpr Dim named(int64_t number) { return Dim(encode(number)); }
  static constexpr Dim unknown() { return Dim(mlir::ShapedType::kDynamic); }

  constexpr bool isNamed() const { return name().has_value(); }
  constexpr bool isUnknown() const {
    return encoded == mlir::ShapedType::kDynamic;
  }
  constexpr bool isStatic() const { return !isNamed() && !isUnknown(); }
  constexpr bool isDynamic() const { return !isStatic(); }

  /// The number of a static size, which the caller has asked for.
  int64_t value() const {
    if (isDynamic())
      llvm::report_fatal_error("the number of a dynamic size is used");
    return encoded;
  }
  constexpr std::optional<int64_t> number() const {
    return isStatic() ? std::optional(encoded) : std::nullopt;
  }
  constexpr int64_t valueOr(int64_t other) const {
    return isStatic() ? encoded : other;
  }
  /// The entry in the size table of a named size.
  constexpr std::optional<int64_t> name() const {
    const int64_t number = encoded >> 32 & ((int64_t(1) << 29) - 1);
    return encoded == encode(number) ? std::optional(number) : std::nullopt;
  }
  /// The same for the same dimension, for tables and orders that only tell
  /// dimensions apart.
  constexpr uint64_t key() const { return static_cast<uint64_t>(encoded); }
  /// "128", "size 3" or "?".
  std::string text() const {
    if (const std::optional<int64_t> entry = name())
      return "size " + std::to_string(*entry);
    return isUnknown() ? "?" : std::to_string(encoded);
  }

  // Two unknown sizes count as the same, as in types.
  friend constexpr bool operator==(Dim a, Dim b) = default;
  // In plans a dynamic size counts as larger than every number.
  friend constexpr bool operator<(Dim a, Dim b) {
    return a.isStatic() && (b.isDynamic() || a.encoded < b.encoded);
  }
  friend constexpr bool operator>(Dim a, Dim b) { return b < a; }
  friend constexpr bool operator<=(Dim a, Dim b) { return !(b < a); }
  friend constexpr bool operator>=(Dim a, Dim b) { return !(a < b); }

  friend Dim operator+(Dim a, Dim b) {
    return a == 0 ? b : b == 0 ? a : checked(llvm::AddOverflow<int64_t>, a, b);
  }
  friend Dim operator-(Dim a, Dim b) {
    return b == 0 ? a : checked(llvm::SubOverflow<int64_t>, a, b);
  }
  friend Dim operator*(Dim a, Dim b) {
    if (a == 0 || b == 0)
      return 0;
    return a == 1 ? b : b == 1 ? a : checked(llvm::MulOverflow<int64_t>, a, b);
  }
  Dim &operator+=(Dim other) { return *this = *this + other; }
  Dim &operator*=(Dim other) { return *this = *this * other; }
  // Of numbers that are not negative, by positive ones.
  friend Dim operator/(Dim a, int64_t b) {
    assert(b > 0 && "a divisor is positive");
    return b == 1 ? a : a.isStatic() ? Dim(a.encoded / b) : unknown();
  }
  friend Dim operator%(Dim a, int64_t b) {
    assert(b > 0 && "a divisor is positive");
    return b == 1 ? Dim(0) : a.isStatic() ? Dim(a.encoded % b) : unknown();
  }
  /// How many blocks of \p block elements hold \p size.
  friend Dim ceilDivide(Dim size, int64_t block) {
    return (size + (block - 1)) / block;
  }
  /// The size, or \p most if it may be more.
  constexpr int64_t upTo(int64_t most) const {
    return *this < Dim(most) ? encoded : most;
  }

private:
  static constexpr int64_t encode(int64_t number) {
    constexpr int64_t all = int64_t(1) << 62, mark = 0x5a17b3c9;
    return all | number << 32 | mark;
  }
  template <typename Overflow>
  static Dim checked(Overflow overflow, Dim a, Dim b) {
    int64_t result = 0;
    if (a.isDynamic() || b.isDynamic() ||
        overflow(a.encoded, b.encoded, result))
      return unknown();
    return Dim(result);
  }

  friend llvm::ArrayRef<Dim> dimsIn(llvm::ArrayRef<int64_t> sizes);
  friend llvm::ArrayRef<int64_t> encodedDims(llvm::ArrayRef<Dim> dims);

  int64_t encoded;
};

/// The dimensions that \p sizes, those of an attribute (`slice_sizes`, a type's
/// names), stand for.
inline llvm::ArrayRef<Dim> dimsIn(llvm::ArrayRef<int64_t> sizes) {
  static_assert(sizeof(Dim) == sizeof(int64_t));
  return {reinterpret_cast<const Dim *>(sizes.data()), sizes.size()};
}
/// The attribute that stands for \p dims.
inline llvm::ArrayRef<int64_t> encodedDims(llvm::ArrayRef<Dim> dims) {
  return {reinterpret_cast<const int64_t *>(dims.data()), dims.size()};
}

inline bool isStaticShape(llvm::ArrayRef<Dim> dims) {
  return llvm::all_of(dims, [](Dim dim) { return dim.isStatic(); });
}
inline bool hasNamedDim(llvm::ArrayRef<Dim> dims) {
  return llvm::any_of(dims, [](Dim dim) { return dim.isNamed(); });
}
/// Whether \p type is a tensor type of named dimensions.
inline bool hasNamedSizes(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor &&
         mlir::isa_and_nonnull<mlir::DenseI64ArrayAttr>(tensor.getEncoding());
}

/// The dimensions of \p type.
inline llvm::ArrayRef<Dim> dimsOf(mlir::RankedTensorType type) {
  if (mlir::Attribute encoding = type.getEncoding())
    if (auto names = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(encoding))
      return dimsIn(names.asArrayRef());
  return dimsIn(type.getShape());
}
inline llvm::ArrayRef<Dim> dimsOf(mlir::Value value) {
  return dimsOf(mlir::cast<mlir::RankedTensorType>(value.getType()));
}
/// The numbers of \p dims, which are static.
inline llvm::SmallVector<int64_t> staticSizes(llvm::ArrayRef<Dim> dims) {
  return llvm::map_to_vector(dims, [](Dim dim) { return dim.value(); });
}

/// A tensor type of these dimensions.
inline mlir::RankedTensorType typeOfDims(llvm::ArrayRef<Dim> dims,
                                         mlir::Type element) {
  const llvm::ArrayRef<int64_t> encoded = encodedDims(dims);
  if (!hasNamedDim(dims))
    return mlir::RankedTensorType::get(encoded, element);
  const auto shape = llvm::map_to_vector(
      dims, [](Dim dim) { return dim.valueOr(mlir::ShapedType::kDynamic); });
  return mlir::RankedTensorType::get(
      shape, element,
      mlir::DenseI64ArrayAttr::get(element.getContext(), encoded));
}

} // namespace sinter

#endif // SINTER_GRAPH_DIM_H
