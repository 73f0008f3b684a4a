//===- ModelMetadata.h - what a model's file says of itself ---------------===//

#ifndef SINTER_FORMATS_MODELMETADATA_H
#define SINTER_FORMATS_MODELMETADATA_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sinter {

/// The entry with states of dynamic sizes, "OUTPUT=INPUT" in each line: what
/// runs a stream feeds the output back, and without one the input is zeros.
inline constexpr const char *feedsKey = "sinter.feeds";

/// Empty texts and 0: the file does not say, or its format has no such thing.
struct ModelMetadata {
  /// "onnx": Format::name.
  std::string format;
  /// Of the format, as it counts them: ONNX's "8", Paddle's "2.6.0".
  std::string formatVersion;
  /// What wrote the file.
  std::string producer, producerVersion;
  /// ONNX's namespace of the model, "org.example".
  std::string domain;
  /// The name of the graph or the module.
  std::string graph;
  std::string description;
  /// Of the model itself.
  int64_t version = 0;
  /// The operator sets and their versions, "" being ONNX's own.
  std::vector<std::pair<std::string, int64_t>> operatorSets;
  /// Further entries by name, in the file's order.
  std::vector<std::pair<std::string, std::string>> entries;
  /// What whoever runs the model should know, as readers tell it.
  std::string note;

  bool operator==(const ModelMetadata &) const = default;
};

} // namespace sinter

#endif // SINTER_FORMATS_MODELMETADATA_H
