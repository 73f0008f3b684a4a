//===- PostOptions.cpp - post-processing in commands ----------------------===//

#include "driver/PostOptions.h"

#include "data/TensorFiles.h"
#include "driver/Text.h"
#include "interface/PostChoices.h"
#include "post/ClassMaps.h"
#include "post/PostText.h"
#include "runtime/MappedFile.h"
#include "runtime/Png.h"
#include "runtime/TensorNames.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace sinter::driver {

void addPost(CLI::App &app, PostOptions &options, const std::string &group) {
  addPostSteps(app, options.steps, group);
  app.add_option("--draw", options.drawFolder,
                 "write images with the boxes of --post boxes there")
      ->type_name("DIR")
      ->group(group);
}

bool findsBoxes(const PostProcessing &post) {
  return std::ranges::any_of(post.all(), [](const PostStep &step) {
    return step.kind == PostStep::Kind::Boxes;
  });
}

Result<PostProcessing>
postProcessingFor(const PostOptions &options, const ModelDescription &model,
                  const std::function<void(const std::string &)> &note) {
  Result<std::optional<PostProcessing>> given = postStepsOf(options.steps);
  if (!given)
    return given.takeError();
  Result<PostProcessing> post = *given
                                    ? Result<PostProcessing>(std::move(**given))
                                    : PostProcessing::keptBy(model);
  if (!post)
    return post;
  if (options.steps.empty() && !post->empty())
    note("post-processing that the model keeps: " + post->text() +
         " (--post none leaves it out)");
  if (!options.drawFolder.empty() && !findsBoxes(*post))
    return usageError("--draw needs the boxes of --post boxes");
  return post;
}

/// The image in the file \p path; nothing if it is none.
static Result<std::optional<Tensor>> imageIn(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  if (!isImage((*file)->bytes()))
    return std::optional<Tensor>();
  Result<Tensor> image = decodeImage((*file)->bytes(), path);
  if (!image)
    return image.takeError();
  return std::optional(std::move(*image));
}

std::string imageAmong(const std::vector<std::string> &arguments) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const std::string &argument : arguments)
    for (size_t begin : {size_t(0), argument.find('=') + 1}) {
      const std::string path = argument.substr(begin);
      if (!fs::is_regular_file(path, ignored))
        continue;
      if (auto file = MappedFile::open(path); file && isImage((*file)->bytes()))
        return path;
    }
  return "";
}

/// Moves boxes from the input to its image.
static Result<void> moveToImage(std::vector<PostResult> &found,
                                const PostedSample &sample) {
  using Boxes = std::vector<std::vector<Detection>>;
  const bool hasBoxes = std::ranges::any_of(found, [](const PostResult &each) {
    const auto *boxes = std::get_if<Boxes>(&each.value);
    return boxes && boxes->size() == 1;
  });
  const PictureSize input = {sample.input.height, sample.input.width};
  if (!hasBoxes || sample.image.empty() || input.width <= 0 ||
      input.height <= 0)
    return {};
  Result<std::optional<Tensor>> image = imageIn(sample.image);
  if (!image)
    return image.takeError();
  if (!*image)
    return {};
  for (PostResult &each : found)
    if (auto *boxes = std::get_if<Boxes>(&each.value)) {
      Result<std::vector<Detection>> moved =
          boxesInImage(std::move(boxes->front()),
                       {(*image)->dim(0), (*image)->dim(1)}, input, sample.how);
      if (!moved)
        return moved.takeError();
      boxes->front() = std::move(*moved);
    }
  return {};
}

Result<std::vector<PostResult>> applyPost(const PostProcessing &post,
                                          std::span<const TensorSpec> specs,
                                          std::vector<Tensor> &outputs,
                                          const PostedSample &sample) {
  if (post.empty())
    return std::vector<PostResult>();
  Result<PostResults> results =
      post.apply(namesOf(specs), outputs, sample.input);
  if (!results)
    return results.takeError();
  outputs = std::move(results->outputs);
  if (Result<void> moved = moveToImage(results->found, sample); !moved)
    return moved.takeError();
  return std::move(results->found);
}

void printFound(const std::vector<PostResult> &found,
                const std::vector<std::string> &labels,
                const std::string &prefix) {
  for (const PostResult &each : found)
    for (const std::string &line : postText(each, labels))
      printTo(stdout, "%s%s\n", prefix.c_str(), oneLine(line).c_str());
}

nlohmann::json foundJson(const std::vector<PostResult> &found,
                         const std::vector<std::string> &labels) {
  nlohmann::json all = nlohmann::json::array();
  for (const PostResult &each : found)
    all.push_back(postJson(each, labels));
  return all;
}

Result<void> writeMaps(const std::vector<PostResult> &found,
                       const std::string &folder, const std::string &stem) {
  const auto areMaps = [](const PostResult &each) {
    return std::holds_alternative<std::vector<Tensor>>(each.value);
  };
  const bool areSeveral = std::ranges::count_if(found, areMaps) > 1;
  std::set<std::string> used;
  for (const PostResult &each : found) {
    const auto *maps = std::get_if<std::vector<Tensor>>(&each.value);
    const std::string own =
        areSeveral && maps ? fileName(stem + "_" + each.output, used) : stem;
    for (size_t i = 0; maps && i < maps->size(); ++i) {
      Result<Tensor> bytes = asBytes((*maps)[i]);
      if (!bytes)
        return bytes.takeError();
      Result<std::string> file = encodeClassMap(*bytes);
      if (!file)
        return file.takeError();
      const std::string number =
          maps->size() > 1 ? "_" + std::to_string(i) : "";
      if (Result<void> written = writeFileAtomically(
              folder + "/" + own + "_map" + number + ".png", *file);
          !written)
        return written;
    }
  }
  return {};
}

Result<void> drawBoxes(const std::vector<PostResult> &found,
                       const std::string &path, const std::string &folder,
                       const std::string &stem) {
  for (const PostResult &each : found) {
    const auto *boxes =
        std::get_if<std::vector<std::vector<Detection>>>(&each.value);
    if (!boxes)
      continue;
    if (path.empty() || boxes->size() != 1)
      return usageError("--draw: boxes are drawn into the image of an --input, "
                        "one a run");
    Result<std::optional<Tensor>> image = imageIn(path);
    if (!image)
      return image.takeError();
    if (!*image)
      return usageError("--draw: '" + path + "' is no image");
    Result<std::string> file = encodePng(withBoxes(**image, boxes->front()));
    if (!file)
      return file.takeError();
    return writeFileAtomically(folder + "/" + stem + ".png", *file);
  }
  return {};
}

} // namespace sinter::driver
