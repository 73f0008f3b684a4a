//===- HeaderText.h - the header of a bundle ------------------------------===//

#ifndef SINTER_BUNDLE_HEADERTEXT_H
#define SINTER_BUNDLE_HEADERTEXT_H

#include "runtime/Bundle.h"

#include <string>

namespace sinter {

/// The header for C from C99 and C++ from C++11 on: the functions of \p bundle,
/// their structs, and sizes, shapes and alignments as macros. \p model is the
/// name of the file that it was made from.
std::string headerText(const Bundle &bundle, const std::string &model);

} // namespace sinter

#endif // SINTER_BUNDLE_HEADERTEXT_H
