// The node itself: inputs, attributes, results.

#include "formats/onnx/NodeContext.h"

#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/ModelCheck.h"
#include "graph/Constants.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sinter::onnx {

static std::string nodeName(const Frame &frame, const NodeProto &proto,
                            int64_t index) {
  std::string name = proto.name().empty()
                         ? proto.op_type() + "_" + std::to_string(index)
                         : proto.name();
  return oneLine(frame.prefix + name);
}

NodeContext::NodeContext(Importer &importer, Frame &frame,
                         const NodeProto &proto, int64_t version, int64_t index)
    : GraphBuilder(importer.builder, importer.known, importer.diagnostics(),
                   NameLoc::get(importer.builder.getStringAttr(
                       nodeName(frame, proto, index))),
                   index),
      importer(importer), frame(frame), proto(proto), opsetVersion(version),
      index(index) {}

//===----------------------------------------------------------------------===//
// The node
//===----------------------------------------------------------------------===//

StringRef NodeContext::opType() const { return proto.op_type(); }
StringRef NodeContext::domain() const { return proto.domain(); }
int64_t NodeContext::inputCount() const { return proto.input_size(); }
int64_t NodeContext::outputCount() const { return proto.output_size(); }

bool NodeContext::has(int64_t input) {
  if (input >= proto.input_size() || proto.input(input).empty())
    return false;
  const Bound *found = importer.lookup(frame, proto.input(input));
  return found && found->kind != Bound::None;
}
bool NodeContext::wants(int64_t output) const {
  return output < proto.output_size() && !proto.output(output).empty();
}

const Bound &NodeContext::bound(int64_t input) {
  static const Bound absent;
  if (input >= proto.input_size() || proto.input(input).empty())
    return absent;
  const Bound *found = importer.lookup(frame, proto.input(input));
  if (!found) {
    fail("input '" + Twine(proto.input(input)) + "' is not defined");
    return absent;
  }
  return *found;
}

Value NodeContext::operand(int64_t input) {
  const Bound &found = bound(input);
  if (found.isSequence())
    return fail("input " + Twine(input) + " is a sequence, not a tensor");
  if (found.kind == Bound::Coded && !takesCodes)
    return unsupported("elements of type " + dataTypeName(found.dataType) +
                       " are not supported");
  return found.value;
}

void NodeContext::makeCoded(int32_t dataType) {
  auto type = codeTypeOf(dataType);
  for (Bound &output : outputs)
    if (output.kind == Bound::Tensor && output.value &&
        sinter::elementTypeOf(element(output.value)) == type)
      output = Bound::coded(output.value, dataType);
}

