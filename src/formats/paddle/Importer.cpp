#include "formats/paddle/Importer.h"

#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"
#include "graph/Constants.h"
#include "graph/Literals.h"
#include "graph/Source.h"
#include "graph/Types.h"
#include "graph/nn/NnDeferred.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sinter::paddle {

/// Maximum number of operators that are translated.
static constexpr int64_t mostOperators = 2'000'000;
/// Maximum nesting depth of blocks.
static constexpr int deepestBlocks = 100;

const std::string *mainOutput(const Operator &op) {
  for (const char *slot : {"Y", "Out"})
    if (const auto *names = op.output(slot); names && !names->empty())
      return &names->front();
  for (const Slot &slot : op.outputs)
    if (!slot.arguments.empty())
      return &slot.arguments.front();
  return nullptr;
}

std::string describe(const Operator &op) {
  std::string text = "operator '" + oneLine(op.type) + "'";
  if (const std::string *given = mainOutput(op))
    text += " that gives '" + oneLine(*given) + "'";
  return text;
}

Importer::Importer(PaddleFile file, const ReadOptions &options,
                   std::shared_ptr<MLIRContext> context)
    : file(std::move(file)), options(options), contextOwner(std::move(context)),
      builder(contextOwner.get()), reported(contextOwner.get()) {
  for (const Block &block : this->file.program().blocks) {
    auto &byName = variables.emplace_back();
    byName.reserve(block.variables.size());
    for (const Variable &variable : block.variables)
      byName[variable.name] = &variable;
  }
}

Result<Model> Importer::run() {
  MLIRContext *context = contextOwner.get();
  Location location = NameLoc::get(builder.getStringAttr("graph"));
  module = ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = builder.create<func::FuncOp>(
      location, entryName, FunctionType::get(context, {}, {}));
  entryBlock = function.addEntryBlock();
  builder.setInsertionPointToEnd(entryBlock);

  Frame frame;
  if (auto done = bindInputs(frame, function); !done)
    return done.takeError();
  importBlock(frame);
  if (firstError)
    return *firstError;
  if (!unsupportedOperators.empty())
    return unsupportedOperators.error(file.name());
  if (auto done = bindOutputs(frame, function); !done)
    return done.takeError();
  llvm::DenseSet<mlir::Operation *> erased;
  for (mlir::Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*entryBlock)))
    if (isOpTriviallyDead(&op)) {
      erased.insert(&op);
      known.forget(&op);
      op.erase();
    }
  if (keepsRecords())
    if (auto failed = keepRecords(erased))
      return *failed;
  Model model(contextOwner, std::move(module));
  model.path = file.name();
  return model;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

const Variable *Importer::declaration(const Frame &frame,
                                      StringRef name) const {
  for (const Frame *each = &frame; each; each = each->parent)
    if (const Variable *found = variables[each->block].lookup(name))
      return found;
  return nullptr;
}

const Bound *Importer::lookup(Frame &frame, StringRef name) {
  for (Frame *each = &frame; each; each = each->parent) {
    auto found = each->values.find(name);
    if (found != each->values.end())
      return &found->second;
    if (each->parent)
      continue;
    const Variable *declared = variables[each->block].lookup(name);
    if (!declared || !declared->isPersistable ||
        declared->kind != VariableKind::Tensor)
      return nullptr;
    Result<class Tensor> tensor = file.parameter(declared->name);
    Bound bound = Bound::poisoned();
    if (tensor) {
      Value value = makeParameter(*tensor, name);
      if (declared->stopsGradient)
        setLiteral(value.getDefiningOp());
      bound = Bound(value);
    } else if (!firstError)
      firstError = tensor.takeError();
    return &(each->values[name] = bound);
  }
  return nullptr;
}

