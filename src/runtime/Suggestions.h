//===- Suggestions.h - what a wrong name may stand for --------------------===//

#ifndef SINTER_RUNTIME_SUGGESTIONS_H
#define SINTER_RUNTIME_SUGGESTIONS_H

#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// The entry of \p candidates closest to \p text, for "did you mean"; empty if
/// none is close (a Levenshtein distance of at most a third of its length).
std::string nearMiss(std::string_view text,
                     std::span<const std::string> candidates);
/// "did you mean 'x'?", or nothing.
std::string didYouMean(std::string_view text,
                       std::span<const std::string> candidates);
/// The same; where there is nothing, "there are 'a', 'b' and 'c'".
std::string suggestion(std::string_view text,
                       std::span<const std::string> candidates);
/// "'a', 'b' and 'c'".
std::string quotedList(std::span<const std::string> names);

} // namespace sinter

#endif // SINTER_RUNTIME_SUGGESTIONS_H
