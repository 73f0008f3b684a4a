//===- ClassMaps.h - the class of each pixel ------------------------------===//

#ifndef SINTER_POST_CLASSMAPS_H
#define SINTER_POST_CLASSMAPS_H

#include "runtime/Tensor.h"

#include <vector>

namespace sinter {

/// The class of each pixel of each image of \p output, i64 of [height, width]:
/// that with the greatest score of [N, classes, height, width] (\p areLast: [N,
/// height, width, classes]), or the value itself of integers [N, height,
/// width], [N, 1, height, width]. Usage error for other tensors.
Result<std::vector<Tensor>> classMaps(const Tensor &output, bool areLast);

/// \p map as ui8, for a PNG file. Usage error if a class is not from 0 to 255.
Result<Tensor> asBytes(const Tensor &map);

} // namespace sinter

#endif // SINTER_POST_CLASSMAPS_H
