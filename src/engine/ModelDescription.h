//===- ModelDescription.h - what a model file asks for and gives ----------===//
//
// The facts about a model that a caller needs before it is compiled. They are
// plain data, so that they can be kept beside the compiled programs and be had
// without the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_MODELDESCRIPTION_H
#define SINTER_ENGINE_MODELDESCRIPTION_H

#include "runtime/Executor.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter {

struct ModelInput {
  TensorSpec spec;
  /// One name per dimension; empty where the size is known or has no name.
  std::vector<std::string> symbols;
  /// False where the file leaves even the number of dimensions open.
  bool ranked = true;
  /// Nothing holds a caller to the sizes in `spec`: those that he gives win.
  bool sizesAreHints = false;
  /// Shapes inside the model depend on this input's values, so a program is
  /// compiled for given values.
  bool feedsShapes = false;
  /// What it may be called besides the name in `spec`.
  std::vector<std::string> otherNames = {};

  /// What is held against a tensor of the shape \p given: that shape where the
  /// file does not hold a caller to another.
  TensorSpec specFor(const Shape &given) const;

  /// "f32 [N, 3, 224, 224]".
  std::string text() const;
};

struct ModelOutput : TensorSpec {
  ModelOutput() = default;
  explicit ModelOutput(TensorSpec spec, bool ranked = true)
      : TensorSpec(std::move(spec)), ranked(ranked) {}

  /// False where the number of dimensions follows from what is computed.
  bool ranked = true;

  /// "f32 [?, 1000]".
  std::string text() const;
};

struct ModelDescription {
  std::vector<ModelInput> inputs;
  std::vector<ModelOutput> outputs;
  /// Files that the model consists of besides its own, relative to its folder.
  std::vector<std::string> dataFiles;
  /// Whether something that was read is for inputs that take some branches
  /// (`nn.assume`), and others have another graph.
  bool takesBranches = false;

  /// The position of the input called \p name, with or without a `%`: that of
  /// this name, else the only one of which it is another name.
  std::optional<size_t> inputNamed(std::string_view name) const;
  std::vector<std::string> inputNames() const;
};

/// \p error, of the model at \p path, with the file's name in front unless it
/// names it already.
Error inFile(Error error, const std::string &path);

/// Whether an input can be one that says how large other tensors are, or what
/// an operator does: a number or a short vector of any type.
bool mayFeedShapes(const TensorSpec &spec);

/// \p model as JSON, and back; nothing if the text is not one.
std::string toJson(const ModelDescription &model);
std::optional<ModelDescription> descriptionFromJson(std::string_view text);

} // namespace sinter

#endif // SINTER_ENGINE_MODELDESCRIPTION_H
