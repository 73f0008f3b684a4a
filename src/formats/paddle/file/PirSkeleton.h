//===- PirSkeleton.h - what of a PIR program is kept as text --------------===//
//
// Program::encoded of a program that was read from PIR, taken apart again: the
// operators that Program has no operators for, each with its number among all
// of the file's operators.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIRSKELETON_H
#define SINTER_FORMATS_PADDLE_FILE_PIRSKELETON_H

#include "formats/paddle/file/PirOperator.h"

#include <string_view>
#include <vector>

namespace sinter::paddle {

struct PirSkeleton {
  struct Item {
    RawPirOperator raw;
    /// Its blocks, in order.
    std::vector<PirSkeleton> blocks;
  };
  /// Where the list of operators stands, without its brackets.
  std::string_view operators;
  /// The ids of the block's arguments.
  std::vector<int64_t> arguments;
  std::vector<Item> items;
};

/// The main block of \p text. False where it is not well-formed.
bool parsePirSkeleton(std::string_view text, PirSkeleton &main);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRSKELETON_H
