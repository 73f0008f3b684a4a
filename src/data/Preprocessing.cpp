//===- Preprocessing.cpp - how files become a model's inputs --------------===//

#include "data/Preprocessing.h"

#include "runtime/OptionNames.h"
#include "runtime/Text.h"
#include "runtime/Wav.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace sinter {

namespace {

//===--- Values as text ---------------------------------------------------===//

template <typename T> bool parseNumber(std::string_view text, T &number) {
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size();
}

bool parseNumbers(const std::string &text, std::vector<double> &numbers) {
  std::vector<double> all;
  for (const std::string &each : partsOf(text, ',')) {
    double number = 0;
    if (!parseNumber(each, number) || !std::isfinite(number))
      return false;
    all.push_back(number);
  }
  numbers = std::move(all);
  return true;
}

/// The shortest text that is read as the same number.
std::string numberText(double number) {
  char text[32];
  const auto [stop, error] = std::to_chars(text, text + sizeof(text), number);
  return {text, stop};
}

std::string numbersText(const std::vector<double> &numbers) {
  std::string all;
  for (double number : numbers)
    all += (all.empty() ? "" : ",") + numberText(number);
  return all;
}

/// "224" or "256x320".
bool parseSize(const std::string &text, std::optional<PictureSize> &size) {
  constexpr int64_t most = 1 << 14;
  const std::vector<std::string> sides = partsOf(text, 'x');
  PictureSize parsed;
  if (sides.size() > 2 || !parseNumber(sides.front(), parsed.height) ||
      !parseNumber(sides.back(), parsed.width) || parsed.height < 1 ||
      parsed.width < 1 || parsed.height > most || parsed.width > most)
    return false;
  size = parsed;
  return true;
}

std::string sizeText(const std::optional<PictureSize> &size) {
  return size ? std::to_string(size->height) + "x" + std::to_string(size->width)
              : "";
}

bool parseInteger(const std::string &text, int64_t most,
                  std::optional<int64_t> &number) {
  int64_t parsed = 0;
  if (!parseNumber(text, parsed) || parsed < 1 || parsed > most)
    return false;
  number = parsed;
  return true;
}

std::string integerText(const std::optional<int64_t> &number) {
  return number ? std::to_string(*number) : "";
}

/// The names of an enumeration's values, in upper or lower case.
template <typename T> struct Named {
  const char *name;
  T value;
};
constexpr Named<ImageFit> fits[] = {{"stretch", ImageFit::Stretch},
                                    {"pad", ImageFit::Pad},
                                    {"cover", ImageFit::Cover}};
constexpr Named<ImageChannels> channelOrders[] = {
    {"rgb", ImageChannels::Rgb},
    {"bgr", ImageChannels::Bgr},
    {"gray", ImageChannels::Gray}};
constexpr Named<ImageLayout> layouts[] = {{"nchw", ImageLayout::Nchw},
                                          {"nhwc", ImageLayout::Nhwc}};
constexpr Named<Interpolation> interpolations[] = {
    {"nearest", Interpolation::Nearest},
    {"bilinear", Interpolation::Bilinear},
    {"bicubic", Interpolation::Bicubic}};

template <typename T>
bool parseNamed(std::string text, std::span<const Named<T>> all,
                std::optional<T> &value) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  for (const Named<T> &each : all)
    if (text == each.name) {
      value = each.value;
      return true;
    }
  return false;
}

template <typename T>
std::string namedText(std::span<const Named<T>> all,
                      const std::optional<T> &value) {
  for (const Named<T> &each : all)
    if (value == each.value)
      return each.name;
  return "";
}

//===--- Presets ----------------------------------------------------------===//

struct Preset {
  const char *name;
  Preprocessing values;
};

