//===- BoxDecoding.h - boxes in the outputs of detectors ------------------===//
//
//   yolov8    [N, 4 + classes, boxes]      centre and size, scores
//   yolov5    [N, boxes, 5 + classes]      centre and size, objectness, scores
//   end2end   [N, boxes, 6]                corners, score, class
//   list      boxes [N, boxes, 4], scores and classes [N, boxes], or scores of
//             all classes [N, boxes, classes]; or all without N
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_POST_BOXDECODING_H
#define SINTER_POST_BOXDECODING_H

#include "metrics/Boxes.h"
#include "runtime/Executor.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// The layout of a detector's outputs; Auto: by their shapes.
enum class BoxHead { Auto, Yolov8, Yolov5, EndToEnd, List };

/// What the four coordinates of a box are.
enum class BoxForm {
  Corners,        ///< left, top, right, bottom
  SwappedCorners, ///< top, left, bottom, right
  CornerAndSize,  ///< left, top, width, height
  CentreAndSize   ///< x and y of the centre, width, height
};

struct BoxOptions {
  BoxHead head = BoxHead::Auto;
  /// Nothing: that of the head.
  std::optional<BoxForm> form;
  /// Detections with a lower score are left out; nothing: 0.25.
  std::optional<double> score;
  /// As for suppressed(); nothing: 0.45, or for heads whose boxes are final no
  /// suppression.
  std::optional<double> overlap;
  size_t most = 300;
  /// Whether coordinates are fractions of the input's width and height.
  bool areRelative = false;
};

/// The names of heads and forms in options.
std::optional<BoxHead> boxHeadNamed(const std::string &text);
std::optional<BoxForm> boxFormNamed(const std::string &text);
std::string nameOf(BoxHead head);
std::string nameOf(BoxForm form);

/// Whether one of \p outputs has the shape of a head of YOLO, whose scores are
/// those of \p classes classes beside the coordinates of boxes.
bool mayBeDetector(const std::vector<TensorSpec> &outputs, size_t classes);

/// The detections of each image of a batch, best first, in the pixels of the
/// model's input, whose \p width and \p height count only for relative
/// coordinates. Detections with coordinates or scores that are not finite are
/// left out. Usage error if \p outputs, called \p names, are no such head, or
/// their shapes allow several.
Result<std::vector<std::vector<Detection>>>
decodeBoxes(const std::vector<std::string> &names,
            const std::vector<Tensor> &outputs, const BoxOptions &options,
            int64_t width, int64_t height);

} // namespace sinter

#endif // SINTER_POST_BOXDECODING_H
