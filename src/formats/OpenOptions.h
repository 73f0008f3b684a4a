//===- OpenOptions.h - options for opening a model ------------------------===//

#ifndef SINTER_FORMATS_OPENOPTIONS_H
#define SINTER_FORMATS_OPENOPTIONS_H

#include <cstdint>
#include <optional>
#include <string>

namespace sinter {

/// For formats whose parameters are in files of their own.
struct OpenOptions {
  /// The file, or the folder, that holds the parameters; empty: the format's
  /// default location.
  std::string parameters;
  /// If set, parameters are drawn from this seed instead.
  std::optional<uint64_t> randomParameters;
  /// Whether missing parameters are drawn, which the reader notes: for
  /// inspecting a model without running it.
  bool drawsMissing = false;

  /// Whether no option is set.
  bool areDefault() const { return parameters.empty() && !randomParameters; }
};

} // namespace sinter

#endif // SINTER_FORMATS_OPENOPTIONS_H
