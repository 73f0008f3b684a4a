//===- WrittenNumbers.h - small inputs on the command line ----------------===//
//
//   rate=16000   sizes=1,3,8   isLast=true
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_WRITTENNUMBERS_H
#define SINTER_DATA_WRITTENNUMBERS_H

#include "runtime/Executor.h"

#include <optional>

namespace sinter {

/// The tensor of \p text, numbers separated by commas, for an input of \p spec:
/// one number for a scalar, as many as it has elements for one dimension;
/// `true` and `false` count as 1 and 0. Nothing if the text is no such list.
/// Usage errors if the input has other dimensions, or its type cannot hold a
/// number; \p what names it.
std::optional<Result<Tensor>> writtenNumbers(const std::string &what,
                                             const std::string &text,
                                             const TensorSpec &spec);

/// Whether writtenNumbers() accepts \p text.
bool isListOfNumbers(const std::string &text);

} // namespace sinter

#endif // SINTER_DATA_WRITTENNUMBERS_H
