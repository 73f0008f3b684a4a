//===- ImportSignature.cpp - the entry function's signature ---------------===//
//
// The sizes that a program declares are hints, since they are not checked when
// it runs: given sizes replace them, also by "any" (?). A size of -1 is a new
// symbol.
//
//===----------------------------------------------------------------------===//

#include "formats/paddle/Importer.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter::paddle {

Result<Value> Importer::addArgument(const Port &port, const Variable &declared,
                                    NamedAttrList &attributes) {
  const std::string who = file.name() + ": input '" + port.name + "'";
  if (declared.kind != VariableKind::Tensor || !declared.type)
    return unsupported(who + " is no dense tensor but " + declared.kindName);
  if (declared.lodLevel > 0)
    return unsupported(who + " has levels of detail (LoD), which are not "
                             "supported: sequences of several lengths in one "
                             "tensor");
  auto given = options.shapes.find(port.name);
  SmallVector<int64_t> shape(declared.dims.begin(), declared.dims.end());
  if (given != options.shapes.end()) {
    if (given->second.size() != shape.size())
      return usageError(who + " has " + std::to_string(shape.size()) +
                        " dimensions, " + optionText("shape") + " gives " +
                        std::to_string(given->second.size()));
    shape.assign(given->second.begin(), given->second.end());
  }
  SmallVector<mlir::Attribute> names;
  SmallVector<std::string> symbols;
  for (auto [i, size] : llvm::enumerate(shape)) {
    symbols.push_back(size < 0 ? port.name + "_" + std::to_string(i) : "");
    if (size < 0)
      size = ShapedType::kDynamic;
  }
  if (!ShapedType::isDynamicShape(shape) && !byteCount(*declared.type, shape))
    return invalidModel(who + " is too large");
  auto tensor = RankedTensorType::get(
      shape, mlirTypeOf(*declared.type, builder.getContext()));
  Value argument = entryBlock->addArgument(
      tensor, NameLoc::get(builder.getStringAttr(oneLine(port.name))));
  for (auto [i, symbol] : llvm::enumerate(symbols)) {
    names.push_back(builder.getStringAttr(symbol));
    if (!symbol.empty())
      known.setSymbol(argument, i, known.symbolNamed(symbol));
  }
  attributes.set(nameAttribute, builder.getStringAttr(port.name));
  if (!tensor.hasStaticShape())
    attributes.set(dimsAttribute, builder.getArrayAttr(names));
  return argument;
}

Result<void> Importer::bindInputs(Frame &frame, func::FuncOp function) {
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Type> types;
  std::set<std::string> names;
  for (const Port &port : file.program().inputs) {
    const Variable *declared = declaration(frame, port.variable);
    if (!declared)
      return inFile(invalidModel("input '" + port.name + "' is not declared"),
                    file.name());
    NamedAttrList list;
    auto argument = addArgument(port, *declared, list);
    if (!argument)
      return argument.takeError();
    names.insert(port.name);
    types.push_back(argument->getType());
    attributes.push_back(list.getDictionary(builder.getContext()));
    auto value = options.values.find(port.name);
    frame.values[port.variable] =
        value == options.values.end()
            ? Bound(*argument)
            : Bound(makeParameter(value->second, port.name));
  }
  for (const auto &[name, sizes] : options.shapes)
    if (!names.contains(name))
      return inFile(
          usageError("there is no input '" + name + "' to give a shape to"),
          file.name());
  function.setFunctionType(builder.getFunctionType(types, {}));
  function.setAllArgAttrs(attributes);
  return {};
}

Result<void> Importer::bindOutputs(Frame &frame, func::FuncOp function) {
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attributes;
  for (const Port &port : file.program().outputs) {
    const std::string who = file.name() + ": output '" + port.name + "'";
    const Bound *bound = lookup(frame, port.variable);
    if (firstError)
      return *firstError;
    if (!bound)
      return invalidModel(who + " is never written");
    if (bound->kind == Bound::Array)
      return unsupported(who + " is an array of tensors");
    if (bound->kind != Bound::Tensor)
      return unsupported(who + " cannot be computed" +
                         (bound->why.empty() ? "" : ": it is " + bound->why));
    values.push_back(bound->value);
    attributes.push_back(
        formats::resultAttributes(builder, known, port.name, bound->value));
  }
  builder.create<func::ReturnOp>(function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), TypeRange(ValueRange(values))));
  function.setAllResultAttrs(attributes);
  return {};
}

} // namespace sinter::paddle
