//===- LapackCall.h - a call of a LAPACK routine --------------------------===//

#ifndef SINTER_RUNTIME_HOST_LAPACKCALL_H
#define SINTER_RUNTIME_HOST_LAPACKCALL_H

#include "runtime/host/Builtin.h"
#include "runtime/host/Matrices.h"

#include <algorithm>

namespace sinter::host {

/// The shape of one matrix, vector or scalar of a stack.
using MatrixShape = std::vector<int64_t>;

/// The stack's shape, before the dimensions of one matrix.
inline Shape stackOf(const Tensor &tensor, size_t rank) {
  const Shape &shape = tensor.shape();
  return Shape(shape.begin(), shape.end() - static_cast<ptrdiff_t>(
                                                std::min(rank, shape.size())));
}

/// `uplo` for the upper triangle.
inline constexpr int64_t upper = 'U';

/// A call, whose operands are checked before they are read.
class LapackCall {
public:
  explicit LapackCall(const HostCall &call)
      : call(call), configuration(call.configuration) {}

  /// Whether there are enough operands and results, and the operand \p matrix
  /// is a stack of matrices of floats.
  bool takes(size_t inputs, size_t outputs, size_t matrix = 0) {
    if (call.inputs.size() < inputs || call.outputs.size() < outputs)
      return false;
    const Tensor &a = call.inputs[matrix];
    if (a.rank() < 2 || isInteger(a.type()) || a.type() == ElementType::I1)
      return false;
    rows = a.dim(a.rank() - 2);
    columns = a.dim(a.rank() - 1);
    stack = stackOf(a, 2);
    count = a.size() == 0 ? 0 : a.size() / (rows * columns);
    // So that "info" is 0 unless there is an error.
    for (Tensor &output : call.outputs)
      std::fill_n(output.mutableBytes(), output.bytes(), std::byte(0));
    return true;
  }
  bool isSquare() const { return rows == columns; }

  /// Whether a tensor holds matrices, vectors or scalars of these sizes.
  bool fits(const Tensor &tensor, const MatrixShape &sizes) const {
    Shape shape = stack;
    shape.insert(shape.end(), sizes.begin(), sizes.end());
    return tensor.shape() == shape;
  }
  bool input(size_t index, const MatrixShape &sizes) const {
    return fits(call.inputs[index], sizes) &&
           call.inputs[index].type() == call.inputs[0].type();
  }
  bool output(size_t index, const MatrixShape &sizes) const {
    return fits(call.outputs[index], sizes) &&
           !isInteger(call.outputs[index].type());
  }
  bool integers(size_t index, const MatrixShape &sizes) const {
    return fits(call.outputs[index], sizes) &&
           call.outputs[index].type() == ElementType::I32;
  }
  int64_t letter(std::string_view key) const {
    return configuration.number(key);
  }

  template <typename N>
  std::vector<N> load(size_t operand, int64_t which, int64_t size) const {
    return host::load<N>(call.inputs[operand], which * size, size);
  }
  template <typename N>
  void store(size_t result, int64_t which, const std::vector<N> &values) const {
    host::store(call.outputs[result],
                which * static_cast<int64_t>(values.size()), values);
  }

  const HostCall &call;
  HostConfiguration configuration;
  Shape stack;
  int64_t rows = 0, columns = 0, count = 0;
};

inline Error misfit() {
  return invalidModel("the operands or results are not those of the routine");
}

/// Calls `visit(N(), which)` for every matrix of the stack.
template <typename Visitor>
void forEach(const LapackCall &call, Visitor visit) {
  inWideNumbers(call.call.inputs[0].type(), [&](auto tag) {
    using N = typename decltype(tag)::type;
    for (int64_t which = 0; which < call.count; ++which)
      visit(N(), which);
  });
}

} // namespace sinter::host

#endif // SINTER_RUNTIME_HOST_LAPACKCALL_H
