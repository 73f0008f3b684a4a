//===- AliasWeights.h - bounds the expansion of aliases in a text ---------===//

#ifndef SINTER_FORMATS_STABLEHLO_ALIASWEIGHTS_H
#define SINTER_FORMATS_STABLEHLO_ALIASWEIGHTS_H

#include "formats/stablehlo/TextTokens.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace sinter {

/// Follows the definitions `!pair = tuple<!x, !x>` and `#list = [#x, #x]` of a
/// text. A few lines of those can expand to more nested types and attributes
/// than can be walked or printed, so these are counted before MLIR builds them.
/// Locations do not count: shared ones are walked only once.
class AliasWeights {
public:
  explicit AliasWeights(std::string_view text) : text(text) {}

  /// Processes the next token, which \p next follows; false if an alias expands
  /// too far.
  bool see(const TextToken &token, const TextToken &next);

private:
  std::string_view text;
  std::unordered_map<std::string_view, uint64_t> weights;
  /// The alias that is being defined; empty outside of definitions.
  std::string_view open;
  uint64_t weight = 0;
  int64_t depth = 0;
  size_t last = 0;
};

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_ALIASWEIGHTS_H
