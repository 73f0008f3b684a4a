//===- ArrayFunction.h - an elementwise operation on plain arrays ---------===//

#ifndef SINTER_INTERPRETER_ARRAYFUNCTION_H
#define SINTER_INTERPRETER_ARRAYFUNCTION_H

#include "interpreter/Evaluation.h"

#include <array>

namespace sinter::interpreter {

/// An elementwise operation, specialised for its operands' element types. Both
/// the evaluator of the operation and the regions that contain it run it.
struct ArrayFunction {
  using Run = void (*)(const ArrayFunction &function, int64_t count,
                       const std::byte *const *from, std::byte *to);

  /// to[i] = f(from[0][i], from[1][i], ...) for `count` elements, which are
  /// aligned. \p to may be one of \p from whose elements are as large.
  Run run = nullptr;
  ElementType operand = ElementType::F32; ///< Of the (last) operand.
  ElementType result = ElementType::F32;
  /// Attributes of the operation, such as the direction of a comparison.
  std::array<int, 3> parameters = {};

  void operator()(int64_t count, const std::byte *const *from,
                  std::byte *to) const {
    run(*this, count, from, to);
  }
};

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_ARRAYFUNCTION_H
