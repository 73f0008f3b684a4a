//===- ModelDescription.h - inputs, outputs and files of a model ----------===//
//
// The facts about a model that a caller needs before it is compiled. Plain
// data, stored beside compiled programs, so that they are available without the
// compiler.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_MODELDESCRIPTION_H
#define SINTER_ENGINE_MODELDESCRIPTION_H

#include "formats/ModelMetadata.h"
#include "runtime/Executor.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter {

struct ModelInput {
  TensorSpec spec;
  /// One symbol per dimension; empty if it is static or has none.
  std::vector<std::string> symbols;
  /// False if the file does not declare the number of dimensions.
  bool ranked = true;
  /// Callers may pass other sizes than those in `spec`.
  bool sizesAreHints = false;
  /// Shapes inside the model depend on this input's values, so a program is
  /// specialised to values.
  bool feedsShapes = false;
  /// Other names for the one in `spec`.
  std::vector<std::string> otherNames = {};

  /// The shape against which a tensor of the shape \p given is checked: the
  /// given one if callers may pass other sizes.
  TensorSpec specFor(const Shape &given) const;

  /// "f32 [N, 3, 224, 224]".
  std::string text() const;
};

struct ModelOutput : TensorSpec {
  ModelOutput() = default;
  explicit ModelOutput(TensorSpec spec, bool ranked = true)
      : TensorSpec(std::move(spec)), ranked(ranked) {}

  /// False if the number of dimensions depends on values.
  bool ranked = true;
  /// As of ModelInput, where the file or the graph says it.
  std::vector<std::string> symbols = {};

  /// "f32 [?, 1000]".
  std::string text() const;
};

struct ModelDescription {
  std::vector<ModelInput> inputs;
  std::vector<ModelOutput> outputs;
  /// Tensors that outlive a run; none while the graph is not known.
  std::vector<TensorSpec> states;
  ModelMetadata metadata;
  /// Inputs with a default value, which is used unless the caller provides them
  /// (SessionOptions::replacedDefaults).
  std::vector<ModelInput> defaults;
  /// Other files of the model, relative to its folder.
  std::vector<std::string> dataFiles;
  /// Whether the graph is specialised to inputs that take certain branches
  /// (`nn.assume`); other inputs have another graph.
  bool takesBranches = false;

  /// The index of the input \p name, with or without a `%`: that of this name,
  /// else the only one with this other name.
  std::optional<size_t> inputNamed(std::string_view name) const;
  std::vector<std::string> inputNames() const;
  std::vector<std::string> outputNames() const;
};

/// Whether an input can be one that says how large other tensors are, or what
/// an operator does: a number or a short vector of any type.
bool mayFeedShapes(const TensorSpec &spec);

/// \p model as JSON, and back; nothing if the text is not one.
std::string toJson(const ModelDescription &model);
std::optional<ModelDescription> descriptionFromJson(std::string_view text);

} // namespace sinter

#endif // SINTER_ENGINE_MODELDESCRIPTION_H
