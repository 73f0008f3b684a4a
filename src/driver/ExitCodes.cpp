#include "driver/ExitCodes.h"

namespace sinter::driver {

std::span<const ExitCodeRow> exitCodes() {
  static constexpr ExitCodeRow rows[] = {
      {0, "done"},
      {1, "wrong result: a test, a comparison or a bound failed"},
      {2, "wrong usage: an option, a name, a size or a given value that does "
          "not fit the model"},
      {3, "the file is not a valid model"},
      {4, "something in the model is not supported, or this machine cannot run "
          "what was asked for"},
      {5, "the system failed: a file that cannot be read or written, damaged "
          "data, too little memory"}};
  return rows;
}

} // namespace sinter::driver
