#include "interface/OnceEach.h"

#include <memory>
#include <mutex>
#include <set>

namespace sinter {

std::function<void(const std::string &)>
onceEach(std::function<void(const std::string &)> note) {
  // Copies of the options load on several threads.
  struct Told {
    std::mutex mutex;
    std::set<std::string> texts;
  };
  return [note = std::move(note),
          told = std::make_shared<Told>()](const std::string &text) {
    const std::lock_guard<std::mutex> lock(told->mutex);
    if (told->texts.insert(text).second)
      note(text);
  };
}

} // namespace sinter
