//===- ThisProgram.h - the file of the running program --------------------===//

#ifndef SINTER_DRIVER_THISPROGRAM_H
#define SINTER_DRIVER_THISPROGRAM_H

#include <string>

namespace sinter::driver {

/// A path by which the running program can be started again.
std::string thisProgram();

} // namespace sinter::driver

#endif // SINTER_DRIVER_THISPROGRAM_H
