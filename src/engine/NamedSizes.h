//===- NamedSizes.h - sizes of dynamic dimensions by their names ----------===//

#ifndef SINTER_ENGINE_NAMEDSIZES_H
#define SINTER_ENGINE_NAMEDSIZES_H

#include "engine/Binding.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// Sizes of dynamic dimensions, by their symbols.
using SymbolSizes = std::map<std::string, int64_t>;

/// \p given, with the size of each symbol of \p sizes wherever an input of \p
/// model has the dimension: by the inputs' main names. The Usage error, of the
/// option called \p option, says that no input has it, or that \p given has
/// another size there.
Result<NamedShapes> withSizes(const ModelDescription &model,
                              const SymbolSizes &sizes,
                              const NamedShapes &given,
                              std::string_view option);

/// Checks that \p model has a dynamic dimension of each of \p symbols. Usage
/// error of the option called \p option.
Result<void> checkSymbols(const ModelDescription &model,
                          std::span<const std::string> symbols,
                          std::string_view option);

} // namespace sinter

#endif // SINTER_ENGINE_NAMEDSIZES_H