Values NodeContext::operands(int64_t first) {
  Values values;
  for (int64_t i = first; i < inputCount(); ++i) {
    values.push_back(operand(i));
    if (!values.back())
      fail("input " + Twine(i) + " is missing");
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Results and errors
//===----------------------------------------------------------------------===//

LogicalResult NodeContext::result(Value value) { return results({value}); }

LogicalResult NodeContext::results(ArrayRef<Value> values) {
  std::vector<Bound> list;
  for (auto [i, value] : llvm::enumerate(values)) {
    if (!value && wants(i))
      return fail("output " + Twine(i) + " cannot be computed");
    list.push_back(value ? Bound(value) : Bound());
  }
  return boundResults(std::move(list));
}

LogicalResult NodeContext::boundResults(std::vector<Bound> values) {
  if (failed())
    return failure();
  for (int64_t i = 0; i < outputCount(); ++i)
    if (wants(i) && i >= static_cast<int64_t>(values.size()))
      return unsupported("output " + Twine(i) + " is not supported");
  outputs = std::move(values);
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *NodeContext::attribute(StringRef name) {
  for (const AttributeProto &each : proto.attribute()) {
    if (each.name() != name)
      continue;
    if (each.ref_attr_name().empty())
      return &each;
    // In a function's body: the caller's attribute, if any.
    auto found = frame.attributes.find(each.ref_attr_name());
    return found == frame.attributes.end() ? nullptr : found->second;
  }
  return nullptr;
}

/// Whether the attribute is of the given kind; one of type UNDEFINED (before IR
/// version 2) is classified by its contents.
static bool isOf(const AttributeProto &attribute,
                 AttributeProto::AttributeType type, bool holds) {
  return attribute.type() == type ||
         (attribute.type() == AttributeProto::UNDEFINED && holds);
}

int64_t NodeContext::getInt(StringRef name, int64_t otherwise) {
  const AttributeProto *found = attribute(name);
  if (!found)
    return otherwise;
  if (isOf(*found, AttributeProto::INT, found->has_i()))
    return found->i();
  fail("attribute '" + name + "' is not an integer");
  return otherwise;
}

double NodeContext::getFloat(StringRef name, double otherwise) {
  const AttributeProto *found = attribute(name);
  if (!found)
    return otherwise;
  if (isOf(*found, AttributeProto::FLOAT, found->has_f()))
    return found->f();
  fail("attribute '" + name + "' is not a number");
  return otherwise;
}

std::string NodeContext::getString(StringRef name, StringRef otherwise) {
  const AttributeProto *found = attribute(name);
  if (!found)
    return otherwise.str();
  if (isOf(*found, AttributeProto::STRING, found->has_s()))
    return found->s();
  fail("attribute '" + name + "' is not a string");
  return otherwise.str();
}

Ints NodeContext::getInts(StringRef name, Ints otherwise) {
  const AttributeProto *found = attribute(name);
  if (!found)
    return otherwise;
  if (isOf(*found, AttributeProto::INTS, found->ints_size() > 0))
    return Ints(found->ints().begin(), found->ints().end());
  fail("attribute '" + name + "' is not a list of integers");
  return otherwise;
}

SmallVector<double> NodeContext::getFloats(StringRef name) {
  const AttributeProto *found = attribute(name);
  if (!found)
    return {};
  if (isOf(*found, AttributeProto::FLOATS, found->floats_size() > 0))
    return SmallVector<double>(found->floats().begin(), found->floats().end());
  fail("attribute '" + name + "' is not a list of numbers");
  return {};
}

std::vector<std::string> NodeContext::getStrings(StringRef name) {
  const AttributeProto *found = attribute(name);
  if (!found)
    return {};
  if (isOf(*found, AttributeProto::STRINGS, found->strings_size() > 0))
    return {found->strings().begin(), found->strings().end()};
  fail("attribute '" + name + "' is not a list of strings");
  return {};
}

std::optional<Tensor> NodeContext::getTensor(StringRef name) {
  const AttributeProto *found = attribute(name);
  if (!found)
    return std::nullopt;
  std::string what = "attribute '" + name.str() + "' of " + describe(proto);
  Result<Tensor> tensor =
      isOf(*found, AttributeProto::SPARSE_TENSOR, found->has_sparse_tensor())
          ? importer.file.tensorOf(found->sparse_tensor(), what)
      : isOf(*found, AttributeProto::TENSOR, found->has_t())
          ? importer.file.tensorOf(found->t(), what)
          : Result<Tensor>(
                invalidModel("attribute '" + name.str() + "' is not a tensor"));
  if (tensor && codeTypeOf(dataTypeOf(name)) && !takesCodes)
    return unsupported("elements of type " + dataTypeName(dataTypeOf(name)) +
                       " are not supported");
  if (tensor)
    return *tensor;
  if (!problem)
    problem = {tensor.error().kind, tensor.error().message()};
  return std::nullopt;
}

int32_t NodeContext::dataTypeOf(StringRef name) {
  const AttributeProto *found = attribute(name);
  return found ? found->t().data_type() : 0;
}

const GraphProto *NodeContext::getGraph(StringRef name) {
  const AttributeProto *found = attribute(name);
  if (found && isOf(*found, AttributeProto::GRAPH, found->has_g()))
    return &found->g();
  fail("attribute '" + name + "' is not there or not a graph");
  return nullptr;
}

Type NodeContext::elementType(int64_t dataType) {
  if (llvm::isInt<32>(dataType))
    if (auto element = onnx::elementTypeOf(static_cast<int32_t>(dataType)))
      return mlirTypeOf(*element, context());
  unsupported("elements of type " + dataTypeName(dataType) +
              " are not supported");
  return {};
}

Type NodeContext::numberType(int64_t dataType) {
  Type element = elementType(dataType);
  if (!element || !isStringType(element))
    return element;
  fail("the elements are strings, not numbers");
  return {};
}

std::optional<Ints> NodeContext::integersFrom(int64_t input, StringRef name,
                                              bool *given) {
  if (given)
    *given = has(input) || hasAttribute(name);
  if (!has(input))
    return getInts(name);
  auto list = knownIntegers(operand(input));
  if (!list)
    return unknown("input '" + name +
                   "' depends on values that are known only at run time");
  return list;
}

void NodeContext::erase(Operation *op) {
  GraphBuilder::erase(op);
  importer.forgetNodesAfter(index);
}

} // namespace sinter::onnx
