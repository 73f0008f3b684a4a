//===- TensorNames.cpp - names of values in the user's file ---------------===//

#include "engine/compiler/TensorNames.h"

#include "formats/Format.h"
#include "graph/Constants.h"
#include "graph/Origin.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"
#include "runtime/MappedFile.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter {

TensorNames::TensorNames(const Model &model) {
  func::FuncOp entry = model.entry();
  takeBorder(entry, model);
  for (const Format *format : allFormats())
    if (format->nameValues)
      format->nameValues(model, [&](Value value, StringRef name) {
        names.try_emplace(value, name.str());
      });
  if (isa<FileLineColLoc>(entry.getLoc()))
    readText(model.path);
}

void TensorNames::takeBorder(func::FuncOp entry, const Model &model) {
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return;
  Operation *terminator = entry.front().getTerminator();
  for (const StateTensor &state : storage->states()) {
    names[entry.getArgument(state.argument)] = state.spec.name;
    names.try_emplace(terminator->getOperand(state.result), state.spec.name);
  }
  for (auto [number, spec] : llvm::zip_equal(storage->inputs(), model.inputs()))
    names[entry.getArgument(number)] = spec.name;
  // A value that is returned twice has the name of the first.
  for (auto [number, spec] :
       llvm::zip_equal(storage->outputs(), model.outputs()))
    names.try_emplace(terminator->getOperand(number), spec.name);
}

void TensorNames::readText(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return;
  SmallVector<StringRef> found;
  StringRef((*file)->text()).split(found, '\n');
  for (StringRef line : found)
    lines.push_back(line.str());
}

/// "%a" of "  %a, %b:2 = stablehlo...", whose operation begins at its location.
std::string TensorNames::inText(OpResult result) const {
  auto place = dyn_cast<FileLineColLoc>(result.getOwner()->getLoc());
  if (!place || place.getLine() == 0 || place.getLine() > lines.size())
    return "";
  const StringRef line = lines[place.getLine() - 1];
  StringRef before = line.take_front(place.getColumn() - 1).rtrim();
  if (!before.consume_back("="))
    return "";
  before = before.drop_front(before.rfind('=') + 1);
  unsigned number = result.getResultNumber();
  SmallVector<StringRef> parts;
  before.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, countText] = part.trim().split(':');
    unsigned count = 1;
    if (!name.starts_with("%") ||
        (!countText.empty() && countText.getAsInteger(10, count)))
      return "";
    if (number < count)
      return count == 1 ? name.str() : (name + "#" + Twine(number)).str();
    number -= count;
  }
  return "";
}

std::string TensorNames::nameOf(Value value) const {
  if (auto known = names.find(value); known != names.end())
    return known->second;
  if (const StringRef constant = constantName(value); !constant.empty())
    return constant.str();
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return originOf(value.getLoc());
  if (std::string name = inText(result); !name.empty())
    return name;
  return originOf(result.getLoc());
}

std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    stream << type;
    return text;
  }
  const std::optional<ElementType> element =
      elementTypeOf(tensor.getElementType());
  if (element && !isa<quant::QuantizedType>(tensor.getElementType()))
    stream << name(*element);
  else
    stream << tensor.getElementType();
  stream << " [";
  llvm::interleaveComma(tensor.getShape(), stream, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      stream << "?";
    else
      stream << size;
  });
  stream << "]";
  return text;
}

} // namespace sinter
