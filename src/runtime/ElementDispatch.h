//===- ElementDispatch.h - from an ElementType to a C++ type --------------===//
//
// The C++ type of an element in memory, and the switch that calls a generic
// function with it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_ELEMENTDISPATCH_H
#define SINTER_RUNTIME_ELEMENTDISPATCH_H

#include "runtime/ElementType.h"
#include "runtime/Float.h"

#include <complex>
#include <type_traits>
#include <utility>

namespace sinter {

/// ElementStorage<ElementType::F16>::type is Half. i1 is uint8_t, not bool: the
/// bytes may come from a file and hold anything. A string is its handle, which
/// can be moved and compared.
template <ElementType> struct ElementStorage;

#define SINTER_ELEMENT_STORAGE(name, storage)                                  \
  template <> struct ElementStorage<ElementType::name> {                       \
    using type = storage;                                                      \
  };
SINTER_ELEMENT_STORAGE(I1, uint8_t)
SINTER_ELEMENT_STORAGE(I2, int8_t)
SINTER_ELEMENT_STORAGE(I4, int8_t)
SINTER_ELEMENT_STORAGE(I8, int8_t)
SINTER_ELEMENT_STORAGE(I16, int16_t)
SINTER_ELEMENT_STORAGE(I32, int32_t)
SINTER_ELEMENT_STORAGE(I64, int64_t)
SINTER_ELEMENT_STORAGE(UI2, uint8_t)
SINTER_ELEMENT_STORAGE(UI4, uint8_t)
SINTER_ELEMENT_STORAGE(UI8, uint8_t)
SINTER_ELEMENT_STORAGE(UI16, uint16_t)
SINTER_ELEMENT_STORAGE(UI32, uint32_t)
SINTER_ELEMENT_STORAGE(UI64, uint64_t)
SINTER_ELEMENT_STORAGE(F8E4M3, Float8E4M3)
SINTER_ELEMENT_STORAGE(F8E4M3FN, Float8E4M3FN)
SINTER_ELEMENT_STORAGE(F8E4M3FNUZ, Float8E4M3FNUZ)
SINTER_ELEMENT_STORAGE(F8E4M3B11FNUZ, Float8E4M3B11FNUZ)
SINTER_ELEMENT_STORAGE(F8E5M2, Float8E5M2)
SINTER_ELEMENT_STORAGE(F8E5M2FNUZ, Float8E5M2FNUZ)
SINTER_ELEMENT_STORAGE(BF16, BFloat16)
SINTER_ELEMENT_STORAGE(F16, Half)
SINTER_ELEMENT_STORAGE(F32, float)
SINTER_ELEMENT_STORAGE(F64, double)
SINTER_ELEMENT_STORAGE(C64, std::complex<float>)
SINTER_ELEMENT_STORAGE(C128, std::complex<double>)
SINTER_ELEMENT_STORAGE(STRING, uint64_t)
#undef SINTER_ELEMENT_STORAGE

/// Calls `visit(std::type_identity<T>{})` with the element's C++ type:
/// `dispatch(type, [&](auto tag) { using T = typename decltype(tag)::type; })`.
template <typename Visitor>
decltype(auto) dispatch(ElementType type, Visitor &&visit) {
  switch (type) {
#define X(name, text, bytes, bits, kind)                                       \
  case ElementType::name:                                                      \
    return visit(std::type_identity<ElementStorage<ElementType::name>::type>{});
    SINTER_ELEMENT_TYPES(X)
#undef X
  }
  __builtin_unreachable();
}

template <typename T> inline constexpr bool isStdComplex = false;
template <typename T>
inline constexpr bool isStdComplex<std::complex<T>> = true;

} // namespace sinter

#endif // SINTER_RUNTIME_ELEMENTDISPATCH_H