/// What well-known collections of models were trained with.
const std::vector<Preset> &allPresets() {
  static const std::vector<Preset> all = [] {
    const auto preset = [](ImageChannels channels, double scale,
                           std::vector<double> mean, std::vector<double> std) {
      Preprocessing values;
      values.channels = channels;
      values.scale = scale;
      values.mean = std::move(mean);
      values.std = std::move(std);
      return values;
    };
    using enum ImageChannels;
    std::vector<Preset> presets = {
        // torchvision, timm, ONNX's zoo.
        {"imagenet",
         preset(Rgb, 1.0 / 255, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})},
        // Models of TensorFlow and Keras: -1..1.
        {"imagenet-tf", preset(Rgb, 1 / 127.5, {1}, {1})},
        // Models of Caffe, and Keras' ResNet and VGG.
        {"imagenet-caffe", preset(Bgr, 1, {103.939, 116.779, 123.68}, {1})},
        {"clip", preset(Rgb, 1.0 / 255, {0.48145466, 0.4578275, 0.40821073},
                        {0.26862954, 0.26130258, 0.27577711})},
        {"unit", preset(Rgb, 1.0 / 255, {0}, {1})},
        {"raw", preset(Rgb, 1, {0}, {1})}};
    for (Preset &each : presets)
      if (std::string_view(each.name) == "clip")
        each.values.interpolation = Interpolation::Bicubic;
    return presets;
  }();
  return all;
}

const Preset *presetNamed(const std::string &name) {
  for (const Preset &each : allPresets())
    if (name == each.name)
      return &each;
  return nullptr;
}

//===--- The options ------------------------------------------------------===//

constexpr int64_t mostPadMultiple = 1 << 14;

