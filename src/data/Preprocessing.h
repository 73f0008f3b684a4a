//===- Preprocessing.h - how files become a model's inputs ----------------===//
//
// What users say of it: as options of commands, as texts by name in libraries,
// and as JSON in a model's metadata, with the same names everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_PREPROCESSING_H
#define SINTER_DATA_PREPROCESSING_H

#include "engine/ModelDescription.h"
#include "runtime/Image.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// Nothing, or an empty list: not given.
struct Preprocessing {
  /// The values of a name (see presets), for what is not given.
  std::optional<std::string> preset;
  std::optional<PictureSize> resize, crop;
  std::optional<ImageFit> fit;
  std::optional<Interpolation> interpolation;
  std::optional<int64_t> padMultiple;
  std::vector<double> padValue;
  std::optional<ImageChannels> channels;
  std::optional<double> scale;
  std::vector<double> mean, std;
  std::optional<ImageLayout> layout;
  /// Of audio, in Hz.
  std::optional<int64_t> rate;
};

/// An option by name, and its value as text.
struct PreprocessingOption {
  const char *name;
  /// For help: the form of the value, and what it does.
  const char *form, *help;
  /// Whether its JSON is a number, or an array of such.
  bool isNumbers;
  /// False if the text is no such value.
  bool (*set)(Preprocessing &preprocessing, const std::string &text);
  /// The value; empty if it is not given.
  std::string (*get)(const Preprocessing &preprocessing);
  /// How messages go on behind a refused text: "is no number".
  const char *wanted;
  /// Whether it is about audio instead of images.
  bool isForAudio = false;
};

/// All of them, in the order of help.
std::span<const PreprocessingOption> preprocessingOptions();

/// Sets the option \p name to \p text. Usage errors for unknown names and
/// values.
Result<void> setPreprocessing(Preprocessing &preprocessing,
                              const std::string &name, const std::string &text);

/// The names of presets.
std::vector<std::string> presetNames();

/// What is given in \p first, its preset included, and for the rest what is
/// given in \p second. The result has no preset.
Preprocessing combined(const Preprocessing &first, const Preprocessing &second);

/// "--resize 256x256 --fit cover", or in libraries "resize 256x256, fit cover".
std::string describe(const Preprocessing &preprocessing);
bool isEmpty(const Preprocessing &preprocessing);

/// The name of the metadata that keep it.
inline constexpr const char *preprocessingKey = "sinter.preprocessing";
/// A JSON object with an entry for each option that is given; the preset's
/// values instead of its name.
std::string preprocessingText(const Preprocessing &preprocessing);
/// What such a text says. InvalidModel if it is no such object, or has unknown
/// names or values.
Result<Preprocessing> parsePreprocessing(const std::string &text);
/// What the metadata of \p model say; empty if they say nothing.
Result<Preprocessing> preprocessingOf(const ModelDescription &model);

/// The metadata of a file that is written from \p model, texts by name, with
/// what is \p given and what the model says; none if nothing is given.
Result<std::vector<std::pair<std::string, std::string>>>
preprocessingToKeep(const ModelDescription &model, const Preprocessing &given);

/// The options of imageToInput.
ImageOptions imageOptions(const Preprocessing &preprocessing);

} // namespace sinter

#endif // SINTER_DATA_PREPROCESSING_H
