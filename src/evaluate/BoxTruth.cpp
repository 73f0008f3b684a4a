//===- BoxTruth.cpp - the boxes of a data set in COCO's form --------------===//

#include "evaluate/BoxTruth.h"

#include "runtime/MappedFile.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace sinter {

namespace {

using Json = nlohmann::json;

/// Reads the parts of a file in COCO's form.
class BoxTruthReader {
public:
  explicit BoxTruthReader(const std::string &where) : where(where) {}

  Result<BoxTruth> read(const std::string &contents);

private:
  Error wrong(const std::string &what) const {
    return usageError(where + ": " + what);
  }
  Result<void> readImages(const Json &images);
  Result<void> readCategories(const Json &categories);
  Result<void> readAnnotation(const Json &annotation, size_t number);
  Result<std::string> imageOf(const Json &annotation,
                              const std::string &which) const;

  const std::string &where;
  BoxTruth truth;
  std::map<int64_t, std::string> fileOfImage;
};

/// The member \p name of \p object, if it is an integer.
std::optional<int64_t> integerIn(const Json &object, const char *name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer())
    return std::nullopt;
  return found->get<int64_t>();
}

std::optional<std::string> fileIn(const Json &object) {
  const auto found = object.find("file_name");
  if (found == object.end() || !found->is_string())
    return std::nullopt;
  return std::filesystem::path(found->get<std::string>()).filename().string();
}

/// The array \p name of \p object; nothing if it has none.
const Json *arrayIn(const Json &object, const char *name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? &*found : nullptr;
}

} // namespace

Result<void> BoxTruthReader::readImages(const Json &images) {
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string which = "image " + std::to_string(i);
    if (!images[i].is_object())
      return wrong(which + " is no object");
    const auto id = integerIn(images[i], "id");
    const auto file = fileIn(images[i]);
    if (!id || !file)
      return wrong(which + " needs an 'id', an integer, and a 'file_name'");
    fileOfImage[*id] = *file;
    BoxTruth::Image &image = truth.images[*file];
    image.size.height =
        std::max<int64_t>(integerIn(images[i], "height").value_or(0), 0);
    image.size.width =
        std::max<int64_t>(integerIn(images[i], "width").value_or(0), 0);
  }
  return {};
}

Result<void> BoxTruthReader::readCategories(const Json &categories) {
  for (const Json &each : categories) {
    const auto id =
        each.is_object() ? integerIn(each, "id") : std::optional<int64_t>();
    if (!id)
      return wrong("a category needs an 'id', an integer");
    const auto name = each.find("name");
    truth.categories[*id] = name != each.end() && name->is_string()
                                ? name->get<std::string>()
                                : std::to_string(*id);
  }
  return {};
}

Result<std::string> BoxTruthReader::imageOf(const Json &annotation,
                                            const std::string &which) const {
  if (auto file = fileIn(annotation))
    return *file;
  const auto id = integerIn(annotation, "image_id");
  if (!id)
    return wrong(which + " needs an 'image_id' or a 'file_name'");
  const auto found = fileOfImage.find(*id);
  if (found == fileOfImage.end())
    return wrong(which + " is of the image " + std::to_string(*id) +
                 ", which is not among 'images'");
  return found->second;
}

Result<void> BoxTruthReader::readAnnotation(const Json &annotation,
                                            size_t number) {
  const std::string which = "annotation " + std::to_string(number);
  if (!annotation.is_object())
    return wrong(which + " is no object");
  Result<std::string> image = imageOf(annotation, which);
  if (!image)
    return image.takeError();
  const auto category = integerIn(annotation, "category_id");
  if (!category)
    return wrong(which + " needs a 'category_id', an integer");
  const Json *box = arrayIn(annotation, "bbox");
  double sides[4] = {};
  bool isGood = box && box->size() == 4;
  for (size_t i = 0; isGood && i < 4; ++i) {
    isGood = (*box)[i].is_number();
    sides[i] = isGood ? (*box)[i].get<double>() : 0;
    isGood = isGood && std::isfinite(sides[i]);
  }
  if (!isGood || sides[2] < 0 || sides[3] < 0)
    return wrong(which + " needs a 'bbox' of four numbers: left, top, width "
                         "and height");
  const auto crowd = annotation.find("iscrowd");
  truth.images[*image].boxes.push_back(
      {{sides[0], sides[1], sides[0] + sides[2], sides[1] + sides[3]},
       *category,
       crowd != annotation.end() &&
           (*crowd == true || (crowd->is_number() && *crowd != 0))});
  return {};
}

Result<BoxTruth> BoxTruthReader::read(const std::string &contents) {
  const Json json = Json::parse(contents, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return systemError(where + ": not a JSON file");
  const Json *annotations = json.is_array()    ? &json
                            : json.is_object() ? arrayIn(json, "annotations")
                                               : nullptr;
  if (!annotations)
    return wrong("a list of 'annotations' is expected, each with 'file_name' "
                 "or 'image_id', 'category_id' and 'bbox'");
  if (const Json *images = json.is_object() ? arrayIn(json, "images") : nullptr)
    if (Result<void> done = readImages(*images); !done)
      return done.takeError();
  if (const Json *categories =
          json.is_object() ? arrayIn(json, "categories") : nullptr)
    if (Result<void> done = readCategories(*categories); !done)
      return done.takeError();
  for (size_t i = 0; i < annotations->size(); ++i)
    if (Result<void> done = readAnnotation((*annotations)[i], i); !done)
      return done.takeError();
  return std::move(truth);
}

Result<BoxTruth> parseBoxTruth(const std::string &contents,
                               const std::string &where) {
  return BoxTruthReader(where).read(contents);
}

Result<BoxTruth> readBoxTruth(const std::string &path,
                              const std::string &what) {
  constexpr size_t most = size_t(1) << 30;
  Result<std::string> contents = readFile(path, most);
  if (!contents)
    return inside(what, contents.takeError());
  return parseBoxTruth(*contents, what + " '" + path + "'");
}

} // namespace sinter
