//===- ClassMaps.cpp - the class of each pixel ----------------------------===//

#include "post/ClassMaps.h"

#include "metrics/ClassScores.h"

namespace sinter {

Result<std::vector<Tensor>> classMaps(const Tensor &output, bool areLast) {
  Shape shape = output.shape();
  const size_t axis = areLast ? 3 : 1;
  const bool isMap =
      isInteger(output.type()) &&
      (shape.size() == 3 || (shape.size() == 4 && shape[axis] == 1));
  const bool areScores =
      isFloat(output.type()) && shape.size() == 4 && shape[axis] > 1;
  if ((!isMap && !areScores) || output.size() == 0)
    return usageError("argmax-map: scores of [N, classes, height, width], or "
                      "classes of [N, height, width], are expected, not " +
                      toString(output.type(), shape));
  if (shape.size() == 4)
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  std::vector<int64_t> classes;
  if (isMap) {
    for (int64_t i = 0; i < output.size(); ++i)
      classes.push_back(output.toInteger(i));
  } else {
    const ClassScores scores(output, static_cast<int64_t>(axis));
    for (int64_t i = 0; i < scores.rows(); ++i)
      classes.push_back(scores.top(i));
  }
  const size_t pixels = classes.size() / static_cast<size_t>(shape[0]);
  std::vector<Tensor> maps;
  for (int64_t i = 0; i < shape[0]; ++i)
    maps.push_back(Tensor::of<int64_t>(
        ElementType::I64, {shape[1], shape[2]},
        std::span(classes).subspan(static_cast<size_t>(i) * pixels, pixels)));
  return maps;
}

Result<Tensor> asBytes(const Tensor &map) {
  Tensor bytes(ElementType::UI8, map.shape());
  for (int64_t i = 0; i < map.size(); ++i) {
    const int64_t label = map.toInteger(i);
    if (label < 0 || label > 255)
      return usageError("argmax-map: a PNG file has a palette of 256 classes, "
                        "and one is " +
                        std::to_string(label));
    bytes.set<uint8_t>(i, static_cast<uint8_t>(label));
  }
  return bytes;
}

} // namespace sinter
