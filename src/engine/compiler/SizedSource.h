//===- SizedSource.h - a file that is read for known sizes ----------------===//

#ifndef SINTER_ENGINE_COMPILER_SIZEDSOURCE_H
#define SINTER_ENGINE_COMPILER_SIZEDSOURCE_H

#include "engine/compiler/ModelSource.h"

#include <map>

namespace sinter {

/// A file with ModelFile::dependsOnSizes.
class SizedSource : public ModelSource {
public:
  static Result<std::unique_ptr<ModelSource>>
  open(const Format &format, std::unique_ptr<ModelFile> file,
       const ModelRequest &request);

  /// The model in \p file, to be written in its format again: nodes that cannot
  /// be translated are kept.
  static Result<Model> readToWrite(const Format &format,
                                   std::unique_ptr<ModelFile> file,
                                   const ModelRequest &request,
                                   const RewriteOptions &rewrite,
                                   ModelDescription &description);

  /// Set by open().
  Result<void> describe() override { return {}; }
  Result<Model> asItIs() override;
  Result<std::shared_ptr<const Model>> view() override;
  Result<Model> spelledOut() override;
  Result<Model> spelledOutFor(const AtHand &given) override;
  Result<Model>
  specialized(const std::vector<Shape> &shapes,
              const std::vector<std::optional<Tensor>> &values) override;
  Result<ForAnyValues> forAnyValues(const AtHand &given) override;

private:
  SizedSource(const Format &format, std::unique_ptr<ModelFile> file,
              const ModelRequest &request)
      : ModelSource(format), file(std::move(file)), bound(request.shapes),
        isRewritten(request.isRewritten), note(request.note) {
    for (const auto &[name, tensor] : request.known)
      if (isInteger(tensor.type()) &&
          mayFeedShapes({name, tensor.type(), tensor.shape()}))
        values[inputNamed(name)] = tensor;
  }

  /// The name of the input \p name, which may be an index.
  std::string inputNamed(const std::string &name) const;
  ReadOptions optionsFor(const NamedShapes &shapes) const;
  Result<void> read();
  Result<Model> readForSizes(const std::vector<Shape> &shapes);
  ModelDescription declared() const;
  std::vector<ModelInput> declaredDefaults() const;
  Result<Model>
  readWithSomeValues(const std::vector<Shape> &shapes,
                     const std::vector<std::optional<Tensor>> &values);
  Result<Model>
  readWithValues(const std::vector<Shape> &shapes,
                 const std::vector<std::optional<Tensor>> &values);

  /// What readForSizes() gave last, where whoever asked must ask again: for
  /// values, or for what is known without them.
  struct WaitsForValues {
    std::vector<Shape> shapes;
    Result<Model> read;
  };

  /// What reading with assumed branches has found out.
  struct Decisions;
  Result<Model> readDeciding(ReadOptions &options, Decisions &decisions);
  std::map<std::string, bool> branchesTaken(const AtHand &given);

  std::unique_ptr<ModelFile> file;
  NamedShapes bound;
  /// Values known from the beginning: sizes, axes and switches.
  std::map<std::string, Tensor> values;
  bool isRewritten;
  std::function<void(const std::string &)> note;
  /// The result of reading with `bound`; nothing if it needs sizes or values of
  /// inputs, which `needsMore` has.
  std::optional<Model> model;
  std::optional<Error> needsMore;
  std::optional<WaitsForValues> waits;
  /// Whether every node of `model` is translated.
  bool isWhole = false;
  /// Whether the file has requirements on unknown sizes or values.
  bool hasRequirements = false;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_SIZEDSOURCE_H
