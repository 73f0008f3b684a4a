//===- Progress.h - a line that says how far things are -------------------===//

#ifndef SINTER_DRIVER_PROGRESS_H
#define SINTER_DRIVER_PROGRESS_H

#include <functional>
#include <string>

namespace sinter::driver {

/// A function that keeps "compiling 3 of 27 kernels" up to date on standard
/// error: only on a terminal, only once a second has passed, and gone when all
/// is done. It may be called from several threads.
std::function<void(unsigned done, unsigned total)>
progressLine(std::string verb, std::string things);

/// A function that keeps a line on standard error: only on a terminal, only
/// once a second has passed, at most five times a second. An empty text takes
/// it away.
std::function<void(const std::string &text)> statusLine();

/// "45 s", "3 min 20 s", "2 h 5 min", "4 d 3 h".
std::string durationText(double seconds);

} // namespace sinter::driver

#endif // SINTER_DRIVER_PROGRESS_H
