// From lines to the graph language.

#include "engine/toyformat/ToyFormat.h"

#include "formats/import/GraphBuilder.h"
#include "graph/Constants.h"
#include "graph/Source.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sinter::toy {

namespace {

using formats::GraphBuilder;
using Words = ArrayRef<StringRef>;

/// What an operator becomes; operands are there, as many as the table says.
using Translate = Value (*)(GraphBuilder &, ArrayRef<Value>);

Value translateMean(GraphBuilder &builder, ArrayRef<Value> operands) {
  const Value x = operands[0];
  const int64_t last = builder.rank(x) - 1;
  if (last < 0)
    return builder.fail("has a scalar, which has no last dimension");
  Value sum = builder.reduce<stablehlo::AddOp>(x, last, 0, /*keep=*/true);
  return builder.binary<stablehlo::DivOp>(
      sum, builder.countAlong(x, last, builder.f32()));
}

struct Operator {
  StringRef name;
  size_t operands;
  Translate translate;
};
const Operator operators[] = {
    {"add", 2,
     [](GraphBuilder &builder, ArrayRef<Value> operands) {
       return builder.binary<stablehlo::AddOp>(operands[0], operands[1]);
     }},
    {"multiply", 2,
     [](GraphBuilder &builder, ArrayRef<Value> operands) {
       return builder.binary<stablehlo::MulOp>(operands[0], operands[1]);
     }},
    {"relu", 1,
     [](GraphBuilder &builder, ArrayRef<Value> operands) {
       return builder.op<nn::ReluOp>(operands[0]);
     }},
    {"mean", 1, translateMean},
};

class Reader {
public:
  Reader(std::string_view text, const std::string &path)
      : text(text), path(path), context(makeContext()), builder(context.get()),
        diagnostics(context.get()) {}

  Result<Model> run();

private:
  /// Whether the line is good; else \p problem says what is wrong.
  bool readLine(Words words);
  bool readInput(Words words);
  bool readWeight(Words words);
  bool readNode(Words words);
  bool define(StringRef name, Value value);
  bool wrong(const Twine &what) {
    problem = invalidModel(path + ": line " + std::to_string(line) + ": " +
                           what.str());
    return false;
  }
  /// The sizes, and the names of unknown ones; \p symbols null: all are known.
  bool readSizes(Words words, SmallVectorImpl<int64_t> &sizes,
                 SmallVectorImpl<Attribute> *symbols);
  Location locationOf(StringRef name) {
    return NameLoc::get(builder.getStringAttr(name));
  }

