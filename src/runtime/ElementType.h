//===- ElementType.h - what a tensor's elements are -----------------------===//
//
// Every element type that a model file can hold. In memory each element takes
// whole bytes: i1 is one byte 0 or 1, i2 and i4 are sign-extended into one
// byte (ui2, ui4 zero-extended), complex numbers are two reals side by side. A
// string is a handle (Strings.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_ELEMENTTYPE_H
#define SINTER_RUNTIME_ELEMENTTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sinter {

// clang-format off
/// X(enumerator, text as in MLIR, bytes in memory, bits, class), where class is
/// one of Bool, SInt, UInt, Float, Complex, String.
#define SINTER_ELEMENT_TYPES(X)                                                \
  X(I1, "i1", 1, 1, Bool)                                                      \
  X(I2, "i2", 1, 2, SInt)       X(I4, "i4", 1, 4, SInt)                        \
  X(I8, "i8", 1, 8, SInt)       X(I16, "i16", 2, 16, SInt)                     \
  X(I32, "i32", 4, 32, SInt)    X(I64, "i64", 8, 64, SInt)                     \
  X(UI2, "ui2", 1, 2, UInt)     X(UI4, "ui4", 1, 4, UInt)                      \
  X(UI8, "ui8", 1, 8, UInt)     X(UI16, "ui16", 2, 16, UInt)                   \
  X(UI32, "ui32", 4, 32, UInt)  X(UI64, "ui64", 8, 64, UInt)                   \
  X(F8E4M3, "f8E4M3", 1, 8, Float)                                             \
  X(F8E4M3FN, "f8E4M3FN", 1, 8, Float)                                         \
  X(F8E4M3FNUZ, "f8E4M3FNUZ", 1, 8, Float)                                     \
  X(F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 1, 8, Float)                               \
  X(F8E5M2, "f8E5M2", 1, 8, Float)                                             \
  X(F8E5M2FNUZ, "f8E5M2FNUZ", 1, 8, Float)                                     \
  X(BF16, "bf16", 2, 16, Float) X(F16, "f16", 2, 16, Float)                    \
  X(F32, "f32", 4, 32, Float)   X(F64, "f64", 8, 64, Float)                    \
  X(C64, "complex<f32>", 8, 64, Complex)                                       \
  X(C128, "complex<f64>", 16, 128, Complex)                                    \
  X(STRING, "string", 8, 64, String)
// clang-format on

enum class ElementType : uint8_t {
#define X(name, text, bytes, bits, kind) name,
  SINTER_ELEMENT_TYPES(X)
#undef X
};

enum class ElementClass : uint8_t { Bool, SInt, UInt, Float, Complex, String };

/// The type's text form, as MLIR writes it ("string" for !text.string).
std::string_view name(ElementType type);
/// The type with the text form \p text, if there is one.
std::optional<ElementType> parseElementType(std::string_view text);
/// Bytes that one element takes in memory.
size_t byteSize(ElementType type);
/// Bits of information in one element (4 for i4, 1 for i1).
unsigned bitWidth(ElementType type);
ElementClass classOf(ElementType type);
inline bool isFloat(ElementType type) {
  return classOf(type) == ElementClass::Float;
}
inline bool isComplex(ElementType type) {
  return classOf(type) == ElementClass::Complex;
}
inline bool isString(ElementType type) { return type == ElementType::STRING; }
/// The alignment of elements in other languages: that of the reals of a complex
/// number.
inline size_t alignmentOf(ElementType type) {
  return isComplex(type) ? byteSize(type) / 2 : byteSize(type);
}
/// True for i1 and all integers.
inline bool isInteger(ElementType type) {
  return classOf(type) <= ElementClass::UInt;
}

} // namespace sinter

#endif // SINTER_RUNTIME_ELEMENTTYPE_H
