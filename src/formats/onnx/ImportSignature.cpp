//===- ImportSignature.cpp - the entry function's signature ---------------===//
//
// A tensor is one argument or result. A sequence becomes one for each element,
// called name[0], name[1], ..., and an optional one or none, so the graph has
// only tensors. The elements of such an input must be given
// (ReadOptions::shapes); an input that is not given is empty.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx/Importer.h"
#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/file/ArgumentNames.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/ops/Minifloats.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/OptionNames.h"
#include <set>

using namespace mlir;

namespace sinter::onnx {

/// Checks the sizes that --shape gives for an input of declared type \p type,
/// and binds its symbolic dimensions to them; -1 leaves a dimension as it is.
static Result<void> bindSymbols(const std::string &name,
                                const TypeProto_Tensor &type,
                                const std::vector<int64_t> &sizes,
                                std::map<std::string, int64_t> &bindings) {
  std::string who = "input '" + name + "'";
  for (int64_t size : sizes)
    if (size < -1)
      return usageError(who + ": a size in " + optionText("shape") +
                        " is negative");
  if (!type.has_shape())
    return {};
  const auto &dims = type.shape().dim();
  if (dims.size() != static_cast<int>(sizes.size()))
    return usageError(who + " has " + std::to_string(dims.size()) +
                      " dimensions, " + optionText("shape") + " gives " +
                      std::to_string(sizes.size()));
  for (int i = 0; i < dims.size(); ++i) {
    if (sizes[i] < 0)
      continue;
    if (dims[i].has_dim_value() && dims[i].dim_value() >= 0 &&
        dims[i].dim_value() != sizes[i])
      return usageError(who + ": dimension " + std::to_string(i) + " is " +
                        std::to_string(dims[i].dim_value()) + ", " +
                        optionText("shape") + " gives " +
                        std::to_string(sizes[i]));
    if (dims[i].dim_param().empty())
      continue;
    auto [known, isNew] = bindings.try_emplace(dims[i].dim_param(), sizes[i]);
    if (!isNew && known->second != sizes[i])
      return usageError(who + ": " + optionText("shape") + " binds '" +
                        dims[i].dim_param() + "' to both " +
                        std::to_string(known->second) + " and " +
                        std::to_string(sizes[i]));
  }
  return {};
}

/// The argument called \p name, of type \p type, with the sizes that are given
/// or bound.
Result<Value>
Importer::addArgument(const std::string &name, const TypeProto_Tensor &type,
                      const std::map<std::string, int64_t> &bindings,
                      NamedAttrList &attributes) {
  std::string who = "input '" + name + "'";
  auto element = options.keepsNodes ? onnx::elementTypeOf(type.elem_type())
                                    : onnx::storedTypeOf(type.elem_type());
  if (!element)
    return inFile(
        unsupported(who + " has elements of a type that is not supported"),
        file.name());
  auto given = options.shapes.find(name);
  if (!type.has_shape() && given == options.shapes.end())
    return inFile(withHint("give it one with " + optionText("shape"),
                           unsupported(who + " has no shape")),
                  file.name());
  SmallVector<int64_t> shape;
  SmallVector<Attribute> names;
  SmallVector<std::string> symbols;
  const auto &dims = type.shape().dim();
  const size_t rank =
      given == options.shapes.end() ? dims.size() : given->second.size();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t wanted =
        given == options.shapes.end() ? -1 : given->second[i];
    const bool isDeclared =
        type.has_shape() && dims[i].has_dim_value() && dims[i].dim_value() >= 0;
    const std::string symbol = type.has_shape() ? dims[i].dim_param() : "";
    auto bound = symbol.empty() ? bindings.end() : bindings.find(symbol);
    const int64_t size = wanted >= 0               ? wanted
                         : isDeclared              ? dims[i].dim_value()
                         : bound != bindings.end() ? bound->second
                                                   : ShapedType::kDynamic;
    shape.push_back(size);
    symbols.push_back(!ShapedType::isDynamic(size) ? ""
                      : symbol.empty() ? name + "_" + std::to_string(i)
                                       : symbol);
  }
  if (!byteCount(*element, shape) && !ShapedType::isDynamicShape(shape))
    return inFile(invalidModel(who + " is too large"), file.name());
  auto tensor =
      RankedTensorType::get(shape, mlirTypeOf(*element, builder.getContext()));
  Value argument = entryBlock->addArgument(
      tensor, NameLoc::get(builder.getStringAttr(oneLine(name))));
  for (auto [i, symbol] : llvm::enumerate(symbols)) {
    names.push_back(builder.getStringAttr(symbol));
    if (!symbol.empty())
      known.setSymbol(argument, i, known.symbolNamed(symbol));
  }
  attributes.set(nameAttribute, builder.getStringAttr(name));
  if (!tensor.hasStaticShape())
    attributes.set(dimsAttribute, builder.getArrayAttr(names));
  return argument;
}

