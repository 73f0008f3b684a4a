//===- Strings.h - the elements of tensors of strings ---------------------===//
//
// An element of type ElementType::STRING is a handle of eight bytes: of the
// text that it stands for, of which the process keeps one copy. Two handles are
// equal exactly if their texts are, and the handle 0 is the empty text. So all
// code that moves elements moves strings, and comparing them is comparing
// integers; only what reads or makes texts asks for them here. The order of
// handles means nothing.
//
// A text lives as long as somebody holds it: a StringHolder. A tensor that is
// given away holds its texts (holdStrings). While a model runs, one holder
// holds all texts that the run makes (StringScope), so that tensors inside the
// run are plain memory.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_STRINGS_H
#define SINTER_RUNTIME_STRINGS_H

#include "runtime/Tensor.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sinter {

using StringHandle = uint64_t;

/// Keeps texts alive. For one thread at a time.
class StringHolder {
public:
  StringHolder() = default;
  StringHolder(const StringHolder &) = delete;
  StringHolder &operator=(const StringHolder &) = delete;
  ~StringHolder();

  /// The handle of \p text, which is held.
  StringHandle hold(std::string_view text);
  /// Holds the text of \p handle, which somebody else holds now.
  void hold(StringHandle handle);

private:
  /// Texts by themselves, and their handles.
  std::unordered_map<std::string_view, StringHandle> held;
};

/// While one exists, internString() on this thread holds texts as long as it
/// does, or as the outermost one on the thread, if there are several.
class StringScope {
public:
  StringScope();
  ~StringScope();
  StringScope(const StringScope &) = delete;
  StringScope &operator=(const StringScope &) = delete;

private:
  StringHolder holder;
  bool isOutermost;
};

/// The handle of \p text, which the thread's StringScope holds; without one,
/// the process does for ever.
StringHandle internString(std::string_view text);

/// The text of a handle that somebody holds.
std::string_view stringOf(StringHandle handle);

/// Element \p index of a tensor of strings.
inline std::string_view stringAt(const Tensor &tensor, int64_t index) {
  return stringOf(tensor.at<StringHandle>(index));
}

/// A tensor of these strings, as many as \p shape says, which holds them. The
/// thread's StringScope, if there is one, holds them, too.
Tensor stringTensor(Shape shape, std::span<const std::string_view> texts);
Tensor stringTensor(Shape shape, std::span<const std::string> texts);

/// A tensor over the same elements that holds the strings among them, which
/// somebody else holds now; \p tensor itself if it has other elements.
Tensor holdStrings(Tensor tensor);
void holdStrings(std::span<Tensor> tensors);

} // namespace sinter

#endif // SINTER_RUNTIME_STRINGS_H
