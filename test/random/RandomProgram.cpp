//===- RandomProgram.cpp - well-typed StableHLO programs from a seed ------===//

#include "random/RandomProgram.h"

#include "random/Draft.h"

using namespace mlir;

namespace sinter {

static const std::vector<Recipe> &allRecipes() {
  static const std::vector<Recipe> recipes = [] {
    std::vector<Recipe> all = elementwiseRecipes();
    for (auto more :
         {movementRecipes, indexingRecipes, structuredRecipes, reductionRecipes,
          controlRecipes, quantizedRecipes, otherRecipes})
      llvm::append_range(all, more());
    addRegisteredRecipes(all);
    llvm::sort(
        all, [](const Recipe &a, const Recipe &b) { return a.name < b.name; });
    return all;
  }();
  return recipes;
}

std::vector<std::string> drawableOperations() {
  std::vector<std::string> names;
  for (const Recipe &recipe : allRecipes())
    names.push_back(recipe.name);
  return names;
}

Model randomProgram(uint64_t seed, const RandomProgramOptions &options) {
  std::vector<const Recipe *> recipes;
  for (const Recipe &recipe : allRecipes())
    if (options.only.empty() || llvm::is_contained(options.only, recipe.name))
      recipes.push_back(&recipe);
  Draft draft(seed, options, std::move(recipes));
  for (int64_t i = draft.dice.between(1, 3); i > 0; --i)
    draft.fresh(draft.type());
  if (options.computesSizes) {
    constexpr int mostAttempts = 20;
    draft.drawOperations(options.operations / 2);
    for (int i = 0; i < mostAttempts && !drawComputedSize(draft); ++i) {
    }
    draft.drawOperations(options.operations - options.operations / 2);
  } else {
    draft.drawOperations(options.operations);
  }
  return draft.finish();
}

double comparisonTolerance(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::C128:
    return 1e-10;
  case ElementType::F32:
  case ElementType::C64:
    return 1e-4;
  case ElementType::F16:
    return 2e-2;
  case ElementType::BF16:
    return 1e-1;
  default:
    // f8: a unit in the last place is up to a quarter.
    return isFloat(type) ? 0.6 : 0;
  }
}

} // namespace sinter
