//===- ExitCodes.h - what the exit codes of the command mean --------------===//

#ifndef SINTER_DRIVER_EXITCODES_H
#define SINTER_DRIVER_EXITCODES_H

#include <span>
#include <string_view>

namespace sinter::driver {

struct ExitCodeRow {
  int code;
  std::string_view meaning;
};

/// All of them: the kinds of errors (runtime/Result.h), and success.
std::span<const ExitCodeRow> exitCodes();

} // namespace sinter::driver

#endif // SINTER_DRIVER_EXITCODES_H
