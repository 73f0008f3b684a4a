//===- Identifiers.h - names of tensors as names of C ---------------------===//

#ifndef SINTER_BUNDLE_IDENTIFIERS_H
#define SINTER_BUNDLE_IDENTIFIERS_H

#include "runtime/Bundle.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// Whether \p name can be the prefix of a bundle's symbols and macros: a
/// letter, then letters, digits and underscores, at most 100 in all.
bool isBundleName(std::string_view name);

/// A name for which that holds, from \p text: "ResNet-50.v2" is ResNet_50_v2.
std::string bundleNameFrom(std::string_view text);

/// A field of a struct for each of \p tensors, from its name. No two differ in
/// case only, so that macros may be made of them, and none is a word of C or
/// C++ or a macro of a usual header.
std::vector<std::string> fieldNames(std::span<const BundleTensor> tensors);

/// The same for sizes.
std::vector<std::string> fieldNames(std::span<const BundleSize> sizes);

/// \p name in capital letters.
std::string capitals(std::string_view name);

} // namespace sinter

#endif // SINTER_BUNDLE_IDENTIFIERS_H
