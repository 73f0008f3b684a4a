//===- CTypes.h - element types in C --------------------------------------===//

#ifndef SINTER_BUNDLE_CTYPES_H
#define SINTER_BUNDLE_CTYPES_H

#include "runtime/Bundle.h"

#include <string>
#include <string_view>

namespace sinter {

/// The type of C for elements of \p type: that of the reals of complex
/// elements, which are two; an integer with the bits of floats that C lacks.
std::string_view cType(ElementType type);

/// How many of these \p tensor has, at most.
uint64_t cElements(const BundleTensor &tensor);

/// "f32 [N, 3, 224, 224]".
std::string typeText(const BundleTensor &tensor);

/// \p text for a comment of C: on one line, and nothing in it ends the comment.
std::string commentText(std::string_view text);

} // namespace sinter

#endif // SINTER_BUNDLE_CTYPES_H
