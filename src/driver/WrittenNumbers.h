//===- WrittenNumbers.h - small inputs as they are typed ------------------===//
//
//   --input rate=16000 --input sizes=1,3,8 --input isLast=true
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_WRITTENNUMBERS_H
#define SINTER_DRIVER_WRITTENNUMBERS_H

#include "runtime/Executor.h"

#include <optional>

namespace sinter::driver {

/// The tensor that \p text, numbers with commas between, stands for as an input
/// of \p spec: one number for an input without dimensions, as many as it has
/// elements for one of a single dimension; `true` and `false` count as 1 and 0.
/// Nothing if the text is no such list. Usage errors where the input has other
/// dimensions, or its type does not hold a number; they name \p flag.
std::optional<Result<Tensor>> writtenNumbers(const std::string &flag,
                                             const std::string &text,
                                             const TensorSpec &spec);

/// Whether writtenNumbers() takes \p text for numbers.
bool isListOfNumbers(const std::string &text);

} // namespace sinter::driver

#endif // SINTER_DRIVER_WRITTENNUMBERS_H
