//===- ModelSource.h - a model file, to be read for given shapes ----------===//
//
// What a reader makes of a file may depend on shapes, and on the values of
// inputs that say how large other tensors are. So a file stays open, and gives
// a model for what is known.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_MODELSOURCE_H
#define SINTER_ENGINE_COMPILER_MODELSOURCE_H

#include "engine/Binding.h"
#include "engine/Compiler.h"
#include "engine/ModelDescription.h"
#include "formats/Format.h"
#include "graph/Model.h"

#include <memory>
#include <string>

namespace sinter {

/// How a file is read that is to be written in its own format again.
struct RewriteOptions {
  /// Whether inputs with a default become constants.
  bool freezesDefaults = false;
  /// Whether nodes that wait for sizes become operations of dynamic sizes, as
  /// far as there are any: what has to run must be translated.
  bool expandsUnknown = false;
};

class ModelSource {
public:
  virtual ~ModelSource() = default;

  /// Opens a model of any format, reads it as the request says, and checks it
  /// (CheckModel.h). Errors name the file; those for files of other well-known
  /// kinds say what they are.
  static Result<std::unique_ptr<ModelSource>> open(const ModelRequest &request);

  /// What the model takes and gives; to be asked for before description() and
  /// specialized() are used. It is an error where that is nothing to run: there
  /// are several functions and none was chosen, or the one there is takes what
  /// nobody can give. Such a model can be rewritten all the same.
  virtual Result<void> describe() = 0;
  const ModelDescription &description() const { return known; }
  const Format &format() const { return itsFormat; }

  /// The model with no more bound than open() was told.
  virtual Result<Model> asItIs() = 0;
  /// The same to look at, without a copy where there is one; not to be kept
  /// longer than this.
  virtual Result<std::shared_ptr<const Model>> view() {
    Result<Model> model = asItIs();
    if (!model)
      return model.takeError();
    return std::make_shared<const Model>(std::move(*model));
  }
  /// The same for a format without nodes that wait for sizes (`nn.deferred`):
  /// they are operations of unknown sizes, as far as there are any.
  virtual Result<Model> spelledOut() { return asItIs(); }

  /// Shapes and values of the inputs at hand, one each; none where there are
  /// none yet.
  struct AtHand {
    std::vector<Shape> shapes;
    std::vector<std::optional<Tensor>> values;
  };
  /// The same for a program, which may be for some inputs only: where a node
  /// chooses between graphs that cannot be one operation, the one that is taken
  /// with what is at hand, else the first one with which the rest can be read.
  /// `nn.assume` says so.
  virtual Result<Model> spelledOutFor(const AtHand &) { return spelledOut(); }

  /// The model for inputs of \p shapes, one each; dimensions may be unknown
  /// still. \p values has a place for each input, too. Where the graph's shapes
  /// depend on some of these, the description says so afterwards, and what
  /// cannot be read without them is bound to them (though the arguments stay).
  virtual Result<Model>
  specialized(const std::vector<Shape> &shapes,
              const std::vector<std::optional<Tensor>> &values) = 0;

  /// The model for inputs of the shapes of \p given, every dimension known,
  /// whatever their values. Where sizes follow from values, what waits for them
  /// is operations of unknown sizes, as in spelledOutFor(). Errors: Unsupported
  /// where there are none.
  struct ForAnyValues {
    Model model;
    /// Whether sizes may be unknown; else it is what specialized() gives.
    bool hasDynamicSizes = false;
  };
  virtual Result<ForAnyValues> forAnyValues(const AtHand &given) = 0;

protected:
  explicit ModelSource(const Format &format) : itsFormat(format) {}
  ModelDescription known;

private:
  const Format &itsFormat;
};

/// The format of the model at \p path; an error if it is none.
Result<const Format *> findFormat(const std::string &path);

/// Whether every name in the shapes of \p request is an input of the model that
/// \p description is of, and every name of a dimension the one that it has.
Result<void> checkShapeNames(const ModelRequest &request,
                             const ModelDescription &description);

/// The description of a model's entry function.
Result<ModelDescription> describeModel(const Model &model);

/// What \p file, which was read, says of itself.
ModelMetadata metadataOf(const Format &format, const ModelFile &file);

/// Marks the inputs of \p description whose values the sizes of tensors in
/// \p model depend on. Returns whether there are any.
bool markShapeInputs(const Model &model, ModelDescription &description);

/// What the file at \p path is, if it is a well-known kind of file but no model
/// that we read: "a zip archive (a PyTorch checkpoint?); ...". Else empty.
std::string foreignKind(std::string_view contents);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_MODELSOURCE_H
