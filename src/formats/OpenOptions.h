//===- OpenOptions.h - what it takes to open a model beside its path ------===//

#ifndef SINTER_FORMATS_OPENOPTIONS_H
#define SINTER_FORMATS_OPENOPTIONS_H

#include <cstdint>
#include <optional>
#include <string>

namespace sinter {

/// For formats whose parameters are in files of their own.
struct OpenOptions {
  /// The file, or the folder, that holds the parameters; empty: where the
  /// format usually has them.
  std::string parameters;
  /// Parameters that are drawn from this seed instead.
  std::optional<uint64_t> randomParameters;
  /// Whether parameters that are nowhere are drawn, which the reader says: for
  /// those who look at a model and compute nothing.
  bool drawsMissing = false;

  /// Whether nobody asked for anything.
  bool areDefault() const { return parameters.empty() && !randomParameters; }
};

} // namespace sinter

#endif // SINTER_FORMATS_OPENOPTIONS_H
