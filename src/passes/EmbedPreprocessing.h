//===- EmbedPreprocessing.h - images of any size as inputs ----------------===//
//
//   main(x : 1x3x224x224xf32)
//     ->  main(x : 1x?x?x3xui8) with
//           y = rows(h) . convert(x) . columns(w)
//           z = transpose(y) * scale - mean) / std
//
// An input for prepared images becomes one for the pixels of an image as it is,
// red, green and blue, of any height and width; what runtime/Image.h does
// outside of a model is computed in front of it. Resizing, fitting and cropping
// together are a product with a matrix for each of the two dimensions, whose
// elements are the coefficients of the filter (runtime/ImageGeometry.h),
// computed from the image's sizes. So values are those of imageToInput but for
// rounding, and every format can express them.
//
// Restrictions:
//   - one input only can be an image: rank 4, or 3 without a batch, of a float
//     type or ui8, with 1 or 3 channels in the layout of the options;
//   - its height and width are static, or the options give them, or both are
//     dynamic and images are not resized, cropped or padded;
//   - where a crop exceeds an image that is not resized, there is padding: a
//     graph cannot refuse a size.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_EMBEDPREPROCESSING_H
#define SINTER_PASSES_EMBEDPREPROCESSING_H

#include "graph/Model.h"
#include "runtime/Image.h"

namespace sinter {

/// Makes the image input of \p model one for pixels. Usage errors if there is
/// not one such input, or the options do not fit it.
Result<void> embedPreprocessing(Model &model, const ImageOptions &how);

} // namespace sinter

#endif // SINTER_PASSES_EMBEDPREPROCESSING_H
