//===- SessionNotes.h - notes that users get once a session ---------------===//

#ifndef SINTER_ENGINE_SESSIONNOTES_H
#define SINTER_ENGINE_SESSIONNOTES_H

#include "engine/SessionOptions.h"

#include <set>

namespace sinter {

/// What a note is about of which a session gives the first one only: the next
/// sizes and values are compiled in the same way, for the same reason.
enum class NoteTopic {
  /// Dimensions are not dynamic.
  StaticSizes,
  /// Inputs are beyond the shape guards of a program.
  ShapeGuards,
  /// Sizes follow from values, and the program is for some values.
  GivenValues,
  /// There is one more program, for other branches.
  OtherBranches
};

/// Gives notes to SessionOptions::note, if that is set.
class SessionNotes {
public:
  explicit SessionNotes(const SessionOptions &options) : options(options) {}

  void note(const std::string &text) const {
    if (options.note)
      options.note(text);
  }
  void noteOnce(NoteTopic topic, const std::string &text) {
    if (options.note && given.insert(topic).second)
      options.note(text);
  }

private:
  const SessionOptions &options;
  std::set<NoteTopic> given;
};

} // namespace sinter

#endif // SINTER_ENGINE_SESSIONNOTES_H
