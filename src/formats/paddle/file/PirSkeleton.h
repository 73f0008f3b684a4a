//===- PirSkeleton.h - the text that is kept of a PIR program -------------===//
//
// Program::encoded of a program that was read from PIR, parsed again: the PIR
// operators that have no Operator in Program, each with its index among all of
// the file's operators.
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
  /// The text of the list of operators, without its brackets.
  std::string_view operators;
  /// The ids of the block's arguments.
  std::vector<int64_t> arguments;
  std::vector<Item> items;
};

/// Parses the main block of \p text. False if it is not well-formed.
bool parsePirSkeleton(std::string_view text, PirSkeleton &main);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRSKELETON_H
