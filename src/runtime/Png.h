//===- Png.h - class maps and images in PNG files -------------------------===//

#ifndef SINTER_RUNTIME_PNG_H
#define SINTER_RUNTIME_PNG_H

#include "runtime/Tensor.h"

#include <array>
#include <cstdint>
#include <string>

namespace sinter {

using Colour = std::array<uint8_t, 3>;

/// The colour of a class in the palette of the PASCAL VOC challenge, whose bits
/// are those of the class, in reverse: black, dark red, dark green, ...
Colour classColour(uint8_t label);

/// The classes in a PNG file, ui8 of shape [height, width]: the indices of an
/// image with a palette, the values of a grey one. Usage error for other
/// images; System errors for damaged ones. \p name is for messages.
Result<Tensor> decodeClassMap(std::span<const std::byte> bytes,
                              const std::string &name);

/// A PNG file of \p classes, ui8 of shape [height, width], with the palette of
/// classColour().
Result<std::string> encodeClassMap(const Tensor &classes);
/// A PNG file of \p image, ui8 of shape [height, width, 1 or 3].
Result<std::string> encodePng(const Tensor &image);

} // namespace sinter

#endif // SINTER_RUNTIME_PNG_H
