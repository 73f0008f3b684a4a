//===- ModelInfo.h - what the C interface says of a model -----------------===//

#ifndef SINTER_BINDINGS_C_MODELINFO_H
#define SINTER_BINDINGS_C_MODELINFO_H

#include "formats/ModelMetadata.h"
#include "sinter.h"

#include <vector>

namespace sinter::c {

/// Owns what a sinter_model_info points to. It stays where it is.
class ModelInfo {
public:
  ModelInfo() = default;
  ModelInfo(const ModelInfo &) = delete;
  ModelInfo &operator=(const ModelInfo &) = delete;

  void set(ModelMetadata metadata);
  /// Points into this object.
  sinter_model_info info() const;
  /// Null if there is none called \p name.
  const char *entry(const char *name) const;

private:
  ModelMetadata all;
  std::vector<const char *> domains, names, values;
  std::vector<int64_t> versions;
};

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_MODELINFO_H
