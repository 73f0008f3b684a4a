//===- Unsupported.h - the unsupported operators of a file ----------------===//
//
// Readers continue after an operator that they cannot translate, so that one
// message lists all of these: the count of each kind, and where the first one
// is.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_UNSUPPORTED_H
#define SINTER_FORMATS_IMPORT_UNSUPPORTED_H

#include "runtime/Result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sinter::formats {

/// Operators that are not supported for the same reason.
struct Unsupported {
  int64_t count = 0;
  /// How messages name the first one.
  std::string first;
};

/// "2 x Unique, 1 x Loop", with \p between each two.
std::string listOf(const std::map<std::string, int64_t> &counts,
                   std::string_view between = ", ");

/// Grouped by operator and reason.
class UnsupportedOperators {
public:
  /// \p what, the operator's kind, is not supported at \p place, for a
  /// \p reason that may be empty.
  void add(const std::string &what, const std::string &reason,
           const std::string &place);
  /// Appends all of \p others.
  void addAll(const UnsupportedOperators &others);
  bool empty() const { return all.empty(); }
  /// The first in the order of their names; there is one.
  const std::string &name() const { return all.begin()->first; }
  /// The error with which a reader of \p file ends.
  Error error(const std::string &file) const;

private:
  std::map<std::string, Unsupported> all;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_UNSUPPORTED_H
