// Loops, branches, and arrays of tensors.

#include "formats/import/BranchChoice.h"
#include "formats/import/Regions.h"
#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter::paddle {

/// Maximum number of iterations of a loop that is unrolled.
static constexpr int64_t mostRounds = 4096;
/// Maximum number of elements of an array.
static constexpr int64_t longestArray = 1 << 20;

/// The variables of outer blocks that a sub-block writes, with their values.
using State = std::vector<std::pair<std::string, Bound>>;

static State stateOf(OperatorContext &op, int64_t block) {
  State state;
  for (const std::string &name : op.importer.writtenOutside(block))
    if (const Bound *held = op.importer.lookup(op.frame, name))
      state.emplace_back(name, *held);
    else
      state.emplace_back(name, Bound::missing("written in a block that may "
                                              "not run"));
  return state;
}

/// Imports block \p block once, at the insertion point, and updates \p state.
/// False if an error was recorded.
static bool runBlock(OperatorContext &op, int64_t block, State &state) {
  Frame frame;
  frame.parent = &op.frame;
  frame.block = block;
  frame.depth = op.frame.depth + 1;
  for (auto &[name, held] : state)
    frame.values[name] = held;
  if (!op.importer.importBlock(frame))
    return false;
  for (auto &[name, held] : state)
    held = frame.values[name];
  return true;
}

/// Sets the variables to \p state. If operators in the block are not supported,
/// the variables are unknown.
static LogicalResult finish(OperatorContext &op, const State &state) {
  for (const auto &[name, held] : state)
    if (mlir::failed(op.write(
            name, op.importer.hasUnsupported() ? Bound::poisoned() : held)))
      return failure();
  return success();
}

/// The one element of a condition, if it is known.
static std::optional<bool> knownCondition(OperatorContext &op, Value value) {
  auto known = value ? op.knownIntegers(value) : std::nullopt;
  return known && known->size() == 1 ? std::optional(known->front() != 0)
                                     : std::nullopt;
}

