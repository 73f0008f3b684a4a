//===- BoundSource.h - a model of which some inputs are given for good ----===//

#ifndef SINTER_ENGINE_COMPILER_BOUNDSOURCE_H
#define SINTER_ENGINE_COMPILER_BOUNDSOURCE_H

#include "engine/Compiler.h"
#include "engine/compiler/ModelSource.h"

namespace sinter {

/// Another source's model with some of its inputs as constants.
class BoundSource : public ModelSource {
public:
  /// Usage errors as of bindArguments().
  static Result<std::unique_ptr<ModelSource>>
  create(std::unique_ptr<ModelSource> whole, NamedTensors bound);

  /// create() has done it.
  Result<void> describe() override { return {}; }
  Result<Model> asItIs() override;
  Result<Model> spelledOut() override;
  Result<Model> spelledOutFor(const AtHand &given) override;
  Result<Model>
  specialized(const std::vector<Shape> &shapes,
              const std::vector<std::optional<Tensor>> &values) override;
  Result<ForAnyValues> forAnyValues(const AtHand &given) override;

private:
  BoundSource(std::unique_ptr<ModelSource> whole, NamedTensors bound)
      : ModelSource(whole->format()), whole(std::move(whole)),
        bound(std::move(bound)) {}
  Result<Model> bind(Result<Model> model) const;
  /// The inputs of the whole model that are left.
  void describeRest();
  AtHand ofAll(const AtHand &given) const;

  std::unique_ptr<ModelSource> whole;
  NamedTensors bound;
  /// For each input of the whole model, its value's place in `bound`.
  std::vector<std::optional<size_t>> places;
  /// The model that is left, as far as the arrays say.
  ModelDescription rest;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_BOUNDSOURCE_H
