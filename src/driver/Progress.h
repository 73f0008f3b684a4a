//===- Progress.h - progress on standard error ----------------------------===//
//
//     quantising net.onnx, 3 s
//     compiling 12 of 27 kernels [#########-----------] 8.1/s, 2 s left
//
// One line, on a terminal only, which is erased before anything else is printed
// and at the end. A thread draws it twice a second, so that a user sees that
// the command works even where it has no count to show.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_PROGRESS_H
#define SINTER_DRIVER_PROGRESS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace sinter::driver {

/// What the command does while this lives. Of several the newest is shown, from
/// a second after the first one began on. Any thread may call it.
class Activity {
public:
  /// \p what: "quantising net.onnx".
  explicit Activity(std::string_view what);
  ~Activity();
  Activity(const Activity &) = delete;
  Activity &operator=(const Activity &) = delete;

  /// \p done of \p total \p things are done: "kernels". \p detail is shown
  /// behind the bar.
  void update(uint64_t done, uint64_t total, const std::string &things,
              const std::string &detail = "");

  struct State;

private:
  std::shared_ptr<State> state;
};

/// A function that shows "compiling 3 of 27 kernels", with a bar, from its
/// first call until all are done. Several threads may call it.
std::function<void(unsigned done, unsigned total)>
progressLine(std::string verb, std::string things);

/// Erases the line, before \p text is printed to a terminal. It is not drawn
/// again until a line of output is complete.
void makeRoomFor(const std::string &text);

/// The line for \p done of \p total (0: unknown) \p things that were done in
/// \p seconds, beside \p before others that were done already; in \p width
/// columns.
std::string progressText(const std::string &what, uint64_t done, uint64_t total,
                         const std::string &things, const std::string &detail,
                         double seconds, size_t width, uint64_t before);

/// "45 s", "3 min 20 s", "2 h 5 min", "4 d 3 h".
std::string durationText(double seconds);

} // namespace sinter::driver

#endif // SINTER_DRIVER_PROGRESS_H
