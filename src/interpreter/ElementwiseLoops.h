//===- ElementwiseLoops.h - loops over the elements of tensors ------------===//
//
// A unary or binary function is a struct with some of
//
//   static double real(double...)
//   static T integer(T..., unsigned bits)   T any (u)intN_t of `bits` used bits
//   static std::complex<double> complex(std::complex<double>...)
//   static bool logical(bool...)
//
// Floats are computed in double and rounded once to their type: for + - * / and
// sqrt that is the correctly rounded result (double has more than twice float's
// digits plus two), for the rest it is nearly always.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERPRETER_ELEMENTWISELOOPS_H
#define SINTER_INTERPRETER_ELEMENTWISELOOPS_H

#include "interpreter/ArrayFunction.h"
#include "interpreter/Numbers.h"

#include <array>
#include <complex>

namespace sinter::interpreter {

using Complex = std::complex<double>;

/// to[i] = function(from[0][i], from[1][i], ...), computed as \p Compute.
template <typename Compute, size_t Arity, typename T, typename F>
void loop(F function, int64_t count, T *to, std::array<const T *, Arity> from) {
  for (int64_t i = 0; i < count; ++i)
    if constexpr (Arity == 1)
      to[i] = static_cast<T>(function(static_cast<Compute>(from[0][i])));
    else
      to[i] = static_cast<T>(function(static_cast<Compute>(from[0][i]),
                                      static_cast<Compute>(from[1][i])));
}

template <typename T, size_t Arity>
std::array<const T *, Arity> pointers(const std::byte *const *operands) {
  std::array<const T *, Arity> from;
  for (size_t i = 0; i < Arity; ++i)
    from[i] = reinterpret_cast<const T *>(operands[i]);
  return from;
}

/// The loop with elements of \p T in memory.
template <typename T, size_t Arity, typename Compute = T, typename F>
void loopInPlace(F function, int64_t count, const std::byte *const *from,
                 std::byte *to) {
  loop<Compute, Arity>(function, count, reinterpret_cast<T *>(to),
                       pointers<T, Arity>(from));
}

/// The loop in double over chunks of elements of any real type.
template <size_t Arity, typename F>
void loopConverted(F function, ElementType type, int64_t count,
                   const std::byte *const *from, std::byte *to) {
  std::array<std::array<double, chunkSize>, Arity> buffers;
  const size_t size = byteSize(type);
  inChunks(count, [&](int64_t begin, int64_t part) {
    std::array<const double *, Arity> numbers;
    for (size_t i = 0; i < Arity; ++i) {
      loadReals(type, from[i] + begin * size,
                std::span(buffers[i].data(), size_t(part)));
      numbers[i] = buffers[i].data();
    }
    loop<double, Arity>(function, part, buffers[0].data(), numbers);
    storeReals(type, to + begin * size,
               std::span<const double>(buffers[0].data(), size_t(part)));
  });
}

/// \p function(double...) on elements of a real type.
template <size_t Arity, typename F>
void loopReal(F function, ElementType type, int64_t count,
              const std::byte *const *from, std::byte *to) {
  if (type == ElementType::F32)
    loopInPlace<float, Arity, double>(function, count, from, to);
  else if (type == ElementType::F64)
    loopInPlace<double, Arity>(function, count, from, to);
  else
    loopConverted<Arity>(function, type, count, from, to);
}
/// The same on tensors.
template <size_t Arity, typename F>
void loopReal(F function, llvm::ArrayRef<Tensor> operands, Tensor &result) {
  std::array<const std::byte *, Arity> from;
  for (size_t i = 0; i < Arity; ++i)
    from[i] = operands[i].data();
  loopReal<Arity>(function, result.type(), result.size(), from.data(),
                  result.mutableBytes());
}

/// \p function(complex...) on elements of a complex type.
template <size_t Arity, typename F>
void loopComplex(F function, ElementType type, int64_t count,
                 const std::byte *const *from, std::byte *to) {
  if (type == ElementType::C64)
    loopInPlace<std::complex<float>, Arity, Complex>(function, count, from, to);
  else
    loopInPlace<Complex, Arity>(function, count, from, to);
}

/// \p function(integer...) on elements of an integer type.
template <size_t Arity, typename F>
void loopInteger(F function, ElementType type, int64_t count,
                 const std::byte *const *from, std::byte *to) {
  const bool isSigned = classOf(type) == ElementClass::SInt;
  auto run = [&]<typename Signed, typename Unsigned>(Signed, Unsigned) {
    if (isSigned)
      loopInPlace<Signed, Arity>(function, count, from, to);
    else
      loopInPlace<Unsigned, Arity>(function, count, from, to);
  };
  switch (byteSize(type)) {
  case 1:
    run(int8_t(), uint8_t());
    break;
  case 2:
    run(int16_t(), uint16_t());
    break;
  case 4:
    run(int32_t(), uint32_t());
    break;
  default:
    run(int64_t(), uint64_t());
  }
  normalizeSubByte(type, to, count);
}

/// Whether \p Function has a form for elements of \p type.
template <typename Function, size_t Arity> bool hasFormFor(ElementType type) {
  constexpr bool unary = Arity == 1;
  switch (classOf(type)) {
  case ElementClass::Float:
    return unary ? requires { Function::real(0.0); }
                 : requires { Function::real(0.0, 0.0); };
  case ElementClass::Complex:
    return unary ? requires { Function::complex(Complex()); }
                 : requires { Function::complex(Complex(), Complex()); };
  case ElementClass::Bool:
    return unary ? requires { Function::logical(true); }
                 : requires { Function::logical(true, true); };
  default:
    return unary ? requires { Function::integer(int32_t(), 32u); }
                 : requires { Function::integer(int32_t(), int32_t(), 32u); };
  }
}

/// The loop of \p Function over elements of the class that \p type has.
template <typename Function, size_t Arity>
void runFunction(const ArrayFunction &function, int64_t count,
                 const std::byte *const *from, std::byte *to) {
  const ElementType type = function.operand;
  constexpr bool unary = Arity == 1;
  constexpr bool real = unary ? requires { Function::real(0.0); }
                              : requires { Function::real(0.0, 0.0); };
  constexpr bool complex = unary ? requires {
    Function::complex(Complex());
  } : requires { Function::complex(Complex(), Complex()); };
  constexpr bool logical = unary ? requires { Function::logical(true); }
                                 : requires { Function::logical(true, true); };
  constexpr bool integer = unary ? requires {
    Function::integer(int32_t(), 32u);
  } : requires { Function::integer(int32_t(), int32_t(), 32u); };
  if constexpr (real)
    if (isFloat(type))
      return loopReal<Arity>([](auto... x) { return Function::real(x...); },
                             type, count, from, to);
  if constexpr (complex)
    if (isComplex(type))
      return loopComplex<Arity>(
          [](auto... x) { return Function::complex(x...); }, type, count, from,
          to);
  if constexpr (logical)
    if (type == ElementType::I1)
      return loopInPlace<uint8_t, Arity, bool>(
          [](auto... x) { return Function::logical(x...); }, count, from, to);
  if constexpr (integer) {
    const unsigned bits = bitWidth(type);
    loopInteger<Arity>(
        [bits](auto... x) { return Function::integer(x..., bits); }, type,
        count, from, to);
  }
}

/// The ArrayFunction of a function of \p Arity operands of one type.
template <typename Function, size_t Arity>
Result<ArrayFunction>
elementwiseFunction(mlir::Operation *, llvm::ArrayRef<ElementType> operands) {
  const ElementType type = operands[0];
  if (!hasFormFor<Function, Arity>(type))
    return unsupported("has no meaning for " + std::string(name(type)));
  return ArrayFunction{runFunction<Function, Arity>, type, type};
}

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_ELEMENTWISELOOPS_H
