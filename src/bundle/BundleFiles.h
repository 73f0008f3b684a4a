//===- BundleFiles.h - a bundle in files ----------------------------------===//

#ifndef SINTER_BUNDLE_BUNDLEFILES_H
#define SINTER_BUNDLE_BUNDLEFILES_H

#include "runtime/Bundle.h"
#include "runtime/Result.h"

#include <string>
#include <utility>
#include <vector>

namespace sinter {

/// What the name of a file of weights ends with; nothing if they have none.
const char *weightsSuffix(BundleWeights weights);

/// Where a bundle goes: a folder with all its files, or a file of code with
/// others beside it.
struct BundleTarget {
  BundleCode code = BundleCode::Object;
  bool isFolder = false;
  /// The path of the folder, or of the file without its extension.
  std::string path;
};

/// The target that \p output names: a folder unless it has an extension. Usage
/// error for an extension that is none of a bundle's.
Result<BundleTarget> bundleTarget(const std::string &output);

/// The files of a bundle of \p options at \p target, code first.
std::vector<std::string> bundlePaths(const BundleTarget &target,
                                     const BundleOptions &options);

/// The file of the listing of a bundle called \p name (BundleOptions::listing),
/// as an absolute path.
std::string listingPath(const BundleTarget &target, const std::string &name);

/// Writes \p bundle, made from \p model, to these files: all or none. The
/// folder must exist.
Result<void> writeBundle(const Bundle &bundle, const BundleTarget &target,
                         const std::string &model);

} // namespace sinter

#endif // SINTER_BUNDLE_BUNDLEFILES_H