std::vector<std::string> Importer::writtenOutside(int64_t block) const {
  const std::vector<Block> &blocks = file.program().blocks;
  std::set<std::string> names;
  // A block's parent comes before it.
  std::vector<bool> isInside(blocks.size());
  for (int64_t i = block; i < static_cast<int64_t>(blocks.size()); ++i) {
    const int64_t parent = blocks[i].parent;
    isInside[i] = i == block || (parent >= block && isInside[parent]);
    if (!isInside[i])
      continue;
    for (const Operator &op : blocks[i].operators)
      for (const Slot &slot : op.outputs)
        for (const std::string &name : slot.arguments) {
          bool isOwn = false;
          for (int64_t each = i; each >= block && !isOwn;
               each = blocks[each].parent)
            isOwn = variables[each].contains(name);
          if (!isOwn)
            names.insert(name);
        }
  }
  return {names.begin(), names.end()};
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Error Importer::inOperator(const Operator &op, Error error) const {
  const std::string *given = mainOutput(op);
  return inFile(
      atNode(describe(op), given ? *given : "", op.type, std::move(error)),
      file.name());
}

void Importer::addUnsupported(const Operator &op, const std::string &reason) {
  unsupportedOperators.add(oneLine(op.type), reason, describe(op));
}

void Importer::poison(const Operator &op, Frame &frame) {
  for (const Slot &slot : op.outputs)
    for (const std::string &name : slot.arguments)
      frame.values[name] = Bound::poisoned();
}

bool Importer::importBlock(Frame &frame) {
  if (frame.depth > deepestBlocks) {
    if (!firstError)
      firstError = inFile(invalidModel("blocks are nested more than " +
                                       std::to_string(deepestBlocks) + " deep"),
                          file.name());
    return false;
  }
  for (const Operator &op : file.program().blocks[frame.block].operators) {
    importOperator(op, frame);
    if (firstError)
      return false;
  }
  return true;
}

/// Whether \p op has a sub-block.
static bool hasBlock(const Operator &op) {
  return llvm::any_of(op.attributes, [](const Attribute &attribute) {
    return std::holds_alternative<BlockIndex>(attribute.value) ||
           std::holds_alternative<std::vector<BlockIndex>>(attribute.value);
  });
}

void Importer::importOperator(const Operator &op, Frame &frame) {
  auto invalid = [&](const std::string &reason) {
    firstError = inOperator(op, invalidModel(reason));
  };
  if (++operatorCount > mostOperators)
    return invalid("more than " + std::to_string(mostOperators) +
                   " operators once loops are written out");
  bool isPoisoned = false;
  std::string missing;
  for (const Slot &slot : op.inputs)
    for (const std::string &name : slot.arguments) {
      const Bound *bound = lookup(frame, name);
      if (firstError)
        return;
      isPoisoned |= bound && bound->kind == Bound::Poisoned;
      if (bound && bound->kind == Bound::Missing && missing.empty())
        missing = "reads '" + oneLine(name) + "', " + bound->why;
    }
  const OperatorReader *reader = findOperator(op.type);
  if (!reader) {
    addUnsupported(op, "the operator is not known");
    return poison(op, frame);
  }
  if (isPoisoned)
    return poison(op, frame);
  // A block need not use all operands that its operator lists.
  if (!missing.empty() && !hasBlock(op) && !reader->readsOneOf) {
    addUnsupported(op, missing);
    return poison(op, frame);
  }
  translate(op, frame, *reader);
}

void Importer::translate(const Operator &op, Frame &frame,
                         const OperatorReader &reader) {
  OperatorContext context(*this, frame, op, operatorCount - 1);
  reported.take();
  bool done = succeeded(reader.import(context));
  if (firstError)
    return;
  if (context.problem && context.problem->waits && options.keepsUnknown)
    done = defer(context);
  if (done && !context.failed()) {
    eraseUnneeded(context);
    if (keepsRecords())
      record(context);
    return bindResults(context);
  }
  const formats::BuildError why = context.problem.value_or(
      formats::BuildError{ErrorKind::InvalidModel, "not valid"});
  if (why.kind == ErrorKind::Unsupported) {
    addUnsupported(op, why.reason);
    return poison(op, frame);
  }
  firstError = inOperator(op, Error(why.kind, why.reason));
}

/// Binds the output variables to the operator's results.
void Importer::bindResults(OperatorContext &op) {
  for (const Slot &slot : op.proto.outputs)
    for (auto [i, name] : llvm::enumerate(slot.arguments)) {
      auto found = op.given.find({slot.name, i});
      if (found != op.given.end())
        op.frame.values[name] = found->second;
      // Running statistics and similar variables keep their value.
      else if (!lookup(op.frame, name))
        op.frame.values[name] =
            Bound::missing("output " + slot.name + " of '" + op.proto.type +
                           "', which is not computed");
    }
  for (auto &[name, value] : op.written)
    op.frame.values[name] = value;
}

/// Erases dead ops that the translation of \p op made.
void Importer::eraseUnneeded(OperatorContext &op) {
  llvm::SmallPtrSet<mlir::Operation *, 8> giving;
  for (const auto &[position, bound] : op.given) {
    if (bound.value)
      giving.insert(bound.value.getDefiningOp());
    for (Value each : bound.elements)
      giving.insert(each.getDefiningOp());
  }
  for (const auto &[name, bound] : op.written)
    if (bound.value)
      giving.insert(bound.value.getDefiningOp());
  std::vector<mlir::Operation *> alive;
  for (mlir::Operation *each : llvm::reverse(op.made)) {
    if (!giving.contains(each) && isOpTriviallyDead(each)) {
      known.forget(each);
      each->erase();
    } else {
      alive.push_back(each);
    }
  }
  std::reverse(alive.begin(), alive.end());
  op.made = std::move(alive);
}

/// Makes one op for an operator that lacks sizes or values, so that a writer
/// can give it back. The result types follow from the program's declarations of
/// the outputs, without sizes, which are hints. If that is impossible, the
/// operator's error stays.
bool Importer::defer(OperatorContext &op) {
  Values inputs;
  for (const Slot &slot : op.proto.inputs)
    for (const std::string &name : slot.arguments) {
      const Bound *bound = lookup(op.frame, name);
      if (!bound || bound->kind != Bound::Tensor)
        return false;
      inputs.push_back(bound->value);
    }
  SmallVector<Type> types;
  std::vector<std::pair<std::string, size_t>> positions;
  for (const Slot &slot : op.proto.outputs)
    for (auto [i, name] : llvm::enumerate(slot.arguments)) {
      const Variable *declared = declaration(op.frame, name);
      if (!declared || declared->kind != VariableKind::Tensor ||
          !declared->type)
        continue;
      types.push_back(RankedTensorType::get(
          SmallVector<int64_t>(declared->dims.size(), ShapedType::kDynamic),
          mlirTypeOf(*declared->type, op.context())));
      positions.push_back({slot.name, i});
    }
  if (positions.empty())
    return false;
  const formats::BuildError why = *op.problem;
  op.problem.reset();
  op.given.clear();
  OperationState state(op.location(), nn::DeferredOp::getOperationName());
  nn::DeferredOp::build(builder, state, TypeRange(types), inputs, op.type(),
                        why.reason, StringAttr(), 0);
  mlir::Operation *made = op.create(state);
  if (!made)
    return false;
  for (auto [position, result] : llvm::zip_equal(positions, made->getResults()))
    op.given[position] = Bound(result);
  return true;
}

} // namespace sinter::paddle
