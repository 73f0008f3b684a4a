#include "formats/import/Unsupported.h"

namespace sinter::formats {

std::string listOf(const std::map<std::string, int64_t> &counts,
                   std::string_view between) {
  std::string text;
  for (const auto &[what, count] : counts) {
    if (!text.empty())
      text += between;
    text += std::to_string(count) + " x " + what;
  }
  return text;
}

void UnsupportedOperators::add(const std::string &what,
                               const std::string &reason,
                               const std::string &place) {
  Unsupported &entry = all[reason.empty() ? what : what + ": " + reason];
  if (entry.count++ == 0)
    entry.first = place;
}

void UnsupportedOperators::addAll(const UnsupportedOperators &others) {
  for (const auto &[what, entry] : others.all) {
    auto [known, isNew] = all.try_emplace(what, entry);
    if (!isNew)
      known->second.count += entry.count;
  }
}

Error UnsupportedOperators::error(const std::string &file) const {
  std::string text = file + ": unsupported: ";
  bool first = true;
  for (const auto &[what, entry] : all) {
    text += first ? "" : "; ";
    text += std::to_string(entry.count) + " x " + what +
            (entry.count > 1 ? ", first at " : ", at ") + entry.first;
    first = false;
  }
  return unsupported(text);
}

} // namespace sinter::formats
