//===- Weights.cpp - the constants of a model that can be trained ---------===//

#include "autodiff/Weights.h"

#include "graph/Constants.h"
#include "graph/Types.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sinter::autodiff {

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
    auto [found, isNew] = known.try_emplace(each.name, weights.size());
    if (isNew) {
      attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
          nameAttribute, builder.getStringAttr(each.name))));
      const unsigned number = body.getNumArguments();
      body.addArgument(type, value.getLoc());
      weights.push_back(
          {each.name, number, *constantTensor(value), each.isAskedFor});
    }
    BlockArgument argument = entry.getArgument(weights[found->second].argument);
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
