//===- OnceEach.h - notes that are printed once ---------------------------===//

#ifndef SINTER_INTERFACE_ONCEEACH_H
#define SINTER_INTERFACE_ONCEEACH_H

#include <functional>
#include <string>

namespace sinter {

/// Passes each text to \p note once, from whichever thread. Copies share what
/// has been passed.
std::function<void(const std::string &)>
onceEach(std::function<void(const std::string &)> note);

} // namespace sinter

#endif // SINTER_INTERFACE_ONCEEACH_H
