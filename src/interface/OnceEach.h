//===- OnceEach.h - notes that are told once ------------------------------===//

#ifndef SINTER_INTERFACE_ONCEEACH_H
#define SINTER_INTERFACE_ONCEEACH_H

#include <functional>
#include <string>

namespace sinter {

/// Gives \p note each text once, whichever thread has it. Copies share what has
/// been told.
std::function<void(const std::string &)>
onceEach(std::function<void(const std::string &)> note);

} // namespace sinter

#endif // SINTER_INTERFACE_ONCEEACH_H
