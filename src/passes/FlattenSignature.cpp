#include "passes/FlattenSignature.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace sinter {

static bool isFlat(Type type) {
  return !isa<TupleType, stablehlo::TokenType>(type);
}
static bool isFlatResult(Type type) {
  return isFlat(type) && !isa<stablehlo::FutureType>(type);
}

bool hasSignatureToFlatten(const Model &model) {
  func::FuncOp function = model.entry();
  return function &&
         !(llvm::all_of(function.getArgumentTypes(), isFlat) &&
           llvm::all_of(function.getResultTypes(), isFlatResult)) &&
         SymbolTable::symbolKnownUseEmpty(function, model.module());
}

namespace {

class Flattening {
public:
  explicit Flattening(func::FuncOp function)
      : function(function), body(function.front()),
        builder(OpBuilder::atBlockBegin(&body)) {}

  void run() {
    const unsigned arguments = function.getNumArguments();
    for (unsigned i = 0; i < arguments; ++i)
      takeArgument(i);
    body.eraseArguments(0, arguments);
    Operation *terminator = body.getTerminator();
    builder.setInsertionPoint(terminator);
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      giveResult(value, nameOf(function.getResultAttrDict(i), "result", i),
                 function.getResultAttrDict(i));
    terminator->setOperands(results);
    function.setFunctionType(FunctionType::get(function.getContext(),
                                               body.getArgumentTypes(),
                                               ValueRange(results).getTypes()));
    function.setAllArgAttrs(argumentAttributes);
    function.setAllResultAttrs(resultAttributes);
  }

private:
  static std::string nameOf(DictionaryAttr attributes, StringRef prefix,
                            size_t index) {
    auto name =
        attributes ? attributes.getAs<StringAttr>(nameAttribute) : StringAttr();
    return name ? name.str() : (prefix + Twine(index)).str();
  }

  static std::string elementName(StringRef whole, size_t index) {
    return (whole + "[" + Twine(index) + "]").str();
  }

  /// \p attributes with the name \p name; an element of a tuple has none of the
  /// tuple's attributes.
  DictionaryAttr named(DictionaryAttr attributes, StringRef name) {
    NamedAttrList list(attributes);
    list.set(nameAttribute, builder.getStringAttr(name));
    return list.getDictionary(function.getContext());
  }

  void takeArgument(unsigned index) {
    BlockArgument argument = body.getArgument(index);
    DictionaryAttr attributes = function.getArgAttrDict(index);
    argument.replaceAllUsesWith(valueOf(argument.getType(),
                                        nameOf(attributes, "arg", index),
                                        attributes, argument.getLoc()));
  }

  /// A value of \p type, of new arguments.
  Value valueOf(Type type, const std::string &name, DictionaryAttr attributes,
                Location location) {
    if (isa<stablehlo::TokenType>(type))
      return builder.create<stablehlo::AfterAllOp>(location, type,
                                                   ValueRange());
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple) {
      argumentAttributes.push_back(named(attributes, name));
      return body.addArgument(type, location);
    }
    SmallVector<Value> elements;
    for (auto [i, element] : llvm::enumerate(tuple.getTypes()))
      elements.push_back(valueOf(element, elementName(name, i), {}, location));
    return builder.create<stablehlo::TupleOp>(location, elements);
  }

  void giveResult(Value value, const std::string &name,
                  DictionaryAttr attributes) {
    if (isa<stablehlo::TokenType>(value.getType()))
      return;
    if (auto future = dyn_cast<stablehlo::FutureType>(value.getType())) {
      auto done = builder.create<stablehlo::AsyncDoneOp>(
          value.getLoc(), future.getTypes(), value);
      for (auto [i, element] : llvm::enumerate(done.getResults()))
        giveResult(element, elementName(name, i), {});
      return;
    }
    auto tuple = dyn_cast<TupleType>(value.getType());
    if (!tuple) {
      resultAttributes.push_back(named(attributes, name));
      results.push_back(value);
      return;
    }
    for (auto [i, element] : llvm::enumerate(tuple.getTypes()))
      giveResult(builder.create<stablehlo::GetTupleElementOp>(
                     value.getLoc(), element, value,
                     builder.getI32IntegerAttr(static_cast<int32_t>(i))),
                 elementName(name, i), {});
  }

  func::FuncOp function;
  Block &body;
  OpBuilder builder;
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
  SmallVector<Value> results;
};

} // namespace

void flattenSignature(Model &model) {
  if (hasSignatureToFlatten(model))
    Flattening(model.entry()).run();
}

} // namespace sinter