/// Whether an input keeps a type that the graph language lacks: a sequence or
/// an optional without given elements, a tensor of unknown rank.
bool Importer::isKeptInput(const ValueInfoProto &input) const {
  if (!options.keepsNodes)
    return false;
  if (options.shapes.contains(input.name()) ||
      options.shapes.contains(elementName(input.name(), 0)))
    return false;
  const TypeProto &type = input.type();
  return !type.has_tensor_type() || !type.tensor_type().has_shape() ||
         !onnx::elementTypeOf(type.tensor_type().elem_type());
}

/// Whether an initializer that is also an input stays a default that callers
/// may replace.
bool Importer::isKeptDefault(const ValueInfoProto &input,
                             const Frame &frame) const {
  return options.keepsNodes && !options.freezesDefaults &&
         mayReplaceDefaults(file) &&
         !options.replacedDefaults.contains(input.name()) &&
         frame.initializers.contains(input.name()) &&
         !options.shapes.contains(input.name());
}

Result<void> Importer::bindInputs(const GraphProto &graph, Frame &frame,
                                  func::FuncOp function) {
  std::map<std::string, int64_t> bindings;
  std::set<std::string> arguments;
  std::vector<const ValueInfoProto *> inputs;
  for (const ValueInfoProto &input : graph.input()) {
    bool constant = frame.initializers.contains(input.name()) ||
                    frame.sparseInitializers.contains(input.name());
    if (constant && !options.shapes.contains(input.name()) &&
        !options.replacedDefaults.contains(input.name()) &&
        !isKeptDefault(input, frame))
      continue;
    inputs.push_back(&input);
    if (isKeptInput(input))
      continue;
    const TypeProto &inner = innerType(input.type());
    if (!inner.has_tensor_type())
      return inFile(unsupported("input '" + input.name() +
                                "' consists of something else than tensors"),
                    file.name());
    for (const std::string &name : argumentNames(input, options.shapes)) {
      arguments.insert(name);
      auto given = options.shapes.find(name);
      if (given == options.shapes.end())
        continue;
      // Each element of a sequence has sizes of its own.
      std::map<std::string, int64_t> own;
      if (auto done = bindSymbols(name, inner.tensor_type(), given->second,
                                  isSequence(input.type()) ? own : bindings);
          !done)
        return inFile(done.takeError(), file.name());
    }
  }
  for (const auto &[name, sizes] : options.shapes)
    if (!arguments.contains(name))
      return inFile(
          usageError("there is no input '" + name + "' to give a shape to"),
          file.name());
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Type> types;
  for (const ValueInfoProto *input : inputs) {
    if (isKeptInput(*input)) {
      NamedAttrList list;
      list.set(nameAttribute, builder.getStringAttr(input->name()));
      Value argument = entryBlock->addArgument(
          stablehlo::TokenType::get(builder.getContext()),
          NameLoc::get(builder.getStringAttr(oneLine(input->name()))));
      types.push_back(argument.getType());
      attributes.push_back(list.getDictionary(builder.getContext()));
      frame.values[input->name()] = Bound::kept(argument);
      continue;
    }
    SmallVector<Value> values;
    for (const std::string &name : argumentNames(*input, options.shapes)) {
      NamedAttrList list;
      auto argument = addArgument(name, innerType(input->type()).tensor_type(),
                                  bindings, list);
      if (!argument)
        return argument.takeError();
      types.push_back(argument->getType());
      if (isKeptDefault(*input, frame)) {
        auto tensor = file.tensorOf(*frame.initializers.lookup(input->name()));
        if (!tensor)
          return tensor.takeError();
        notes.push_back("'" + name +
                        "' is an initializer and an input: it stays an input "
                        "with a default; " +
                        optionText("freeze") + " makes it a constant");
        list.set(defaultAttribute,
                 sinter::toAttribute(*tensor, name, builder.getContext()));
      }
      attributes.push_back(list.getDictionary(builder.getContext()));
      auto value = options.values.find(name);
      values.push_back(value == options.values.end()
                           ? *argument
                           : makeInitializer(value->second, name));
    }
    bool isEmpty = input->type().has_optional_type() && values.empty();
    frame.values[input->name()] =
        isEmpty ? Bound::notGiven()
        : isSequence(input->type())
            ? Bound::sequence(values)
            : boundOf(values.front(),
                      innerType(input->type()).tensor_type().elem_type());
  }
  function.setFunctionType(builder.getFunctionType(types, {}));
  function.setAllArgAttrs(attributes);
  return {};
}

