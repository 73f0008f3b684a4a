//===- Overwrite.h - which files of a model its output may replace --------===//

#ifndef SINTER_ENGINE_OVERWRITE_H
#define SINTER_ENGINE_OVERWRITE_H

#include <cstdint>

namespace sinter {

/// Which files of the model that was read an output may replace.
enum class Overwrite : uint8_t {
  Nothing,
  Files,   ///< Files that a model is made of which was named by its file.
  Anything ///< The folder of a model, too.
};

} // namespace sinter

#endif // SINTER_ENGINE_OVERWRITE_H
