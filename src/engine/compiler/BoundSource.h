//===- BoundSource.h - a model with some inputs bound ---------------------===//

#ifndef SINTER_ENGINE_COMPILER_BOUNDSOURCE_H
#define SINTER_ENGINE_COMPILER_BOUNDSOURCE_H

#include "engine/Compiler.h"
#include "engine/compiler/ModelSource.h"

namespace sinter {

/// Another source's model with some of its inputs as constants.
class BoundSource : public ModelSource {
public:
  /// Usage errors as of bindArguments(), for which \p files is.
  static Result<std::unique_ptr<ModelSource>>
  create(std::unique_ptr<ModelSource> whole, NamedTensors bound,
         std::vector<std::string> files);

  /// Set by create().
  Result<void> describe() override { return {}; }
  Result<Model> asItIs() override;
  Result<Model> spelledOut() override;
  Result<Model> spelledOutFor(const AtHand &given) override;
  Result<Model>
  specialized(const std::vector<Shape> &shapes,
              const std::vector<std::optional<Tensor>> &values) override;
  Result<ForAnyValues> forAnyValues(const AtHand &given) override;

private:
  BoundSource(std::unique_ptr<ModelSource> whole, NamedTensors bound,
              std::vector<std::string> files)
      : ModelSource(whole->format()), whole(std::move(whole)),
        bound(std::move(bound)), files(std::move(files)) {}
  Result<Model> bind(Result<Model> model) const;
  /// The remaining inputs of the whole model.
  void describeRest();
  AtHand ofAll(const AtHand &given) const;

  std::unique_ptr<ModelSource> whole;
  NamedTensors bound;
  std::vector<std::string> files;
  /// For each input of the whole model, the index of its value in `bound`.
  std::vector<std::optional<size_t>> places;
  /// The description of the bound model, as far as the arrays determine it.
  ModelDescription rest;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_BOUNDSOURCE_H
