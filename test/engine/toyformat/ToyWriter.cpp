// From the graph language to lines.

#include "engine/toyformat/ToyFormat.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/Source.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "runtime/MappedFile.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace mlir;

namespace sinter::toy {

namespace {

class Writer {
public:
  explicit Writer(const Model &model) : model(model), out(text) {}
  Result<void> run(const std::string &path);

private:
  void writeInputs(func::FuncOp function);
  void findMeans(func::FuncOp function);
  bool isUntouchedMean(int64_t number, ArrayRef<Operation *> group) const;
  void write(Operation *op);
  void writeNode(StringRef kind, Operation *op, ValueRange operands);
  /// The name of a value, which is written before where it is a weight.
  std::string nameOf(Value value);
  std::string writeWeight(stablehlo::ConstantOp constant);
  /// \p wanted, or a name like it that is free.
  std::string freshName(StringRef wanted);

  const Model &model;
  std::string text;
  llvm::raw_string_ostream out;
  DenseMap<Value, std::string> names;
  llvm::StringSet<> used;
  /// What is inside of a mean, and the division that gives it.
  llvm::DenseSet<Operation *> inside;
  DenseMap<Operation *, Value> means;
  std::map<std::string, int> unsupportedOps;
};

std::string Writer::freshName(StringRef wanted) {
  std::string base = wanted.empty() ? "value" : wanted.str();
  std::replace(base.begin(), base.end(), ' ', '_');
  std::string name = base;
  for (int i = 1; !used.insert(name).second; ++i)
    name = base + "_" + std::to_string(i);
  return name;
}

std::string Writer::writeWeight(stablehlo::ConstantOp constant) {
  const std::optional<Tensor> tensor = constantTensor(constant);
  if (!tensor || tensor->type() != ElementType::F32) {
    ++unsupportedOps["constants that are not f32"];
    return "?";
  }
  const std::string name = freshName(constantName(constant.getResult()));
  out << "weight " << name;
  for (int64_t size : tensor->shape())
    out << ' ' << size;
  out << " =";
  // As many digits as tell all f32 apart.
  for (int64_t i = 0; i < tensor->size(); ++i)
    out << ' ' << llvm::format("%.9g", tensor->toDouble(i));
  out << '\n';
  return name;
}

std::string Writer::nameOf(Value value) {
  // Operators broadcast by themselves, aligned at the last dimension.
  while (std::optional<Broadcast> broadcast = Broadcast::of(value)) {
    const int64_t rank = broadcast->type().getRank(),
                  own = broadcast->dimensions.size();
    if (!llvm::equal(broadcast->dimensions,
                     llvm::seq<int64_t>(rank - own, rank)))
      break;
    value = broadcast->operand;
  }
  std::string &name = names[value];
  if (name.empty())
    if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>()) {
      std::string written = writeWeight(constant);
      names[value] = written;
      return written;
    }
  return name;
}

void Writer::writeNode(StringRef kind, Operation *op, ValueRange operands) {
  SmallVector<std::string> read;
  for (Value operand : operands)
    read.push_back(nameOf(operand));
  std::string &name = names[op->getResult(0)];
  if (name.empty()) {
    auto location = dyn_cast<NameLoc>(op->getLoc());
    name = freshName(location ? location.getName().getValue() : "");
  }
  out << kind << ' ' << name;
  for (const std::string &each : read)
    out << ' ' << each;
  out << '\n';
}

void Writer::write(Operation *op) {
  if (inside.contains(op) || isa<stablehlo::ConstantOp, func::ReturnOp>(op) ||
      (op->getNumResults() == 1 && Broadcast::of(op->getResult(0))))
    return;
  if (Value operand = means.lookup(op))
    return writeNode("mean", op, operand);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](stablehlo::AddOp) { writeNode("add", op, op->getOperands()); })
      .Case([&](stablehlo::MulOp) {
        writeNode("multiply", op, op->getOperands());
      })
      .Case([&](nn::ReluOp) { writeNode("relu", op, op->getOperands()); })
      .Default([&](Operation *) {
        ++unsupportedOps[op->getName().getStringRef().str()];
      });
}

void Writer::writeInputs(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    const unsigned i = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(i, nameAttribute);
    auto symbols = function.getArgAttrOfType<ArrayAttr>(i, dimsAttribute);
    auto type = cast<RankedTensorType>(argument.getType());
    if (!type.getElementType().isF32())
      ++unsupportedOps["inputs that are not f32"];
    out << "input "
        << (names[argument] = freshName(name ? name.getValue() : "x"))
        << " f32";
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (!type.isDynamicDim(d))
        out << ' ' << type.getDimSize(d);
      else if (auto symbol = symbols ? cast<StringAttr>(symbols[d]) : nullptr;
               symbol && !symbol.empty())
        out << ' ' << symbol.getValue();
      else
        out << " size" << i << '_' << d;
    out << '\n';
  }
}

bool Writer::isUntouchedMean(int64_t number,
                             ArrayRef<Operation *> group) const {
  auto records =
      keptOfSource<ArrayAttr>(model.module(), "toy", sourceRecordsAttribute);
  if (!records || number < 0 || number >= static_cast<int64_t>(records.size()))
    return false;
  auto record = cast<DictionaryAttr>(records[number]);
  auto kinds = record.getAs<ArrayAttr>("operations");
  if (record.getAs<StringAttr>("operator").getValue() != "mean" ||
      kinds.size() != group.size())
    return false;
  for (auto [kind, op] : llvm::zip_equal(kinds, group))
    if (cast<StringAttr>(kind).getValue() != op->getName().getStringRef())
      return false;
  // Nobody else reads what is inside.
  return llvm::all_of(group.drop_back(), [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return llvm::is_contained(group, user);
    });
  });
}

void Writer::findMeans(func::FuncOp function) {
  llvm::MapVector<int64_t, SmallVector<Operation *>> groups;
  for (Operation &op : function.front())
    if (std::optional<int64_t> number = sourceOf(&op))
      groups[*number].push_back(&op);
  for (auto &[number, group] : groups)
    if (isUntouchedMean(number, group)) {
      auto sum = llvm::find_if(
          group, [](Operation *op) { return isa<stablehlo::ReduceOp>(op); });
      means[group.back()] = (*sum)->getOperand(0);
      inside.insert(group.begin(), group.end() - 1);
    }
}

Result<void> Writer::run(const std::string &path) {
  func::FuncOp function = model.entry();
  if (!function)
    return invalidModel(path + ": " + whyNoEntry(model.module()));
  out << "toy 1\n";
  writeInputs(function);
  findMeans(function);
  // Outputs have their own names.
  Operation *end = function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands()))
    if (auto name = function.getResultAttrOfType<StringAttr>(i, nameAttribute);
        name && value.getDefiningOp() && names[value].empty())
      names[value] = freshName(name.getValue());
  for (Operation &op : function.front())
    write(&op);
  for (Value value : end->getOperands()) {
    if (Broadcast::of(value))
      ++unsupportedOps["outputs that only repeat a value"];
    out << "output " << nameOf(value) << '\n';
  }
  if (unsupportedOps.empty())
    return writeFileAtomically(path, text);
  std::string list;
  for (const auto &[name, count] : unsupportedOps)
    list += (list.empty() ? "" : "; ") + std::to_string(count) + " x " + name;
  return unsupported(path + ": Toy has no form for: " + list);
}

} // namespace

Result<void> writeToy(const Model &model, const std::string &path) {
  return Writer(model).run(path);
}

} // namespace sinter::toy
