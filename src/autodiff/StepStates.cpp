#include "autodiff/StepStates.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/storage/Storage.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace sinter::autodiff {

Value StepStates::addArgument(StringRef name, RankedTensorType type) {
  names.push_back(name.str());
  return entry.front().addArgument(type, entry.getLoc());
}

Value StepStates::add(std::string name, Tensor initial) {
  Value before = addArgument(
      name,
      RankedTensorType::get(initial.shape(),
                            mlirTypeOf(initial.type(), entry.getContext())));
  list.push_back({std::move(name), before, Value(), std::move(initial), false});
  return before;
}

void StepStates::finish(ArrayRef<std::pair<std::string, Value>> outputs) {
  llvm::sort(list, [](const State &a, const State &b) {
    return cast<BlockArgument>(a.before).getArgNumber() <
           cast<BlockArgument>(b.before).getArgNumber();
  });
  Block &body = entry.front();
  Builder builder(entry.getContext());
  std::vector<NamedAttrList> arguments;
  for (size_t i = 0; i < body.getNumArguments(); ++i) {
    arguments.emplace_back(i < given ? entry.getArgAttrDict(i)
                                     : DictionaryAttr());
    if (i >= given)
      arguments.back().set(nameAttribute,
                           builder.getStringAttr(names[i - given]));
  }
  SmallVector<Value> results;
  SmallVector<Attribute> ofResults, ofArguments;
  auto give = [&](Value value, StringRef what, StringRef name) {
    results.push_back(value);
    ofResults.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(what, builder.getStringAttr(name))));
  };
  for (const auto &[name, value] : outputs)
    give(value, nameAttribute, name);
  for (const State &state : list) {
    give(state.after, stateAttribute, state.name);
    NamedAttrList &mine =
        arguments[cast<BlockArgument>(state.before).getArgNumber()];
    mine.erase(nameAttribute);
    mine.set(stateAttribute, builder.getStringAttr(state.name));
    mine.set(initialAttribute,
             toAttribute(state.initial, state.name, entry.getContext()));
  }
  for (const NamedAttrList &each : arguments)
    ofArguments.push_back(each.getDictionary(entry.getContext()));
  body.getTerminator()->setOperands(results);
  entry.setFunctionType(builder.getFunctionType(
      body.getArgumentTypes(), ValueRange(results).getTypes()));
  entry.setAllArgAttrs(ofArguments);
  entry.setAllResultAttrs(ofResults);
}

void StepStates::makeConstants(ArrayRef<LiftedWeight> weights) {
  llvm::DenseSet<Value> kept;
  for (const State &state : list)
    kept.insert(state.before);
  OpBuilder first = OpBuilder::atBlockBegin(&entry.front());
  llvm::BitVector gone(entry.getNumArguments());
  for (const LiftedWeight &weight : weights) {
    BlockArgument argument = entry.getArgument(weight.argument);
    if (kept.contains(argument))
      continue;
    argument.replaceAllUsesWith(
        makeConstant(first, argument.getLoc(), weight.value, weight.name));
    gone.set(weight.argument);
  }
  entry.eraseArguments(gone);
}

} // namespace sinter::autodiff
