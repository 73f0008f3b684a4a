//===- WrittenStrings.h - strings on the command line ---------------------===//
//
//   word=hello   words=one,two   words=["one, two", "three"]
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_WRITTENSTRINGS_H
#define SINTER_DATA_WRITTENSTRINGS_H

#include "runtime/Executor.h"

namespace sinter {

/// The tensor of \p text for an input of \p spec, which is of strings: JSON if
/// it begins as an array or a string does, nested as the dimensions are; else
/// one string for a scalar, and strings separated by commas for one dimension.
/// Usage errors if it is no such JSON, or the input has other dimensions; \p
/// what names it.
Result<Tensor> writtenStrings(const std::string &what, const std::string &text,
                              const TensorSpec &spec);

} // namespace sinter

#endif // SINTER_DATA_WRITTENSTRINGS_H