  StringRef text;
  const std::string &path;
  std::shared_ptr<MLIRContext> context;
  OpBuilder builder;
  FirstError diagnostics;
  formats::KnownValues known;
  func::FuncOp function;
  size_t line = 0;
  std::optional<Error> problem;
  llvm::StringMap<Value> values;
  SmallVector<Attribute> arguments, records, whole;
  SmallVector<std::pair<StringRef, Value>> outputs;
  std::map<std::string, int> unknownOperators;
};

bool Reader::define(StringRef name, Value value) {
  return values.try_emplace(name, value).second ||
         wrong("'" + name + "' is defined twice");
}

bool Reader::readSizes(Words words, SmallVectorImpl<int64_t> &sizes,
                       SmallVectorImpl<Attribute> *symbols) {
  for (StringRef word : words) {
    int64_t size;
    const bool isNumber = !word.getAsInteger(10, size);
    if (isNumber ? size < 0 : !symbols)
      return wrong("'" + word + "' is no size");
    sizes.push_back(isNumber ? size : ShapedType::kDynamic);
    if (symbols)
      symbols->push_back(builder.getStringAttr(isNumber ? "" : word));
  }
  return !ShapedType::isDynamicShape(sizes) &&
                 !byteCount(ElementType::F32, Shape(sizes.begin(), sizes.end()))
             ? wrong("the tensor is too large")
             : true;
}

bool Reader::readInput(Words words) {
  SmallVector<int64_t> sizes;
  SmallVector<Attribute> symbols;
  if (words.size() < 2 || words[1] != "f32")
    return wrong("expected 'input NAME f32 SIZES'");
  if (!readSizes(words.drop_front(2), sizes, &symbols))
    return false;
  Value argument = function.front().addArgument(
      RankedTensorType::get(sizes, builder.getF32Type()), locationOf(words[0]));
  for (auto [i, symbol] : llvm::enumerate(symbols))
    if (StringRef name = cast<StringAttr>(symbol); !name.empty())
      known.setSymbol(argument, i, known.symbolNamed(name));
  NamedAttrList attributes;
  attributes.set(nameAttribute, builder.getStringAttr(words[0]));
  if (ShapedType::isDynamicShape(sizes))
    attributes.set(dimsAttribute, builder.getArrayAttr(symbols));
  arguments.push_back(attributes.getDictionary(context.get()));
  return define(words[0], argument);
}

bool Reader::readWeight(Words words) {
  const size_t equals = llvm::find(words, "=") - words.begin();
  if (words.empty() || equals == 0 || equals == words.size())
    return wrong("expected 'weight NAME SIZES = NUMBERS'");
  SmallVector<int64_t> sizes;
  if (!readSizes(words.slice(1, equals - 1), sizes, nullptr))
    return false;
  std::vector<float> numbers;
  for (StringRef word : words.drop_front(equals + 1)) {
    double number;
    if (word.getAsDouble(number))
      return wrong("'" + word + "' is no number");
    numbers.push_back(static_cast<float>(number));
  }
  const Shape shape(sizes.begin(), sizes.end());
  if (elementCount(shape) != static_cast<int64_t>(numbers.size()))
    return wrong("there are " + Twine(numbers.size()) +
                 " numbers, which is not what the sizes say");
  return define(words[0], makeConstant(builder, locationOf(words[0]),
                                       Tensor::of<float>(ElementType::F32,
                                                         shape, numbers),
                                       words[0]));
}

bool Reader::readNode(Words words) {
  const auto *op = llvm::find_if(
      operators, [&](const Operator &each) { return each.name == words[0]; });
  if (op == std::end(operators)) {
    ++unknownOperators[words[0].str()];
    return true;
  }
  if (words.size() != op->operands + 2)
    return wrong("'" + op->name + "' takes a result and " +
                 Twine(op->operands) + " operands");
  SmallVector<Value> operands;
  for (StringRef name : words.drop_front(2)) {
    operands.push_back(values.lookup(name));
    // What an unknown operator gives is not there, and all are listed.
    if (!operands.back())
      return !unknownOperators.empty() ||
             wrong("'" + name + "' is not defined");
  }
  const int64_t number = records.size();
  GraphBuilder node(builder, known, diagnostics, locationOf(words[1]), number);
  Value value = op->translate(node, operands);
  if (node.failed())
    return wrong(op->name + ": " + node.error()->reason);
  // A mean becomes several operations: passes leave them together, and the
  // writer gives it back.
  SmallVector<Attribute> kinds;
  for (Operation *each : node.operations())
    kinds.push_back(builder.getStringAttr(each->getName().getStringRef()));
  records.push_back(builder.getDictionaryAttr(
      {builder.getNamedAttr("operator", builder.getStringAttr(op->name)),
       builder.getNamedAttr("operations", builder.getArrayAttr(kinds))}));
  if (kinds.size() > 1)
    whole.push_back(builder.getDenseI64ArrayAttr(number));
  return define(words[1], value);
}

bool Reader::readLine(Words words) {
  if (words[0] == "input")
    return readInput(words.drop_front());
  if (words[0] == "weight")
    return readWeight(words.drop_front());
  if (words[0] != "output")
    return words.size() > 1 ? readNode(words) : wrong("expected a result");
  if (words.size() != 2)
    return wrong("expected 'output NAME'");
  Value value = values.lookup(words[1]);
  if (!value)
    return !unknownOperators.empty() ||
           wrong("'" + words[1] + "' is not defined");
  outputs.push_back({words[1], value});
  return true;
}

Result<Model> Reader::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(locationOf("graph"));
  builder.setInsertionPointToEnd(module->getBody());
  function = builder.create<func::FuncOp>(locationOf("graph"), entryName,
                                          builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  while (!text.empty()) {
    StringRef here;
    std::tie(here, text) = text.split('\n');
    SmallVector<StringRef> words;
    llvm::SplitString(here, words);
    if (++line > 1 && !words.empty() && !readLine(words))
      return *problem;
  }
  if (!unknownOperators.empty()) {
    std::string list;
    for (const auto &[name, count] : unknownOperators)
      list += (list.empty() ? "" : "; ") + std::to_string(count) + " x " + name;
    return unsupported(path + ": not supported: " + list);
  }
  SmallVector<Value> results;
  SmallVector<Attribute> resultAttributes;
  for (auto [name, value] : outputs) {
    results.push_back(value);
    resultAttributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(nameAttribute, builder.getStringAttr(name))));
  }
  builder.create<func::ReturnOp>(function.getLoc(), results);
  function.setType(builder.getFunctionType(function.front().getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  function.setAllArgAttrs(arguments);
  function.setAllResultAttrs(resultAttributes);
  module->getOperation()->setAttr(sourceFormatAttribute,
                                  builder.getStringAttr("toy"));
  module->getOperation()->setAttr(sourceRecordsAttribute,
                                  builder.getArrayAttr(records));
  module->getOperation()->setAttr(wholeSourcesAttribute,
                                  builder.getArrayAttr(whole));
  Model model(context, std::move(module));
  model.path = path;
  return model;
}

} // namespace

Result<Model> readToy(std::string_view text, const std::string &path) {
  return Reader(text, path).run();
}

} // namespace sinter::toy
