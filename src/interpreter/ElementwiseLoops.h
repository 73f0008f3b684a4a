//===- ElementwiseLoops.h - loops over the elements of tensors ------------===//
//
// A function of one or two numbers is a struct with some of
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

#include "interpreter/Evaluation.h"
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
std::array<const T *, Arity> pointers(llvm::ArrayRef<Tensor> operands) {
  std::array<const T *, Arity> from;
  for (size_t i = 0; i < Arity; ++i)
    from[i] = reinterpret_cast<const T *>(operands[i].data());
  return from;
}

/// The loop with elements of \p T in memory.
template <typename T, size_t Arity, typename Compute = T, typename F>
void loopInPlace(F function, llvm::ArrayRef<Tensor> operands, Tensor &result) {
  loop<Compute, Arity>(function, result.size(),
                       reinterpret_cast<T *>(result.mutableBytes()),
                       pointers<T, Arity>(operands));
}

/// The loop over pieces that \p load makes numbers of and \p store rounds back.
template <typename Compute, size_t Arity, typename F, typename Load,
          typename Store>
void loopConverted(F function, llvm::ArrayRef<Tensor> operands, Tensor &result,
                   Load load, Store store) {
  std::array<std::array<Compute, chunkSize>, Arity> buffers;
  inChunks(result.size(), [&](int64_t begin, int64_t count) {
    std::array<const Compute *, Arity> from;
    for (size_t i = 0; i < Arity; ++i) {
      load(operands[i], begin, std::span(buffers[i].data(), size_t(count)));
      from[i] = buffers[i].data();
    }
    loop<Compute, Arity>(function, count, buffers[0].data(), from);
    store(result, begin,
          std::span<const Compute>(buffers[0].data(), size_t(count)));
  });
}

/// \p function(double...) on tensors of a float type.
template <size_t Arity, typename F>
void loopReal(F function, llvm::ArrayRef<Tensor> operands, Tensor &result) {
  if (result.type() == ElementType::F32)
    loopInPlace<float, Arity, double>(function, operands, result);
  else if (result.type() == ElementType::F64)
    loopInPlace<double, Arity>(function, operands, result);
  else
    loopConverted<double, Arity>(function, operands, result, loadReals,
                                 storeReals);
}

template <size_t Arity, typename F>
void loopInteger(F function, llvm::ArrayRef<Tensor> operands, Tensor &result) {
  const bool isSigned = classOf(result.type()) == ElementClass::SInt;
  auto run = [&]<typename Signed, typename Unsigned>(Signed, Unsigned) {
    if (isSigned)
      loopInPlace<Signed, Arity>(function, operands, result);
    else
      loopInPlace<Unsigned, Arity>(function, operands, result);
  };
  switch (byteSize(result.type())) {
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
  normalizeSubByte(result);
}

/// Whether \p Function has a form for numbers of \p type.
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

/// The elementwise evaluator of a function of \p Arity numbers.
template <typename Function, size_t Arity>
Result<Tensors> evaluateElementwise(const Call &call) {
  const ElementType type = call[0].type();
  if (Arity == 2 && call[0].shape() != call[Arity - 1].shape())
    return invalidModel(
        "operands have different shapes: " + toString(type, call[0].shape()) +
        " and " + toString(type, call[1].shape()));
  if (!hasFormFor<Function, Arity>(type))
    return unsupported("has no meaning for " + std::string(name(type)));
  return produce(type, call[0].shape(), [&](Tensor &result) {
    const unsigned bits = bitWidth(type);
    constexpr bool real = requires { Function::real(0.0); } ||
                          requires { Function::real(0.0, 0.0); };
    constexpr bool complex = requires {
      Function::complex(Complex());
    } || requires { Function::complex(Complex(), Complex()); };
    constexpr bool logical = requires { Function::logical(true); } ||
                             requires { Function::logical(true, true); };
    constexpr bool integer = requires {
      Function::integer(int32_t(), 32u);
    } || requires { Function::integer(int32_t(), int32_t(), 32u); };
    if constexpr (real)
      if (isFloat(type))
        return loopReal<Arity>([](auto... x) { return Function::real(x...); },
                               call.operands, result);
    if constexpr (complex)
      if (isComplex(type))
        return loopConverted<Complex, Arity>(
            [](auto... x) { return Function::complex(x...); }, call.operands,
            result, loadComplex, storeComplex);
    if constexpr (logical)
      if (type == ElementType::I1)
        return loopInPlace<uint8_t, Arity, bool>(
            [](auto... x) { return Function::logical(x...); }, call.operands,
            result);
    if constexpr (integer)
      loopInteger<Arity>(
          [bits](auto... x) { return Function::integer(x..., bits); },
          call.operands, result);
  });
}

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_ELEMENTWISELOOPS_H
