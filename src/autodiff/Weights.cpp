//===- Weights.cpp - the constants of a model that can be trained ---------===//

#include "autodiff/Weights.h"

#include "graph/Constants.h"
#include "graph/Literals.h"
#include "graph/Types.h"

#include "llvm/ADT/StringMap.h"

#include <cstring>

using namespace mlir;

namespace sinter::autodiff {

/// Whether all elements are the same bytes.
static bool isOneNumber(const Tensor &tensor) {
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
                        isOneNumber(*tensor)});
  }
  // A file that lists weights means these.
  const bool isListed = !named.empty();
  for (WeightConstant &each : literals) {
    each.isAskedFor =
        isListed || isOneNumber(*constantTensor(each.constant.getResult()));
    named.push_back(std::move(each));
  }
  return named.empty() ? others : named;
}

Result<std::vector<LiftedWeight>> liftWeights(Model &model,
                                              UnnamedConstants unnamed) {
  func::FuncOp entry = model.entry();
  Block &body = entry.front();
  std::vector<LiftedWeight> weights;
  llvm::StringMap<unsigned> known;
  Builder builder(model.context());
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    attributes.push_back(entry.getArgAttrDict(i));
  for (const WeightConstant &each : weightConstants(entry, unnamed)) {
    stablehlo::ConstantOp constant = each.constant;
    Value value = constant.getResult();
    auto type = tensorOf(value);
    auto [place, isNew] = known.try_emplace(each.name, weights.size());
    if (isNew) {
      attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
          nameAttribute, builder.getStringAttr(each.name))));
      const unsigned number = body.getNumArguments();
      body.addArgument(type, value.getLoc());
      weights.push_back(
          {each.name, number, *constantTensor(value), each.isAskedFor});
    }
    BlockArgument argument = entry.getArgument(weights[place->second].argument);
    if (argument.getType() != type)
      return unsupported("the weight '" + each.name +
                         "' is there in two forms; a weight that is trained "
                         "has one");
    value.replaceAllUsesWith(argument);
    constant.erase();
  }
  entry.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), entry.getResultTypes()));
  entry.setAllArgAttrs(attributes);
  return weights;
}

} // namespace sinter::autodiff
