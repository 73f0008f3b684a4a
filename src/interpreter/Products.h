//===- Products.h - the GEMM of convolution and dot -----------------------===//
//
// The accumulator type of a product, by the element type of its result: f64 in
// double, the other floats in float (so f16, bf16 and f8 are rounded once, at
// the end), integers modulo 2^64 (so that truncation gives the element type's
// own wrap-around), complex<f32> and complex<f64> in themselves.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERPRETER_PRODUCTS_H
#define SINTER_INTERPRETER_PRODUCTS_H

#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"

#include <type_traits>

namespace sinter::interpreter {

/// Adds the product of lhs [m, k] and rhs [k, n] to \p out [m, n], all dense
/// and row-major. T is float, double, uint64_t or a std::complex.
template <typename T>
void addProduct(int64_t m, int64_t k, int64_t n, const T *lhs, const T *rhs,
                T *out);

/// The elements, converted to the accumulator type.
template <typename T> std::vector<T> toAccumulators(const Tensor &tensor);
/// \p values as elements of \p result.
template <typename T>
void fromAccumulators(std::span<const T> values, Tensor &result);

/// Calls `visit(std::type_identity<T>{})` with T the accumulator type of
/// products with elements of \p result.
template <typename Visitor>
decltype(auto) dispatchAccumulator(ElementType result, Visitor &&visit) {
  switch (result) {
  case ElementType::F64:
    return visit(std::type_identity<double>{});
  case ElementType::C64:
    return visit(std::type_identity<std::complex<float>>{});
  case ElementType::C128:
    return visit(std::type_identity<std::complex<double>>{});
  default:
    if (isFloat(result))
      return visit(std::type_identity<float>{});
    return visit(std::type_identity<uint64_t>{});
  }
}

/// The dimension numbers of dot_general; the result's dimensions are the
/// batching ones, the free ones of lhs, the free ones of rhs.
struct DotDimensions {
  llvm::SmallVector<int64_t> lhsBatching, rhsBatching;
  llvm::SmallVector<int64_t> lhsContracting, rhsContracting;
};

/// The matmul with elements of \p type; InvalidModel if sizes differ.
Result<Tensor> dotGeneral(ElementType type, const Tensor &lhs,
                          const Tensor &rhs, const DotDimensions &dimensions);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_PRODUCTS_H
