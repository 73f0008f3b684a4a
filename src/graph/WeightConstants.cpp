#include "graph/WeightConstants.h"

#include "graph/Constants.h"
#include "graph/Literals.h"
#include "graph/Model.h"
#include "graph/Source.h"
#include "graph/Types.h"

#include <cstring>

using namespace mlir;

namespace sinter {

/// Whether all elements are bitwise equal.
static bool isBitwiseSplat(const Tensor &tensor) {
  const size_t size = byteSize(tensor.type());
  return tensor.bytes() <= size ||
         std::memcmp(tensor.data(), tensor.data() + size,
                     tensor.bytes() - size) == 0;
}

SmallVector<WeightConstant> weightConstants(func::FuncOp entry,
                                            UnnamedConstants unnamed) {
  SmallVector<WeightConstant> named, literals, others;
  for (auto constant : entry.front().getOps<stablehlo::ConstantOp>()) {
    if (!looksLikeWeight(tensorOf(constant.getResult())))
      continue;
    std::optional<Tensor> tensor = constantTensor(constant.getResult());
    if (!tensor)
      continue;
    if (const StringRef name = constantName(constant.getResult());
        !name.empty())
      (isLiteral(constant) ? literals : named)
          .push_back({constant, name.str()});
    else if (unnamed == UnnamedConstants::OfTheFile)
      others.push_back({constant, "constant." + std::to_string(others.size()),
                        isBitwiseSplat(*tensor)});
  }
  // Only the constants that a file lists are its weights.
  const bool isListed = !named.empty();
  for (WeightConstant &each : literals) {
    each.isAskedFor =
        isListed || isBitwiseSplat(*constantTensor(each.constant.getResult()));
    named.push_back(std::move(each));
  }
  return named.empty() ? others : named;
}

void listWeights(ModuleOp module, func::FuncOp entry) {
  if (module->hasAttr(sourceFormatAttribute))
    return;
  Builder builder(module.getContext());
  for (const WeightConstant &each :
       weightConstants(entry, UnnamedConstants::OfTheFile)) {
    each.constant->setAttr(nameAttribute, builder.getStringAttr(each.name));
    if (each.isAskedFor)
      setLiteral(each.constant);
  }
}

bool isListedWeight(stablehlo::ConstantOp constant) {
  return looksLikeWeight(tensorOf(constant.getResult())) &&
         !constantName(constant.getResult()).empty() && !isLiteral(constant);
}

} // namespace sinter
