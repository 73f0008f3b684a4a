//===- BoxTruth.h - the boxes of a data set in COCO's form ----------------===//
//
//   {"images": [{"id": 1, "file_name": "a.jpg", "height": 480, "width": 640}],
//    "annotations": [{"image_id": 1, "category_id": 3, "bbox": [x, y, w, h],
//                     "iscrowd": 0}],
//    "categories": [{"id": 3, "name": "car"}]}
//
// Or, without `images`, annotations that have the image's `file_name`
// themselves.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_EVALUATE_BOXTRUTH_H
#define SINTER_EVALUATE_BOXTRUTH_H

#include "data/Augmentation.h"
#include "metrics/Boxes.h"
#include "runtime/Result.h"

#include <map>
#include <string>
#include <vector>

namespace sinter {

struct BoxTruth {
  struct Image {
    std::vector<TrueBox> boxes;
    /// 0: the file does not say.
    PictureSize size;
  };
  /// By the name of the file, without folders.
  std::map<std::string, Image> images;
  /// The names of categories by their ids; empty if the file has none.
  std::map<int64_t, std::string> categories;
};

/// Reads the file \p path; \p what names it in messages. System errors if it
/// cannot be read or is no JSON, Usage errors for annotations without an image,
/// a category or four numbers.
Result<BoxTruth> readBoxTruth(const std::string &path, const std::string &what);
/// The same from its contents.
Result<BoxTruth> parseBoxTruth(const std::string &contents,
                               const std::string &where);

} // namespace sinter

#endif // SINTER_EVALUATE_BOXTRUTH_H
