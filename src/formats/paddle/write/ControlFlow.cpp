// Branches and loops: operators with blocks.
//
// A block sees the variables of enclosing blocks. Its own variables are local;
// at its end it assigns results to variables of the enclosing block.

#include "formats/paddle/write/ProgramWriter.h"
#include "graph/Origin.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include <set>

using namespace mlir;

namespace sinter::paddle {

/// Maximum nesting depth of blocks.
static constexpr int deepestBlocks = 100;

static Operator unary(const char *type, Name from, Name to) {
  Operator op;
  op.type = type;
  op.inputs = {{"X", {std::move(from)}}};
  op.outputs = {{"Out", {std::move(to)}}};
  return op;
}

void ProgramWriter::addAssign(const Name &from, const Name &to) {
  add(unary("assign", from, to));
}

Name ProgramWriter::declareScopes(StringRef wantedName) {
  Name name = freshName(wantedName);
  Variable variable;
  variable.name = name;
  variable.kind = VariableKind::StepScopes;
  declare(variable);
  return name;
}

int64_t ProgramWriter::writeInner(Region &region, ArrayRef<Name> arguments,
                                  llvm::function_ref<void()> writeEnd) {
  const auto index = static_cast<int64_t>(written.blocks.size());
  written.blocks.emplace_back().parent = current;
  std::vector<Operator> outerOperators = std::exchange(operators, {});
  std::vector<Value> outerNamed = std::exchange(named, {});
  const int64_t outer = std::exchange(current, index);
  mlir::Block &block = region.front();
  for (auto [argument, name] : llvm::zip(block.getArguments(), arguments))
    bind(argument, name);
  writeOps(block);
  writeEnd();
  written.blocks[index].operators =
      std::exchange(operators, std::move(outerOperators));
  // Variables of the block are not visible outside.
  for (Value value : named)
    names.erase(value);
  named = std::move(outerNamed);
  current = outer;
  return index;
}

/// The variables of enclosing blocks that \p blocks read, sorted.
std::vector<Name> ProgramWriter::captured(ArrayRef<int64_t> blocks) const {
  std::set<Name> found;
  for (int64_t block : blocks)
    for (const Operator &op : written.blocks[block].operators)
      for (const Slot &slot : op.inputs)
        for (const std::string &name : slot.arguments)
          if (homes.lookup(name) != block)
            found.insert(name);
  return {found.begin(), found.end()};
}

/// The value of \p region, a condition, for \p arguments: clones its ops,
/// returned in \p made, before \p place.
static Value copied(Region &region, ValueRange arguments,
                    mlir::Operation *place,
                    SmallVectorImpl<mlir::Operation *> &made) {
  OpBuilder builder(place);
  IRMapping map;
  map.map(region.getArguments(), arguments);
  for (mlir::Operation &op : region.front().without_terminator())
    made.push_back(builder.clone(op, map));
  return map.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

/// The condition is computed before the loop, and at the end of its body for
/// the next iteration.
void ProgramWriter::writeLoop(stablehlo::WhileOp op) {
  const std::string origin = originOf(op);
  SmallVector<mlir::Operation *> made;
  Value first = copied(op.getCond(), op.getOperands(), op, made);
  for (mlir::Operation *each : made)
    positions[each] = position;
  for (mlir::Operation *each : made)
    writeAny(each);
  const Name condition =
      declareNew(origin + ".condition",
                 tensorOf(op.getCond().front().getTerminator()->getOperand(0)));
  addAssign(name(first), condition);
  std::vector<Name> carried;
  for (auto [initial, result] :
       llvm::zip_equal(op.getOperands(), op.getResults())) {
    const Name from = name(initial);
    carried.push_back(claim(result));
    addAssign(from, carried.back());
  }
  mlir::Operation *terminator = op.getBody().front().getTerminator();
  made.clear();
  Value next =
      copied(op.getCond(), terminator->getOperands(), terminator, made);
  const int64_t body = writeInner(op.getBody(), carried, [&] {
    addAssign(name(next), condition);
    // Simultaneous assignment: no variable is written before it is read.
    std::vector<std::pair<Name, Name>> late;
    for (auto [value, to] :
         llvm::zip_equal(terminator->getOperands(), carried)) {
      Name from = name(value);
      if (from == to)
        continue;
      if (llvm::is_contained(carried, from)) {
        const Name aside = declareNew(to + ".next", tensorOf(value));
        addAssign(from, aside);
        from = aside;
      }
      late.emplace_back(from, to);
    }
    for (const auto &[from, to] : late)
      addAssign(from, to);
  });
  Operator loop;
  loop.type = "while";
  std::vector<Name> read = carried;
  for (const Name &each : captured(body))
    if (each != condition && !llvm::is_contained(carried, each))
      read.push_back(each);
  loop.inputs = {{"Condition", {condition}}, {"X", std::move(read)}};
  loop.outputs = {{"Out", std::move(carried)},
                  {"StepScopes", {declareScopes(origin + ".scopes")}}};
  loop.attributes = {{"is_test", true}, {"sub_block", BlockIndex{body}}};
  add(std::move(loop));
}

/// A block that runs if the condition holds, one that runs if it does not, and
/// for each result a select_input of the two.
void ProgramWriter::writeBranch(stablehlo::IfOp op) {
  const std::string origin = originOf(op);
  const Name condition = name(op.getPred());
  auto flag = tensorOf(op.getPred());
  const Name opposite = declareNew(origin + ".not", flag);
  std::vector<Name> given[2];
  for (bool holds : {true, false}) {
    for (Value result : op.getResults())
      given[holds].push_back(
          declareNew(origin + (holds ? ".true" : ".false"), tensorOf(result)));
    Region &region = holds ? op.getTrueBranch() : op.getFalseBranch();
    const int64_t block = writeInner(region, {}, [&] {
      for (auto [value, to] : llvm::zip_equal(
               region.front().getTerminator()->getOperands(), given[holds]))
        addAssign(name(value), to);
    });
    if (!holds)
      add(unary("logical_not", condition, opposite));
    Operator branch;
    branch.type = "conditional_block";
    branch.inputs = {{"Cond", {holds ? condition : opposite}},
                     {"Input", captured(block)}};
    branch.outputs = {{"Out", given[holds]},
                      {"Scope", {declareScopes(origin + ".scope")}}};
    branch.attributes = {{"is_scalar_condition", true},
                         {"sub_block", BlockIndex{block}}};
    add(std::move(branch));
  }
  if (op.getNumResults() == 0)
    return;
  const Name mask =
      declareNew(origin + ".mask",
                 RankedTensorType::get(flag.getShape(),
                                       IntegerType::get(op.getContext(), 32)));
  add(unary("cast", condition, mask));
  last().attributes = {{"in_dtype", int64_t(0)}, {"out_dtype", int64_t(2)}};
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Operator choice;
    choice.type = "select_input";
    choice.inputs = {{"X", {given[false][i], given[true][i]}},
                     {"Mask", {mask}}};
    choice.outputs = {{"Out", {claim(result)}}};
    add(std::move(choice));
  }
}

/// A branch for each case but the last, which is the default.
void ProgramWriter::writeCases(stablehlo::CaseOp op) {
  const size_t count = op.getBranches().size();
  if (count == 1) {
    mlir::Block &block = op.getBranches()[0].front();
    writeOps(block);
    for (auto [value, result] : llvm::zip_equal(
             block.getTerminator()->getOperands(), op.getResults())) {
      const Name from = name(value);
      addAssign(from, claim(result));
    }
    return;
  }
  OpBuilder builder(op);
  const Location location = op.getLoc();
  stablehlo::IfOp outermost;
  SmallVector<mlir::Operation *> made;
  for (size_t i = 0; i + 1 < count; ++i) {
    auto index = tensorOf(op.getIndex());
    auto number = builder.create<stablehlo::ConstantOp>(
        location, DenseElementsAttr::get(index, builder.getI32IntegerAttr(
                                                    static_cast<int32_t>(i))));
    auto isThis = builder.create<stablehlo::CompareOp>(
        location, op.getIndex(), number, stablehlo::ComparisonDirection::EQ,
        stablehlo::ComparisonTypeAttr());
    auto branch =
        builder.create<stablehlo::IfOp>(location, op.getResultTypes(), isThis);
    branch.getTrueBranch().takeBody(op.getBranches()[i]);
    if (outermost)
      builder.create<stablehlo::ReturnOp>(location, branch.getResults());
    else {
      outermost = branch;
      made = {number, isThis, branch};
    }
    if (i + 2 == count)
      branch.getFalseBranch().takeBody(op.getBranches()[count - 1]);
    else
      builder.setInsertionPointToEnd(&branch.getFalseBranch().emplaceBlock());
  }
  for (mlir::Operation *each : made)
    positions[each] = position;
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), outermost.getResults())) {
    if (auto found = wanted.find(result); found != wanted.end()) {
      const Name name = found->second;
      wanted.try_emplace(value, name);
    }
    result.replaceAllUsesWith(value);
    decomposed[result] = value;
  }
  for (mlir::Operation *each : made)
    writeAny(each);
}

bool ProgramWriter::writeControlFlow(mlir::Operation *op) {
  if (!isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
    return false;
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (!llvm::all_of(op->getResultTypes(), isTensor) ||
      !llvm::all_of(op->getOperandTypes(), isTensor)) {
    addUnsupported(op, "with what is no tensor");
  } else if (innerDepth >= deepestBlocks) {
    addUnsupported(op, "blocks inside of blocks, too many");
  } else {
    ++innerDepth;
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
      writeLoop(loop);
    else if (auto branch = dyn_cast<stablehlo::IfOp>(op))
      writeBranch(branch);
    else
      writeCases(cast<stablehlo::CaseOp>(op));
    --innerDepth;
    return true;
  }
  for (Value result : op->getResults())
    bind(result, "");
  return true;
}

} // namespace sinter::paddle
