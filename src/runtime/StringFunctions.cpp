//===- StringFunctions.cpp - what computes with tensors of strings --------===//

#include "runtime/StringFunctions.h"

#include "runtime/Strings.h"
#include "runtime/Utf8.h"

#include <algorithm>
#include <cwctype>
#include <locale.h>

namespace sinter {

void concatStrings(const Tensor &lhs, const Tensor &rhs, Tensor &to) {
  std::string text;
  for (int64_t i = 0; i < to.size(); ++i) {
    text = stringAt(lhs, i);
    text += stringAt(rhs, i);
    to.set<StringHandle>(i, internString(text));
  }
}

//===----------------------------------------------------------------------===//
// Upper and lower case
//===----------------------------------------------------------------------===//

namespace {

/// Whether letters i have a dot or none in both cases.
bool hasDotlessLetters(std::string_view locale) {
  const std::string_view language =
      locale.substr(0, locale.find_first_of("_-."));
  return language == "tr" || language == "az";
}

char32_t withCase(char32_t character, bool upper, bool dotless) {
  constexpr char32_t dotlessSmall = 0x131, dottedLarge = 0x130;
  if (dotless && upper && character == 'i')
    return dottedLarge;
  if (dotless && !upper && character == 'I')
    return dotlessSmall;
  // The same in every process, whatever its locale is.
  static const locale_t unicode =
      ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const auto wide = static_cast<wint_t>(character);
  if (unicode == nullptr)
    return character < 0x80 ? (upper ? ::towupper(wide) : ::towlower(wide))
                            : character;
  return upper ? ::towupper_l(wide, unicode) : ::towlower_l(wide, unicode);
}

} // namespace

std::optional<std::string> withCase(std::string_view text, bool upper,
                                    std::string_view locale) {
  const bool dotless = hasDotlessLetters(locale);
  std::string result;
  while (!text.empty()) {
    const std::optional<char32_t> character = takeUtf8(text);
    if (!character)
      return std::nullopt;
    appendUtf8(result, withCase(*character, upper, dotless));
  }
  return result;
}

Result<void> changeCase(const Tensor &texts, bool upper,
                        std::string_view locale, Tensor &to) {
  for (int64_t i = 0; i < to.size(); ++i) {
    const std::optional<std::string> text =
        withCase(stringAt(texts, i), upper, locale);
    if (!text)
      return usageError("string " + std::to_string(i) + " is no valid UTF-8");
    to.set<StringHandle>(i, internString(*text));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Order and keys
//===----------------------------------------------------------------------===//

void rankStrings(const Tensor &texts, Tensor &to) {
  std::vector<StringHandle> all(static_cast<size_t>(texts.size()));
  for (int64_t i = 0; i < texts.size(); ++i)
    all[static_cast<size_t>(i)] = texts.at<StringHandle>(i);
  std::ranges::sort(all);
  const auto rest = std::ranges::unique(all);
  all.erase(rest.begin(), rest.end());
  std::ranges::sort(all, {}, stringOf);
  std::unordered_map<StringHandle, int64_t> ranks;
  for (const StringHandle each : all)
    ranks.emplace(each, static_cast<int64_t>(ranks.size()));
  for (int64_t i = 0; i < texts.size(); ++i)
    to.set<int64_t>(i, ranks.find(texts.at<StringHandle>(i))->second);
}

void StringPlaces::setKeys(const Tensor &keys) {
  const std::span<const StringHandle> given = keys.values<StringHandle>();
  // Texts are equal where handles are, in this run as in the last one.
  if (std::ranges::equal(known, given))
    return;
  known.assign(given.begin(), given.end());
  places.clear();
  for (size_t i = 0; i < known.size(); ++i)
    places.try_emplace(known[i], static_cast<int64_t>(i));
}

void StringPlaces::find(const Tensor &texts, Tensor &to) const {
  for (int64_t i = 0; i < texts.size(); ++i) {
    const auto at = places.find(texts.at<StringHandle>(i));
    to.set<int64_t>(i, at == places.end() ? -1 : at->second);
  }
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The length of the white space at the start of \p text; 0 if there is none.
static size_t spaceLength(std::string_view text) {
  std::string_view rest = text;
  const std::optional<char32_t> character = takeUtf8(rest);
  if (!character)
    return 0;
  const char32_t c = *character;
  // Unicode's White_Space, and the separators of ASCII as Python's str has it.
  const bool isSpace = (c >= 0x9 && c <= 0xD) || (c >= 0x1C && c <= 0x20) ||
                       c == 0x85 || c == 0xA0 || c == 0x1680 ||
                       (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
                       c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
  return isSpace ? text.size() - rest.size() : 0;
}

static void skipSpace(std::string_view &text) {
  while (!text.empty()) {
    const size_t length = spaceLength(text);
    if (length == 0)
      return;
    text.remove_prefix(length);
  }
}

/// The bytes before the first white space.
static size_t wordLength(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && spaceLength(text.substr(length)) == 0)
    length += std::max<size_t>(utf8Length(text.substr(length)), 1);
  return std::min(length, text.size());
}

std::vector<std::string_view>
partsOfString(std::string_view text, std::string_view delimiter, int64_t most) {
  std::vector<std::string_view> parts;
  auto mayGoOn = [&] {
    return most < 0 || static_cast<int64_t>(parts.size()) < most;
  };
  if (delimiter.empty()) {
    for (skipSpace(text); !text.empty(); skipSpace(text)) {
      const size_t length = mayGoOn() ? wordLength(text) : text.size();
      parts.push_back(text.substr(0, length));
      text.remove_prefix(length);
    }
    return parts;
  }
  while (mayGoOn()) {
    const size_t at = text.find(delimiter);
    if (at == std::string_view::npos)
      break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  parts.push_back(text);
  return parts;
}

void countParts(const Tensor &texts, std::string_view delimiter, int64_t most,
                Tensor &counts) {
  for (int64_t i = 0; i < texts.size(); ++i)
    counts.set<int64_t>(
        i, static_cast<int64_t>(
               partsOfString(stringAt(texts, i), delimiter, most).size()));
}

Result<void> splitStrings(const Tensor &texts, std::string_view delimiter,
                          int64_t most, Tensor &parts) {
  const int64_t width = parts.shape().back();
  for (int64_t i = 0; i < texts.size(); ++i) {
    const std::vector<std::string_view> found =
        partsOfString(stringAt(texts, i), delimiter, most);
    if (static_cast<int64_t>(found.size()) > width)
      return usageError("string " + std::to_string(i) + " has " +
                        std::to_string(found.size()) + " parts, more than " +
                        std::to_string(width));
    for (int64_t k = 0; k < width; ++k)
      parts.set<StringHandle>(i * width + k,
                              k < static_cast<int64_t>(found.size())
                                  ? internString(found[static_cast<size_t>(k)])
                                  : 0);
  }
  return {};
}

} // namespace sinter
