//===- ExampleText.h - a program that runs a bundle -----------------------===//

#ifndef SINTER_BUNDLE_EXAMPLETEXT_H
#define SINTER_BUNDLE_EXAMPLETEXT_H

#include "runtime/Bundle.h"

#include <string>

namespace sinter {

/// main.c: runs \p bundle on random inputs and prints the first values of each
/// output, with static memory alone.
std::string exampleText(const Bundle &bundle);

/// CMakeLists.txt: the library of the bundle's name and that program.
std::string cmakeText(const Bundle &bundle);

} // namespace sinter

#endif // SINTER_BUNDLE_EXAMPLETEXT_H
