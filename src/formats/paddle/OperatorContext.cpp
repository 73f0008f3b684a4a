// The operator itself: operands, results, attributes.

#include "formats/paddle/OperatorContext.h"

#include "formats/paddle/file/DataTypes.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::paddle {

/// Operators have no names, so one is named after its main output, within its
/// layer if that is known.
static std::string originName(const Operator &op) {
  const std::string *given = mainOutput(op);
  return oneLine(op.scope + (given ? *given : op.type));
}

OperatorContext::OperatorContext(Importer &importer, Frame &frame,
                                 const Operator &proto, int64_t index)
    : GraphBuilder(
          importer.builder, importer.known, importer.diagnostics(),
          NameLoc::get(importer.builder.getStringAttr(originName(proto))),
          index),
      importer(importer), frame(frame), proto(proto), index(index) {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

size_t OperatorContext::count(StringRef slot) const {
  const std::vector<std::string> *arguments = proto.input(slot);
  return arguments ? arguments->size() : 0;
}

const Bound &OperatorContext::bound(StringRef slot, size_t index) {
  static const Bound absent;
  const std::vector<std::string> *arguments = proto.input(slot);
  if (!arguments || index >= arguments->size()) {
    fail("input " + slot + " is missing");
    return absent;
  }
  const Bound *found = importer.lookup(frame, (*arguments)[index]);
  if (!found) {
    fail("input " + slot + ", '" + (*arguments)[index] +
         "', is not written before it is read");
    return absent;
  }
  return *found;
}

Value OperatorContext::operand(StringRef slot) {
  if (count(slot) > 1)
    return fail("input " + slot + " has " + Twine(count(slot)) +
                " tensors, not one");
  const Bound &found = bound(slot);
  if (found.kind == Bound::Array)
    return unsupported("input " + slot + " is an array of tensors");
  return found.value;
}

Values OperatorContext::operands(StringRef slot) {
  Values values;
  if (!has(slot))
    fail("input " + slot + " is missing");
  for (size_t i = 0; i < count(slot); ++i) {
    const Bound &found = bound(slot, i);
    if (found.kind == Bound::Array)
      llvm::append_range(values, found.elements);
    else
      values.push_back(found.value);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

size_t OperatorContext::outputCount(StringRef slot) const {
  const std::vector<std::string> *arguments = proto.output(slot);
  return arguments ? arguments->size() : 0;
}

bool OperatorContext::wants(StringRef slot) const {
  return outputCount(slot) > 0;
}

LogicalResult OperatorContext::results(StringRef slot, ArrayRef<Value> values) {
  if (failed())
    return failure();
  if (wants(slot) && outputCount(slot) != values.size())
    return fail("output " + slot + " has " + Twine(outputCount(slot)) +
                " tensors, the operator gives " + Twine(values.size()));
  for (auto [i, value] : llvm::enumerate(values)) {
    if (!value && wants(slot))
      return fail("output " + slot + " cannot be computed");
    if (value && wants(slot))
      given[{slot.str(), i}] = Bound(value);
  }
  return success();
}

LogicalResult OperatorContext::boundResult(StringRef slot, Bound value) {
  if (failed())
    return failure();
  given[{slot.str(), 0}] = std::move(value);
  return success();
}

LogicalResult OperatorContext::write(StringRef variable, Bound value) {
  if (failed())
    return failure();
  written.emplace_back(variable.str(), std::move(value));
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeValue *OperatorContext::attribute(StringRef name) const {
  const AttributeValue *found = proto.attribute(name);
  return found && std::holds_alternative<std::monostate>(*found) ? nullptr
                                                                 : found;
}

int64_t OperatorContext::getInt(StringRef name, int64_t otherwise) {
  const AttributeValue *found = attribute(name);
  if (!found)
    return otherwise;
  if (const auto *number = std::get_if<int64_t>(found))
    return *number;
  if (const auto *flag = std::get_if<bool>(found))
    return *flag;
  if (const auto *list = std::get_if<std::vector<int64_t>>(found);
      list && list->size() == 1)
    return list->front();
  if (const auto *real = std::get_if<double>(found);
      real && *real == std::trunc(*real) && std::abs(*real) < 0x1p53)
    return static_cast<int64_t>(*real);
  fail("attribute '" + name + "' is not an integer");
  return otherwise;
}

bool OperatorContext::getBool(StringRef name, bool otherwise) {
  return getInt(name, otherwise) != 0;
}

double OperatorContext::getFloat(StringRef name, double otherwise) {
  const AttributeValue *found = attribute(name);
  if (!found)
    return otherwise;
  if (const auto *number = std::get_if<double>(found))
    return *number;
  if (const auto *number = std::get_if<int64_t>(found))
    return static_cast<double>(*number);
  if (const auto *list = std::get_if<std::vector<double>>(found);
      list && list->size() == 1)
    return list->front();
  fail("attribute '" + name + "' is not a number");
  return otherwise;
}

std::string OperatorContext::getString(StringRef name, StringRef otherwise) {
  const AttributeValue *found = attribute(name);
  if (!found)
    return otherwise.str();
  if (const auto *text = std::get_if<std::string>(found))
    return *text;
  fail("attribute '" + name + "' is not a string");
  return otherwise.str();
}

Ints OperatorContext::getInts(StringRef name, Ints otherwise) {
  const AttributeValue *found = attribute(name);
  if (!found)
    return otherwise;
  if (const auto *list = std::get_if<std::vector<int64_t>>(found))
    return Ints(list->begin(), list->end());
  if (const auto *list = std::get_if<std::vector<bool>>(found))
    return Ints(list->begin(), list->end());
  if (const auto *number = std::get_if<int64_t>(found))
    return {*number};
  // An empty list may have any kind.
  if (const auto *list = std::get_if<std::vector<double>>(found);
      list && list->empty())
    return {};
  fail("attribute '" + name + "' is not a list of integers");
  return otherwise;
}

SmallVector<double> OperatorContext::getFloats(StringRef name) {
  const AttributeValue *found = attribute(name);
  if (!found)
    return {};
  if (const auto *list = std::get_if<std::vector<double>>(found))
    return SmallVector<double>(list->begin(), list->end());
  if (const auto *list = std::get_if<std::vector<int64_t>>(found))
    return SmallVector<double>(list->begin(), list->end());
  if (const auto *number = std::get_if<double>(found))
    return {*number};
  if (const auto *number = std::get_if<int64_t>(found))
    return {static_cast<double>(*number)};
  fail("attribute '" + name + "' is not a list of numbers");
  return {};
}

std::vector<std::string> OperatorContext::getStrings(StringRef name) {
  const AttributeValue *found = attribute(name);
  if (!found)
    return {};
  if (const auto *list = std::get_if<std::vector<std::string>>(found))
    return *list;
  fail("attribute '" + name + "' is not a list of strings");
  return {};
}

std::optional<int64_t> OperatorContext::getBlock(StringRef name) {
  const AttributeValue *found = attribute(name);
  const auto *block = found ? std::get_if<BlockIndex>(found) : nullptr;
  if (block && block->index > 0 &&
      block->index <
          static_cast<int64_t>(importer.file.program().blocks.size()))
    return block->index;
  return fail("attribute '" + name + "' is not there or no block");
}

Type OperatorContext::elementTypeOf(int64_t dataType) {
  if (auto element = elementTypeOfNumber(dataType))
    return mlirTypeOf(*element, context());
  unsupported("elements of data type " + Twine(dataType) +
              " are not supported");
  return {};
}

Type OperatorContext::elementType(StringRef attributeName, int64_t otherwise) {
  return elementTypeOf(getInt(attributeName, otherwise));
}

//===----------------------------------------------------------------------===//
// Attributes that may be tensors
//===----------------------------------------------------------------------===//

Value OperatorContext::integersValue(ArrayRef<StringRef> slots,
                                     StringRef name) {
  Values pieces;
  for (StringRef slot : slots)
    if (has(slot)) {
      pieces = operands(slot);
      break;
    }
  if (const AttributeValue *found = pieces.empty() ? attribute(name) : nullptr)
    if (const auto *variables = std::get_if<VariableNames>(found))
      for (const std::string &variable : variables->names) {
        const Bound *held = importer.lookup(frame, variable);
        if (!held || held->kind != Bound::Tensor)
          return fail("attribute '" + name + "' names '" + variable +
                      "', which is not written before it is read");
        pieces.push_back(held->value);
      }
  if (pieces.empty())
    return failed() ? Value() : integers(getInts(name));
  for (Value &piece : pieces) {
    if (!piece || !element(piece).isIntOrIndex())
      return fail("'" + name + "' is a tensor, but not of integers");
    piece = cast(piece, i64());
    if (!piece)
      return {};
    const int64_t count = isStatic(piece) ? tensorOf(piece).getNumElements()
                                          : ShapedType::kDynamic;
    if (rank(piece) != 1)
      piece = reshape(piece, ArrayRef<int64_t>(count));
  }
  return pieces.size() == 1 ? pieces.front() : concatenate(pieces, 0);
}

std::optional<Ints> OperatorContext::integersFrom(ArrayRef<StringRef> slots,
                                                  StringRef name) {
  Value list = integersValue(slots, name);
  if (!list)
    return std::nullopt;
  auto known = knownIntegers(list);
  if (!known)
    return unknown("'" + name +
                   "' depends on values that are known only at run time");
  return known;
}

Value OperatorContext::numberFrom(StringRef slot, StringRef name,
                                  double otherwise, Type element) {
  if (!has(slot))
    return scalar(element, getFloat(name, otherwise));
  Value number = operand(slot);
  if (auto known = knownScalar(number); known && !element.isInteger())
    return scalar(element, *known);
  if (number && rank(number) != 0) {
    if (isStatic(number) && tensorOf(number).getNumElements() != 1)
      return fail("input " + slot + " has not one element");
    number = reshape(number, ArrayRef<int64_t>());
  }
  return number ? cast(number, element) : Value();
}

} // namespace sinter::paddle
