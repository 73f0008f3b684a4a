//===- Progress.h - progress on standard error ----------------------------===//

#ifndef SINTER_DRIVER_PROGRESS_H
#define SINTER_DRIVER_PROGRESS_H

#include <functional>
#include <string>

namespace sinter::driver {

/// A function that updates "compiling 3 of 27 kernels" on standard error: only
/// on a terminal, only after a second, and erased at the end. Several threads
/// may call it.
std::function<void(unsigned done, unsigned total)>
progressLine(std::string verb, std::string things);

/// A function that updates a line on standard error: only on a terminal, only
/// after a second, at most five times a second. An empty text erases it.
std::function<void(const std::string &text)> statusLine();

/// "45 s", "3 min 20 s", "2 h 5 min", "4 d 3 h".
std::string durationText(double seconds);

} // namespace sinter::driver

#endif // SINTER_DRIVER_PROGRESS_H
