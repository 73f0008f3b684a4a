//===- ValueInfo.h - what the C interface says of an input or output ------===//

#ifndef SINTER_BINDINGS_C_VALUEINFO_H
#define SINTER_BINDINGS_C_VALUEINFO_H

#include "bindings/c/Handles.h"
#include "engine/ModelDescription.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinter::c {

/// Owns what a sinter_value_info points to.
class ValueInfo {
public:
  explicit ValueInfo(const ModelInput &input);
  explicit ValueInfo(const ModelOutput &output);
  explicit ValueInfo(const TensorSpec &state);

  /// Points into this object.
  sinter_value_info info() const;

private:
  /// What the pointers are to: it stays where it is when this is moved.
  struct Content;
  explicit ValueInfo(Content content);

  std::shared_ptr<const Content> content;
};

/// Writes entry \p index of \p all to \p to. Usage error where there is none.
Result<void> giveInfo(std::span<const ValueInfo> all, size_t index,
                      const char *what, sinter_value_info *to);

/// \p type as one of our types; a Usage error if it is none.
Result<ElementType> elementTypeOf(sinter_type type);
sinter_type typeOf(ElementType type);

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_VALUEINFO_H