constexpr PreprocessingOption optionTable[] = {
    {"preset", "NAME",
     "the --scale, --mean, --std and --channels of well-known models: imagenet "
     "(torchvision), imagenet-tf, imagenet-caffe, clip, unit (0..1), raw "
     "(0..255)",
     false,
     [](Preprocessing &all, const std::string &text) {
       if (!presetNamed(text))
         return false;
       all.preset = text;
       return true;
     },
     [](const Preprocessing &all) { return all.preset.value_or(""); },
     "is none of imagenet, imagenet-tf, imagenet-caffe, clip, unit, raw"},
    {"resize", "SIZE|HxW",
     "the size of images before the centre crop to the input's size (default: "
     "the input's)",
     false,
     [](Preprocessing &all, const std::string &text) {
       return parseSize(text, all.resize);
     },
     [](const Preprocessing &all) { return sizeText(all.resize); },
     "is no size: 224 or 256x320, at most 16384, is expected"},
    {"fit", "stretch|pad|cover",
     "how an image of another aspect ratio gets that size: it is stretched "
     "(default), scaled to lie inside with padding around it, or scaled to "
     "cover it and cropped",
     false,
     [](Preprocessing &all, const std::string &text) {
       return parseNamed<ImageFit>(text, fits, all.fit);
     },
     [](const Preprocessing &all) {
       return namedText<ImageFit>(fits, all.fit);
     },
     "is none of stretch, pad, cover"},
    {"interpolation", "nearest|bilinear|bicubic",
     "how pixels are interpolated, as by Pillow (default: bilinear)", false,
     [](Preprocessing &all, const std::string &text) {
       return parseNamed<Interpolation>(text, interpolations,
                                        all.interpolation);
     },
     [](const Preprocessing &all) {
       return namedText<Interpolation>(interpolations, all.interpolation);
     },
     "is none of nearest, bilinear, bicubic"},
    {"crop", "SIZE|HxW", "the size of the centre that is kept after --resize",
     false,
     [](Preprocessing &all, const std::string &text) {
       return parseSize(text, all.crop);
     },
     [](const Preprocessing &all) { return sizeText(all.crop); },
     "is no size: 224 or 256x320, at most 16384, is expected"},
    {"pad-multiple", "N",
     "pad images below and on the right to multiples of N pixels", true,
     [](Preprocessing &all, const std::string &text) {
       return parseInteger(text, mostPadMultiple, all.padMultiple);
     },
     [](const Preprocessing &all) { return integerText(all.padMultiple); },
     "is no number from 1 to 16384"},
    {"pad-value", "R,G,B",
     "the colour of padding, 0..255, or one value for all channels (default: "
     "0)",
     true,
     [](Preprocessing &all, const std::string &text) {
       std::vector<double> values;
       const auto isPixel = [](double value) {
         return value >= 0 && value <= 255;
       };
       if (!parseNumbers(text, values) || !std::ranges::all_of(values, isPixel))
         return false;
       all.padValue = std::move(values);
       return true;
     },
     [](const Preprocessing &all) { return numbersText(all.padValue); },
     "is neither a number from 0 to 255 nor one for each channel with commas "
     "between"},
    {"channels", "rgb|bgr|gray",
     "the order of the channels, or grey (default: rgb, or gray for an input "
     "with one)",
     false,
     [](Preprocessing &all, const std::string &text) {
       return parseNamed<ImageChannels>(text, channelOrders, all.channels);
     },
     [](const Preprocessing &all) {
       return namedText<ImageChannels>(channelOrders, all.channels);
     },
     "is none of rgb, bgr, gray"},
    {"mean", "R,G,B", "subtracted from an image's channels, after --scale",
     true,
     [](Preprocessing &all, const std::string &text) {
       return parseNumbers(text, all.mean);
     },
     [](const Preprocessing &all) { return numbersText(all.mean); },
     "is neither a number nor one for each channel with commas between: "
     "0.485,0.456,0.406"},
    {"std", "R,G,B", "an image's channels are divided by it", true,
     [](Preprocessing &all, const std::string &text) {
       std::vector<double> values;
       if (!parseNumbers(text, values) ||
           std::ranges::find(values, 0.0) != values.end())
         return false;
       all.std = std::move(values);
       return true;
     },
     [](const Preprocessing &all) { return numbersText(all.std); },
     "is neither a number other than 0 nor one for each channel with commas "
     "between: 0.485,0.456,0.406"},
    {"scale", "FLOAT",
     "factor from an image's 0..255 to the range of --mean (default: 1/255)",
     true,
     [](Preprocessing &all, const std::string &text) {
       std::vector<double> values;
       if (!parseNumbers(text, values) || values.size() != 1)
         return false;
       all.scale = values.front();
       return true;
     },
     [](const Preprocessing &all) {
       return all.scale ? numberText(*all.scale) : "";
     },
     "is no number"},
    {"layout", "nchw|nhwc", "the memory layout of images (default: nchw)",
     false,
     [](Preprocessing &all, const std::string &text) {
       return parseNamed<ImageLayout>(text, layouts, all.layout);
     },
     [](const Preprocessing &all) {
       return namedText<ImageLayout>(layouts, all.layout);
     },
     "is none of nchw, nhwc"},
    {.name = "rate",
     .form = "HZ",
     .help = "the sample rate that the model takes: audio of another one is "
             "resampled (default: the file's)",
     .isNumbers = true,
     .set =
         [](Preprocessing &all, const std::string &text) {
           return parseInteger(text, maxAudioRate, all.rate);
         },
     .get = [](const Preprocessing &all) { return integerText(all.rate); },
     .wanted = "is no rate from 1 to 768000",
     .isForAudio = true}};

/// A JSON value as the text of an option; nothing if it is none.
std::optional<std::string> textOf(const nlohmann::json &value) {
  if (value.is_string())
    return value.get<std::string>();
  if (value.is_number())
    return value.dump();
  if (!value.is_array())
    return std::nullopt;
  std::string all;
  for (const nlohmann::json &each : value) {
    if (!each.is_number())
      return std::nullopt;
    all += (all.empty() ? "" : ",") + each.dump();
  }
  return all;
}

} // namespace

std::span<const PreprocessingOption> preprocessingOptions() {
  return optionTable;
}

