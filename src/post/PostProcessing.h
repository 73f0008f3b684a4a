//===- PostProcessing.h - steps from outputs to answers -------------------===//
//
//   softmax                scores become probabilities
//   top-k=5                the classes with the greatest scores of each row
//   argmax-map             the class of each pixel
//   ctc=chars.txt          texts; a file of characters, a line each
//   boxes:score=0.3        boxes of detectors
//
// A step is a name, for some with a value, and settings behind colons:
// `boxes:head=yolov8:iou=0.5`. `output=NAME` selects the output of any step;
// without it a step is for the first output that fits.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_POST_POSTPROCESSING_H
#define SINTER_POST_POSTPROCESSING_H

#include "engine/ModelDescription.h"
#include "post/BoxDecoding.h"
#include "post/CtcDecoding.h"
#include "runtime/Image.h"

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace sinter {

/// One step and its settings.
struct PostStep {
  enum class Kind { Softmax, TopK, ArgmaxMap, Ctc, Boxes };
  Kind kind = Kind::Softmax;
  /// Empty: the first output that fits.
  std::string output;
  /// Of TopK.
  int64_t most = 5;
  /// Of ArgmaxMap: whether classes are the last dimension.
  bool areClassesLast = false;
  CtcOptions ctc;
  BoxOptions boxes;
};

/// "top-k" and the like.
std::string nameOf(PostStep::Kind kind);

/// A class, and its score.
struct RankedClass {
  int64_t label = 0;
  double score = 0;
};

/// What a step makes of an output.
struct PostResult {
  PostStep::Kind kind = PostStep::Kind::TopK;
  /// The name of the output; empty for boxes of several.
  std::string output;
  /// By row, by image, by text, by image.
  std::variant<std::vector<std::vector<RankedClass>>, std::vector<Tensor>,
               std::vector<DecodedText>, std::vector<std::vector<Detection>>>
      value;
};

/// The outputs after all steps, and what the steps found.
struct PostResults {
  std::vector<Tensor> outputs;
  std::vector<PostResult> found;
};

/// The size of the images that a model gets.
struct PostInput {
  int64_t width = 0, height = 0;
};

/// The size of the first of \p inputs that may be an image; 0: there is none,
/// or its size is not known.
PostInput imageAmong(std::span<const Shape> inputs, ImageLayout layout);

/// The key of a model's metadata that keeps its steps.
inline constexpr const char *postprocessingKey = "sinter.postprocessing";

class PostProcessing {
public:
  /// Parses \p texts, a step each. Usage errors that start with \p what name
  /// the steps and settings there are; System if a file cannot be read.
  static Result<PostProcessing> parse(const std::vector<std::string> &texts,
                                      const std::string &what);
  /// As toMetadata() gives it.
  static Result<PostProcessing> fromMetadata(const std::string &text);
  /// The steps that the metadata of \p model keep; none if they keep none.
  static Result<PostProcessing> keptBy(const ModelDescription &model);
  /// As JSON, without the names of files: for a model's metadata.
  std::string toMetadata() const;

  /// With a step for boxes, if \p wanted, and with its settings but for the
  /// least score, which is \p score unless it is set.
  PostProcessing withBoxes(bool wanted, double score) const;

  bool empty() const { return steps.empty(); }
  const std::vector<PostStep> &all() const { return steps; }
  /// "softmax, top-k=5".
  std::string text() const;

  /// Usage error if an output does not fit a step.
  Result<PostResults> apply(const std::vector<std::string> &names,
                            std::vector<Tensor> outputs,
                            const PostInput &input) const;

private:
  std::vector<PostStep> steps;
};

} // namespace sinter

#endif // SINTER_POST_POSTPROCESSING_H
