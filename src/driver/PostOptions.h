//===- PostOptions.h - post-processing in commands ------------------------===//

#ifndef SINTER_DRIVER_POSTOPTIONS_H
#define SINTER_DRIVER_POSTOPTIONS_H

#include "engine/ModelDescription.h"
#include "post/BoxDrawing.h"
#include "post/PostProcessing.h"
#include "runtime/Executor.h"
#include "runtime/Image.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sinter::driver {

struct PostOptions {
  /// Steps as PostProcessing::parse takes them.
  std::vector<std::string> steps;
  /// The folder of images with boxes; empty: none are drawn.
  std::string drawFolder;
};

/// --post and --draw.
void addPost(CLI::App &app, PostOptions &options, const std::string &group);

/// The steps of \p options, or those that \p model keeps, which \p note
/// gets. Usage error for --draw without a step for boxes.
Result<PostProcessing>
postProcessingFor(const PostOptions &options, const ModelDescription &model,
                  const std::function<void(const std::string &)> &note);

/// Whether one of the steps is for boxes.
bool findsBoxes(const PostProcessing &post);

/// The steps of a run, and where their images go.
struct RunPost {
  PostProcessing steps;
  /// Empty: no boxes are drawn.
  std::string drawFolder;
  /// How images became inputs.
  ImageOptions how;
};

/// The sample whose outputs are processed.
struct PostedSample {
  /// The size of the input that may be an image.
  PostInput input;
  ImageOptions how;
  /// The file of that image; if it is none, boxes stay in the pixels of the
  /// input.
  std::string image;
};

/// The first image among \p arguments, which are as InputOptions has them;
/// empty if none is.
std::string imageAmong(const std::vector<std::string> &arguments);

/// Applies \p post to the \p outputs of a sample, which become those after all
/// steps; boxes get the pixels of the sample's image.
Result<std::vector<PostResult>> applyPost(const PostProcessing &post,
                                          std::span<const TensorSpec> specs,
                                          std::vector<Tensor> &outputs,
                                          const PostedSample &sample);

/// Prints what was found, each line with \p prefix in front.
void printFound(const std::vector<PostResult> &found,
                const std::vector<std::string> &labels,
                const std::string &prefix);
/// An array of what was found (sinter::postJson).
nlohmann::json foundJson(const std::vector<PostResult> &found,
                         const std::vector<std::string> &labels);

/// Writes class maps as PNG files with a palette to \p folder, as STEM_map.png,
/// or STEM_map_I.png for several images; with the output's name behind the stem
/// where maps are of several outputs.
Result<void> writeMaps(const std::vector<PostResult> &found,
                       const std::string &folder, const std::string &stem);
/// Writes the image at \p path with the boxes found to \p folder, as STEM.png.
/// Usage error if it is no image.
Result<void> drawBoxes(const std::vector<PostResult> &found,
                       const std::string &path, const std::string &folder,
                       const std::string &stem);

} // namespace sinter::driver

#endif // SINTER_DRIVER_POSTOPTIONS_H