Result<void> setPreprocessing(Preprocessing &preprocessing,
                              const std::string &name,
                              const std::string &text) {
  for (const PreprocessingOption &option : optionTable)
    if (name == option.name) {
      if (option.set(preprocessing, text))
        return {};
      return usageError(optionText(name) + ": '" + text + "' " + option.wanted);
    }
  return usageError("there is no option '" + name + "' of pre-processing");
}

std::vector<std::string> presetNames() {
  std::vector<std::string> names;
  for (const Preset &each : allPresets())
    names.emplace_back(each.name);
  return names;
}

Preprocessing combined(const Preprocessing &first,
                       const Preprocessing &second) {
  Preprocessing all;
  const Preset *named = first.preset ? presetNamed(*first.preset) : nullptr;
  const Preset *other = second.preset ? presetNamed(*second.preset) : nullptr;
  // What is set later wins.
  for (const Preprocessing *each : {other ? &other->values : nullptr, &second,
                                    named ? &named->values : nullptr, &first})
    for (const PreprocessingOption &option : optionTable)
      if (each)
        if (const std::string text = option.get(*each); !text.empty())
          option.set(all, text);
  all.preset.reset();
  return all;
}

std::string describe(const Preprocessing &preprocessing) {
  std::string all;
  for (const PreprocessingOption &option : optionTable)
    if (const std::string text = option.get(preprocessing); !text.empty())
      all += (all.empty() ? "" : " ") + optionText(option.name) + " " + text;
  return all;
}

bool isEmpty(const Preprocessing &preprocessing) {
  return describe(preprocessing).empty();
}

std::string preprocessingText(const Preprocessing &preprocessing) {
  const Preprocessing all = combined(preprocessing, {});
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const PreprocessingOption &option : optionTable) {
    const std::string text = option.get(all);
    if (text.empty())
      continue;
    const bool isList = text.find(',') != std::string::npos;
    object[option.name] =
        option.isNumbers
            ? nlohmann::ordered_json::parse(isList ? "[" + text + "]" : text)
            : nlohmann::ordered_json(text);
  }
  return object.dump();
}

Result<Preprocessing> parsePreprocessing(const std::string &text) {
  const auto refuse = [](const std::string &why) {
    return invalidModel(std::string("metadata '") + preprocessingKey +
                        "': " + why);
  };
  const nlohmann::json object =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object())
    return refuse("no JSON object");
  Preprocessing all;
  for (const auto &[name, value] : object.items()) {
    const std::optional<std::string> given = textOf(value);
    if (!given)
      return refuse("'" + name + "' is neither a text nor numbers");
    if (Result<void> set = setPreprocessing(all, name, *given); !set)
      return refuse(set.error().message());
  }
  return combined(all, {});
}

Result<Preprocessing> preprocessingOf(const ModelDescription &model) {
  for (const auto &[name, text] : model.metadata.entries)
    if (name == preprocessingKey)
      return parsePreprocessing(text);
  return Preprocessing();
}

Result<std::vector<std::pair<std::string, std::string>>>
preprocessingToKeep(const ModelDescription &model, const Preprocessing &given) {
  std::vector<std::pair<std::string, std::string>> entries;
  if (isEmpty(given))
    return entries;
  Result<Preprocessing> kept = preprocessingOf(model);
  if (!kept)
    return kept.takeError();
  entries.emplace_back(preprocessingKey,
                       preprocessingText(combined(given, *kept)));
  return entries;
}

ImageOptions imageOptions(const Preprocessing &preprocessing) {
  const Preprocessing all = combined(preprocessing, {});
  ImageOptions how;
  how.layout = all.layout.value_or(how.layout);
  how.scale = all.scale.value_or(how.scale);
  how.mean = all.mean;
  how.std = all.std;
  how.resize = all.resize;
  how.fit = all.fit.value_or(how.fit);
  how.interpolation = all.interpolation.value_or(how.interpolation);
  how.crop = all.crop;
  how.padMultiple = all.padMultiple.value_or(how.padMultiple);
  how.padValue = all.padValue;
  how.channels = all.channels;
  return how;
}

} // namespace sinter
