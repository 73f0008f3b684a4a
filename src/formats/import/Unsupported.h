//===- Unsupported.h - what of a file is not supported --------------------===//
//
// Readers go on behind an operator that they cannot translate, so that a
// message names all of these at once: how many there are of each kind, and
// where the first one stands.
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

/// By operator and reason, as add() puts them together.
class UnsupportedOperators {
public:
  /// \p what, the operator's kind, is not supported at \p place, for a
  /// \p reason that may be empty.
  void add(const std::string &what, const std::string &reason,
           const std::string &place);
  /// All of \p others, behind those that are here.
  void addAll(const UnsupportedOperators &others);
  bool empty() const { return all.empty(); }
  /// The first in the order of their names; there is one.
  const std::string &name() const { return all.begin()->first; }
  /// What a reader of \p file ends with.
  Error error(const std::string &file) const;

private:
  std::map<std::string, Unsupported> all;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_UNSUPPORTED_H
