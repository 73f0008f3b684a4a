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

} // namespace sinter::driver

#endif // SINTER_DRIVER_PROGRESS_H