/// Ends the region's block with \p values.
static void endRegion(OperatorContext &op, ArrayRef<Value> values) {
  op.builder().create<stablehlo::ReturnOp>(op.location(), values);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Builds a stablehlo.while over the condition and the existing tensors that
/// the block writes. Dimensions that an iteration changes are dynamic, which
/// follows only from importing the block; then it is imported again.
static LogicalResult makeLoop(OperatorContext &op, int64_t block,
                              const std::string &condition, State state) {
  std::vector<std::string> carriedNames = {condition};
  Values start = {op.operand("Condition")};
  for (auto &[name, held] : state) {
    if (held.kind == Bound::Array)
      return op.unsupported("an array of tensors that a loop writes whose "
                            "number of iterations is known only at run time");
    if (name == condition || held.kind != Bound::Tensor)
      continue;
    carriedNames.push_back(name);
    start.push_back(held.value);
  }
  if (op.failed())
    return failure();
  std::vector<formats::Carried> carried;
  for (Value value : start)
    carried.emplace_back(op, value);
  // Every repetition has made a dimension dynamic, so this ends.
  for (;;) {
    SmallVector<Type> types;
    for (const formats::Carried &each : carried)
      types.push_back(each.type);
    mlir::Operation *holder = formats::makeHolder(
        op, stablehlo::WhileOp::getOperationName(), start, types);
    OpBuilder::InsertionGuard guard(op.builder());
    SmallVector<Location> locations(types.size(), op.location());
    mlir::Block &test = holder->getRegion(0).emplaceBlock();
    test.addArguments(types, locations);
    op.builder().setInsertionPointToEnd(&test);
    Value goesOn = formats::scalarOf(op, test.getArgument(0));
    if (!goesOn)
      return failure();
    endRegion(op, goesOn);
    mlir::Block &body = holder->getRegion(1).emplaceBlock();
    body.addArguments(types, locations);
    op.builder().setInsertionPointToEnd(&body);
    State inside = state;
    for (auto [i, name] : llvm::enumerate(carriedNames)) {
      carried[i].mark(op.known(), body.getArgument(i));
      for (auto &[variable, held] : inside)
        if (variable == name)
          held = Bound(body.getArgument(i));
    }
    if (!runBlock(op, block, inside))
      return failure();
    if (op.importer.hasUnsupported()) {
      holder->erase();
      return finish(op, state);
    }
    Values next;
    for (const std::string &name : carriedNames)
      for (const auto &[variable, held] : inside)
        if (variable == name)
          next.push_back(held.value);
    if (next.size() != carried.size() ||
        !llvm::all_of(next, [](Value value) { return value != nullptr; }))
      return op.fail("the block does not write its condition");
    bool changed = false;
    if (!formats::admitAll(op, carried, next, changed))
      return failure();
    endRegion(op, next);
    if (changed) {
      op.erase(holder);
      continue;
    }
    op.builder().setInsertionPointAfter(holder);
    mlir::Operation *loop = formats::closeHolder(op, holder, types);
    if (!loop)
      return failure();
    for (auto &[variable, held] : state)
      for (auto [i, name] : llvm::enumerate(carriedNames))
        if (variable == name) {
          held = Bound(loop->getResult(i));
          carried[i].mark(op.known(), held.value);
        }
    return finish(op, state);
  }
}

/// Unrolled if each iteration's condition is known during import, which arrays
/// of tensors require; else a loop. A written file is smaller with the loop.
static LogicalResult importWhile(OperatorContext &op) {
  auto block = op.getBlock("sub_block");
  Value condition = op.operand("Condition");
  if (!block || !condition)
    return failure();
  const std::string name = op.proto.input("Condition")->front();
  State state = stateOf(op, *block);
  const bool hasArrays = llvm::any_of(
      state, [](const auto &each) { return each.second.kind == Bound::Array; });
  const bool isKept = op.importer.options.keepsNodes && !hasArrays;
  std::optional<bool> goesOn = knownCondition(op, condition);
  if (!goesOn || isKept)
    return makeLoop(op, *block, name, std::move(state));
  for (int64_t round = 0; *goesOn; ++round) {
    if (round >= mostRounds)
      return op.unsupported("a loop of more than " + Twine(mostRounds) +
                            " rounds");
    if (!runBlock(op, *block, state))
      return failure();
    if (op.importer.hasUnsupported())
      break;
    Value next;
    for (const auto &[variable, held] : state)
      if (variable == name)
        next = held.value;
    goesOn = knownCondition(op, next);
    // Nothing uses the iterations so far.
    if (!goesOn)
      return makeLoop(op, *block, name, stateOf(op, *block));
  }
  return finish(op, state);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Zeros of \p type, with size 0 for dynamic dimensions: the value of a
/// variable that was not written and must not be used.
static Value placeholder(OperatorContext &op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Ints shape(tensor.getShape());
  for (int64_t &size : shape)
    size = ShapedType::isDynamic(size) ? 0 : size;
  return op.splat(tensor.getElementType(), 0, shape);
}

/// stablehlo.if whose branches return as many values.
static mlir::Operation *
makeBranches(OperatorContext &op, Value condition,
             llvm::function_ref<std::optional<Values>(bool)> fill) {
  condition = formats::scalarOf(op, condition);
  if (!condition)
    return nullptr;
  mlir::Operation *holder = formats::makeHolder(
      op, stablehlo::IfOp::getOperationName(), condition, {});
  OpBuilder::InsertionGuard guard(op.builder());
  for (bool isTaken : {true, false}) {
    mlir::Block &block = holder->getRegion(isTaken ? 0 : 1).emplaceBlock();
    op.builder().setInsertionPointToEnd(&block);
    auto values = fill(isTaken);
    if (!values)
      return nullptr;
    endRegion(op, *values);
  }
  SmallVector<Type> types = formats::returnedTypes(holder->getRegion(0));
  for (auto [type, other] :
       llvm::zip_equal(types, formats::returnedTypes(holder->getRegion(1)))) {
    type = formats::joinTypes(type, other);
    if (!type) {
      op.unknown("a value has another rank or element type in either branch, "
                 "and the condition is known only at run time; " +
                 optionText("shape") + " or " + optionText("bind") +
                 " may decide it");
      return nullptr;
    }
  }
  op.builder().setInsertionPointAfter(holder);
  return formats::closeHolder(op, holder, types);
}

/// Runs its block if the condition holds. Else variables that the block writes
/// keep their values; for those without one, `select_input` selects the
/// branch's.
static LogicalResult importConditionalBlock(OperatorContext &op) {
  auto block = op.getBlock("sub_block");
  Value condition = op.operand("Cond");
  if (!block || !condition)
    return failure();
  if (!op.getBool("is_scalar_condition", true))
    return op.unsupported("a condition that is whether tensors are empty");
  State before = stateOf(op, *block), after = before;
  if (auto known = knownCondition(op, condition)) {
    if (*known && !runBlock(op, *block, after))
      return failure();
    return finish(op, after);
  }
  SmallVector<size_t> given;
  mlir::Operation *branches =
      makeBranches(op, condition, [&](bool isTaken) -> std::optional<Values> {
        Values values;
        if (isTaken) {
          if (!runBlock(op, *block, after))
            return std::nullopt;
          for (auto [i, each] : llvm::enumerate(after))
            if (each.second.kind == Bound::Tensor) {
              given.push_back(i);
              values.push_back(each.second.value);
            }
          return values;
        }
        for (size_t i : given)
          values.push_back(
              before[i].second.kind == Bound::Tensor
                  ? before[i].second.value
                  : placeholder(op, after[i].second.value.getType()));
        return op.failed() ? std::nullopt : std::optional(values);
      });
  if (!branches)
    return failure();
  for (auto [i, result] : llvm::zip_equal(given, branches->getResults()))
    after[i].second = Bound(result);
  return finish(op, after);
}

/// X[\p number]; fails if it was not written.
static Value choiceOf(OperatorContext &op, size_t number) {
  const Bound &bound = op.bound("X", number);
  if (bound.kind == Bound::Missing)
    return op.unsupported("reads what was " + bound.why);
  return bound.value;
}

/// X[Mask].
static LogicalResult importSelectInput(OperatorContext &op) {
  Value mask = op.operand("Mask");
  if (op.count("X") != 2 || !mask || op.failed())
    return op.failed() ? failure() : op.fail("X has not two tensors");
  auto give = [&](bool isSecond) -> LogicalResult {
    Value choice = choiceOf(op, isSecond ? 1 : 0);
    return choice ? op.result("Out", choice) : failure();
  };
  const std::vector<std::string> *names = op.proto.output("Out");
  formats::BranchChoice choice(op, op.importer.decided,
                               names && !names->empty() ? names->front() : "");
  if (auto known = knownCondition(op, mask)) {
    choice.tell(*known);
    return give(*known);
  }
  mask = formats::scalarOf(op, op.cast(mask, op.i1()));
  if (!mask)
    return failure();
  if (std::optional<bool> assumed = choice.assume(mask))
    return give(*assumed);
  Value first = choiceOf(op, 0), second = choiceOf(op, 1);
  if (!first || !second)
    return failure();
  if (!formats::joinTypes(first.getType(), second.getType()) && choice.decide())
    return give(*choice.assume(mask));
  mlir::Operation *branches =
      makeBranches(op, mask, [&](bool isTaken) -> std::optional<Values> {
        return Values{isTaken ? second : first};
      });
  return branches ? op.result("Out", branches->getResult(0)) : failure();
}

//===----------------------------------------------------------------------===//
// Arrays of tensors
//===----------------------------------------------------------------------===//

/// The array in slot \p slot, empty if it was not written yet.
static std::optional<Bound> arrayOf(OperatorContext &op,
                                    const std::string &name) {
  const Bound *held = op.importer.lookup(op.frame, name);
  if (!held || held->kind == Bound::Missing)
    return Bound::array({});
  if (held->kind != Bound::Array)
    return op.fail("'" + name + "' is no array of tensors");
  return *held;
}

static std::optional<int64_t> arrayIndex(OperatorContext &op) {
  Value index = op.operand("I");
  auto known = index ? op.knownIntegers(index) : std::nullopt;
  if (!known)
    return op.unknown("the index into the array is known only at run time");
  if (known->size() != 1 || known->front() < 0 ||
      known->front() >= longestArray)
    return op.fail("the index into the array is negative or too large");
  return known->front();
}

static LogicalResult importWriteToArray(OperatorContext &op) {
  Value x = op.operand("X");
  auto index = arrayIndex(op);
  if (!x || !index || op.outputCount("Out") != 1)
    return op.failed() ? failure() : op.fail("output Out is missing");
  auto array = arrayOf(op, op.proto.output("Out")->front());
  if (!array)
    return failure();
  if (*index > static_cast<int64_t>(array->elements.size()))
    return op.fail("element " + Twine(*index) + " of an array of " +
                   Twine(array->elements.size()) + " is written");
  if (*index == static_cast<int64_t>(array->elements.size()))
    array->elements.push_back(x);
  else
    array->elements[*index] = x;
  return op.boundResult("Out", std::move(*array));
}

static LogicalResult importReadFromArray(OperatorContext &op) {
  const Bound &array = op.bound("X");
  auto index = arrayIndex(op);
  if (!index || op.failed())
    return failure();
  if (array.kind != Bound::Array)
    return op.fail("X is no array of tensors");
  if (*index >= static_cast<int64_t>(array.elements.size()))
    return op.fail("element " + Twine(*index) + " of an array of " +
                   Twine(array.elements.size()) + " is read");
  return op.result("Out", array.elements[*index]);
}

static LogicalResult importArrayLength(OperatorContext &op) {
  const Bound &array = op.bound("X");
  if (op.failed())
    return failure();
  if (array.kind != Bound::Array)
    return op.fail("X is no array of tensors");
  return op.result("Out",
                   op.integers({static_cast<int64_t>(array.elements.size())}));
}

/// All elements, concatenated along attribute axis, or stacked there.
static LogicalResult importArrayToTensor(OperatorContext &op) {
  Values pieces = op.operands("X");
  if (op.failed())
    return failure();
  if (pieces.empty())
    return op.fail("the array is empty");
  const bool stacks = op.getBool("use_stack", false);
  auto axis = op.axis(op.getInt("axis", 0), op.rank(pieces[0]) + stacks);
  if (!axis)
    return failure();
  SmallVector<int64_t> sizes;
  for (Value &piece : pieces) {
    if (stacks)
      piece = op.unsqueeze(piece, {*axis});
    sizes.push_back(piece ? op.size(piece, *axis) : 0);
  }
  if (op.wants("OutIndex") && !ShapedType::isDynamicShape(sizes) &&
      mlir::failed(op.result(
          "OutIndex", op.cast(op.integers(sizes), op.builder().getI32Type()))))
    return failure();
  return op.result("Out", op.concatenate(pieces, *axis));
}

OperatorReaders controlFlowReaders() {
  static const OperatorReader table[] = {
      {"conditional_block", importConditionalBlock},
      {"conditional_block_infer", importConditionalBlock},
      {"lod_array_length", importArrayLength},
      {"read_from_array", importReadFromArray},
      {"select_input", importSelectInput, false, true},
      {"tensor_array_to_tensor", importArrayToTensor},
      {"while", importWhile},
      {"write_to_array", importWriteToArray},
  };
  return table;
}

} // namespace sinter::paddle