/// Checks that an output of \p type can be what the file declares: the same
/// element type, and equal sizes where both are static. The declared sizes
/// belong to the declared input sizes, so they are ignored if others are
/// \p given.
static Result<void> checkDeclaration(const std::string &who, Type type,
                                     const TypeProto &declared,
                                     bool sizesAreGiven) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  const TypeProto &inner = innerType(declared);
  if (!tensor || !inner.has_tensor_type())
    return {};
  auto element = elementTypeOf(inner.tensor_type().elem_type());
  auto actual = sinter::elementTypeOf(tensor.getElementType());
  if (element && actual && *element != *actual)
    return invalidModel(who + " is declared as " + std::string(name(*element)) +
                        ", but the graph gives " + std::string(name(*actual)));
  if (!inner.tensor_type().has_shape() || sizesAreGiven)
    return {};
  std::string sizes;
  bool differs = inner.tensor_type().shape().dim_size() != tensor.getRank();
  for (auto [i, dim] : llvm::enumerate(inner.tensor_type().shape().dim())) {
    bool isKnown = dim.has_dim_value() && dim.dim_value() >= 0;
    sizes += (i ? ", " : "") +
             (isKnown ? std::to_string(dim.dim_value())
                      : (dim.dim_param().empty() ? "?" : dim.dim_param()));
    differs |= isKnown && !differs && !tensor.isDynamicDim(i) &&
               tensor.getDimSize(i) != dim.dim_value();
  }
  if (!differs)
    return {};
  std::string gives;
  for (auto [i, size] : llvm::enumerate(tensor.getShape()))
    gives += (i ? ", " : "") +
             (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return invalidModel(who + " is declared as [" + sizes +
                      "], but the graph gives [" + gives + "]");
}

Result<void> Importer::bindOutputs(const GraphProto &graph, Frame &frame,
                                   func::FuncOp function) {
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attributes;
  for (const ValueInfoProto &output : graph.output()) {
    std::string who = "output '" + output.name() + "'";
    const Bound *bound = lookup(frame, output.name());
    if (firstError)
      return *firstError;
    if (!bound)
      return invalidModel(who + " is not defined");
    if (bound->kind == Bound::Poisoned)
      return unsupported(who + " cannot be computed");
    if (options.keepsNodes) {
      const bool isTensor =
          !output.has_type() || output.type().has_tensor_type();
      Value whole = bound->kind == Bound::Kept ? bound->value : bound->whole;
      if (bound->kind == Bound::Kept || (whole && !isTensor)) {
        values.push_back(whole);
        attributes.push_back(
            formats::resultAttributes(builder, known, output.name(), whole));
        continue;
      }
      if (!isTensor || bound->kind != Bound::Tensor)
        return unsupported(who + " is a sequence or an optional of which only "
                                 "the elements are known");
    }
    if (bound->kind == Bound::Coded &&
        innerType(output.type()).tensor_type().elem_type() != bound->dataType)
      return invalidModel(who + " is not declared as " +
                          dataTypeName(bound->dataType));
    if (bound->kind == Bound::Tensor || bound->kind == Bound::Coded) {
      if (auto fits = checkDeclaration(who, bound->value.getType(),
                                       output.type(), !options.shapes.empty());
          !fits)
        return fits;
      values.push_back(bound->value);
      attributes.push_back(formats::resultAttributes(
          builder, known, output.name(), bound->value));
    }
    if (bound->kind == Bound::Packed)
      return unsupported(who +
                         " is a sequence whose number of tensors is known "
                         "only at run time");
    for (auto [i, element] : llvm::enumerate(bound->elements)) {
      values.push_back(element);
      attributes.push_back(formats::resultAttributes(
          builder, known, elementName(output.name(), i), element));
    }
  }
  builder.create<func::ReturnOp>(function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), TypeRange(ValueRange(values))));
  function.setAllResultAttrs(attributes);
  return {};
}

} // namespace sinter::onnx
