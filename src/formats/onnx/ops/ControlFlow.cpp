// If, Loop, Scan: unrolled if conditions and trip counts are known.

#include "formats/import/BranchChoice.h"
#include "formats/onnx/LoopSize.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/ops/Bodies.h"
#include "formats/onnx/ops/JoinedBranches.h"
#include "formats/onnx/ops/ScanLoop.h"
#include "formats/onnx/ops/WhileLoop.h"
#include "graph/Constants.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter::onnx {

/// Maximum number of iterations of a loop that is unrolled.
static constexpr int64_t mostIterations = 4096;
/// Maximum number of nodes from unrolling a nest of loops.
static constexpr int64_t mostWrittenOut = 100'000;
/// Maximum number of nodes that a loop may run: more would take hours.
static constexpr int64_t mostNodesRun = int64_t(1) << 40;

static LogicalResult importIf(NodeContext &node) {
  const GraphProto *yes = node.getGraph("then_branch");
  const GraphProto *no = node.getGraph("else_branch");
  if (!yes || !no)
    return failure();
  auto take = [&](bool isFirst) -> LogicalResult {
    auto outputs = node.importer.importGraph(isFirst ? *yes : *no, node.frame,
                                             {}, innerPrefix(node));
    return outputs ? node.boundResults(std::move(*outputs)) : failure();
  };
  formats::BranchChoice choice(node, node.importer.decided,
                               node.frame.prefix + (node.proto.output_size() > 0
                                                        ? node.proto.output(0)
                                                        : ""));
  Value condition = node.operand(0);
  if (auto known = node.knownIntegers(condition); known && known->size() == 1) {
    const bool isFirst = known->front() != 0;
    choice.tell(isFirst);
    return take(isFirst);
  }
  condition = scalarOf(node, condition);
  if (!condition)
    return failure();
  if (std::optional<bool> assumed = choice.assume(condition))
    return take(*assumed);
  if (succeeded(joinBranches(node, condition, *yes, *no)))
    return success();
  node.importer.startsAgain = choice.decide();
  return failure();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// Stacks the values that a body returned in each iteration, or without
/// \p isRun makes an empty stack.
static Value stack(NodeContext &node, const std::vector<Value> &values,
                   int64_t axis, bool isRun) {
  Values pieces;
  for (Value value : values) {
    auto normal = node.axis(axis, node.rank(value) + 1);
    if (!normal)
      return {};
    pieces.push_back(node.unsqueeze(value, {*normal}));
    axis = *normal;
  }
  Value all = node.concatenate(pieces, axis);
  return isRun || !all ? all : node.sliceAxis(all, axis, 0, 0);
}

/// Erases the ops after \p last (or all) from the block.
static void eraseAfter(NodeContext &node, Block *block, Operation *last) {
  while (!block->empty() && &block->back() != last) {
    if (isa<stablehlo::ConstantOp>(block->back()))
      break;
    node.erase(&block->back());
  }
}

/// Results of a loop: the carried values, then one stack for each further
/// output of the body.
static LogicalResult finishLoop(NodeContext &node, std::vector<Bound> carried,
                                ArrayRef<std::vector<Value>> stacks,
                                bool isRun) {
  for (const std::vector<Value> &values : stacks) {
    size_t output = carried.size();
    carried.push_back(node.wants(output) ? Bound(stack(node, values, 0, isRun))
                                         : Bound());
    if (node.wants(output) && !carried.back().value)
      return failure();
  }
  return node.boundResults(std::move(carried));
}

/// Defers a Loop with scan outputs and an unknown trip count.
static LogicalResult keepGathering(NodeContext &node, const GraphProto &body,
                                   Value condition, ArrayRef<Bound> carried,
                                   std::optional<int64_t> rounds) {
  constexpr StringRef reason = "a loop that gathers values and whose number of "
                               "iterations is known only at run time";
  auto states = tensorsOf(node, carried);
  if (!node.importer.options.keepsUnknown || !states)
    return node.unknown(reason);
  const Type number = node.tensorType({}, node.i64());
  KeptLoop loop{body,
                {},
                {number, condition ? condition.getType()
                                   : node.tensorType({}, node.i1())},
                {},
                {},
                1,
                {},
                rounds};
  for (int64_t i = 0; i < node.inputCount(); ++i)
    if (node.has(i))
      loop.operands.push_back(node.operand(i));
  for (Value state : *states)
    loop.states.emplace_back(node, state);
  loop.axes.assign(body.output_size() - 1 - loop.states.size(), 0);
  return keepLoop(node, std::move(loop), reason);
}

/// A loop of a computed trip count: at most \p rounds, if that is known, while
/// the body's condition holds.
static LogicalResult importWhile(NodeContext &node, const GraphProto &body,
                                 Value limit, Value condition,
                                 ArrayRef<Bound> carried,
                                 std::optional<int64_t> rounds) {
  const auto gathered =
      body.output_size() - 1 - static_cast<int64_t>(carried.size());
  if (gathered != 0 && !node.expandsUnknown())
    return keepGathering(node, body, condition, carried, rounds);
  auto read = [&](ArrayRef<Bound> inputs) {
    return node.importer.importGraph(body, node.frame, inputs,
                                     innerPrefix(node));
  };
  return whileLoop(node, {limit, condition, carried, gathered, read});
}

/// The number of nodes that the loop runs, as far as it is known.
static int64_t nodesRun(NodeContext &node) {
  auto known = [&](StringRef name) -> std::optional<int64_t> {
    const Bound *bound = node.importer.lookup(node.frame, name);
    if (!bound || bound->kind != Bound::Tensor)
      return std::nullopt;
    auto integers = node.knownIntegers(bound->value);
    if (!integers || integers->size() != 1)
      return std::nullopt;
    return integers->front();
  };
  return leastNodesRun(node.proto, known, mostNodesRun + 1);
}

/// Whether \p body returns its condition argument.
static bool returnsItsCondition(const GraphProto &body) {
  if (body.input_size() < 2 || body.output_size() < 1)
    return false;
  StringRef name = body.output(0).name();
  for (const NodeProto &node : llvm::reverse(body.node()))
    if (node.op_type() == "Identity" && node.input_size() == 1 &&
        node.output_size() == 1 && node.output(0) == name)
      name = node.input(0);
  return name == body.input(1).name();
}

/// Inputs: the trip count, the condition, the loop-carried values. The body's
/// arguments are the iteration index, the condition and the loop-carried
/// values, its results the condition, the loop-carried values and the scan
/// outputs.
static LogicalResult importLoop(NodeContext &node) {
  const GraphProto *body = node.getGraph("body");
  if (!body)
    return failure();
  std::vector<Bound> carried;
  for (int64_t i = 2; i < node.inputCount(); ++i)
    carried.push_back(node.bound(i));
  int64_t gathered = body->output_size() - 1 - carried.size();
  if (gathered < 0)
    return node.fail("the body has fewer outputs than the loop carries");
  Value limit, condition;
  std::optional<int64_t> count;
  bool mayStop = false, goOn = true;
  if (node.has(0)) {
    limit = scalarOf(node, node.operand(0));
    if (!limit)
      return failure();
    if (auto known = node.knownIntegers(limit))
      count = known->front();
  }
  if (node.has(1)) {
    condition = scalarOf(node, node.operand(1));
    if (!condition)
      return failure();
    if (auto known = node.knownIntegers(condition))
      goOn = known->front() != 0;
    else
      mayStop = true;
  }
  if (!node.has(0) && !mayStop && goOn && returnsItsCondition(*body))
    return node.unsupported("a loop of more than " + Twine(mostIterations) +
                            " iterations");
  int64_t size = nodesRun(node);
  if (size > mostNodesRun)
    return node.unsupported("runs more than " + Twine(mostNodesRun) +
                            " nodes, with the loops in it");
  bool isLong = size > mostWrittenOut && gathered == 0;
  bool bounded = !node.has(0) || (count && *count <= mostIterations);
  const std::optional<int64_t> rounds = mayStop ? std::nullopt : count;
  // A written file is smaller with the loop.
  const bool isKept =
      node.importer.options.keepsNodes && goOn && (!count || *count > 1);
  if (mayStop || !bounded || isLong || isKept)
    return importWhile(node, *body, limit, condition, carried, rounds);

  Block *block = node.builder().getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  std::vector<std::vector<Value>> stacks(gathered);
  std::vector<Bound> state = carried;
  // Without iterations, scan outputs still have the types of an iteration's
  // results: the body is imported once and erased.
  const bool isRun = goOn && (!count || *count > 0);
  goOn = isRun || gathered > 0;
  for (int64_t i = 0; goOn && (!isRun || !count || i < *count); ++i) {
    if (i >= mostIterations)
      return node.unsupported("a loop of more than " + Twine(mostIterations) +
                              " iterations");
    std::vector<Bound> inputs = {Bound(node.scalar(node.i64(), i)),
                                 Bound(node.scalar(node.i1(), 1))};
    inputs.insert(inputs.end(), state.begin(), state.end());
    auto outputs = node.importer.importGraph(
        *body, node.frame, inputs, innerPrefix(node) + std::to_string(i) + "/");
    if (!outputs)
      return failure();
    if (anyPoisoned(*outputs))
      return node.boundResults(
          std::vector<Bound>(node.outputCount(), Bound::poisoned()));
    auto next = isRun ? node.knownIntegers((*outputs)[0].value) : Ints{0};
    if (next && next->size() != 1)
      return node.fail("the body's condition is not a scalar");
    if (!next && i == 0) {
      eraseAfter(node, block, last);
      return importWhile(node, *body, limit, condition, carried, rounds);
    }
    if (!next)
      return node.unsupported(
          "whether the loop goes on is known only at run time");
    goOn = isRun && next->front() != 0;
    for (size_t k = 0; isRun && k < state.size(); ++k)
      state[k] = (*outputs)[k + 1];
    for (int64_t k = 0; k < gathered; ++k) {
      if ((*outputs)[k + 1 + state.size()].kind != Bound::Tensor)
        return node.unsupported("a loop that gathers sequences");
      stacks[k].push_back((*outputs)[k + 1 + state.size()].value);
    }
  }
  return finishLoop(node, std::move(state), stacks, isRun);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

static std::string dynamicSteps() {
  return "the number of steps is known only at run time; give the shape with " +
         optionText("shape");
}

/// A list with one element for each of \p count values; zeros if it is absent.
static std::optional<Ints> listFor(NodeContext &node, StringRef name,
                                   int64_t count) {
  Ints list = node.getInts(name, Ints(count, 0));
  if (static_cast<int64_t>(list.size()) != count)
    return node.fail("attribute '" + name + "' has the wrong length");
  return list;
}

/// Zeros of the type of a slice of \p value along \p axis, which is empty.
static Value anyElement(NodeContext &node, Value value, int64_t axis) {
  formats::Dims dims;
  for (int64_t i = 0; i < node.rank(value); ++i)
    if (i != axis)
      dims.push_back(node.dim(value, i));
  return node.broadcastInDim(node.scalar(node.element(value), 0), dims, {});
}

/// Unrolls one step for each slice of the scanned inputs, which come after the
/// loop-carried values in \p values. These exclude version 8's sequence
/// lengths.
static std::optional<std::vector<Bound>> scan(NodeContext &node,
                                              const GraphProto &body,
                                              ArrayRef<Value> values,
                                              int64_t scanned) {
  const auto given = static_cast<int64_t>(values.size());
  if (scanned < 1 || scanned > given || given - scanned > body.output_size())
    return node.fail("num_scan_inputs does not match the inputs");
  int64_t carriedCount = given - scanned;
  int64_t gathered = body.output_size() - carriedCount;
  bool old = node.version() < 9;
  auto inputAxes = listFor(node, "scan_input_axes", scanned);
  auto outputAxes = listFor(node, "scan_output_axes", gathered);
  auto inputDirections =
      listFor(node, old ? "directions" : "scan_input_directions", scanned);
  auto outputDirections = listFor(node, "scan_output_directions", gathered);
  if (!inputAxes || !outputAxes || !inputDirections || !outputDirections)
    return std::nullopt;
  std::optional<int64_t> steps;
  for (int64_t i = 0; i < scanned; ++i) {
    Value value = values[carriedCount + i];
    auto axis = node.axis((*inputAxes)[i], node.rank(value));
    if (!axis)
      return std::nullopt;
    (*inputAxes)[i] = *axis;
    int64_t size = node.size(value, *axis);
    if (ShapedType::isDynamic(size))
      return node.unknown(dynamicSteps());
    if (steps && *steps != size)
      return node.fail("scanned inputs differ in length");
    steps = size;
  }
  if (*steps > mostIterations)
    return node.unsupported("more than " + Twine(mostIterations) + " steps");
  std::vector<Bound> state;
  for (Value value : values.take_front(carriedCount))
    state.push_back(Bound(value));
  std::vector<std::vector<Value>> stacks(gathered);
  // As in a loop of no iterations.
  const bool isRun = *steps > 0;
  for (int64_t step = 0; step < std::max<int64_t>(*steps, 1); ++step) {
    std::vector<Bound> inputs = state;
    for (int64_t i = 0; i < scanned; ++i) {
      int64_t at = (*inputDirections)[i] ? *steps - 1 - step : step;
      int64_t axis = (*inputAxes)[i];
      Value value = values[carriedCount + i];
      inputs.push_back(Bound(
          isRun ? node.squeeze(node.sliceAxis(value, axis, at, at + 1), {axis})
                : anyElement(node, value, axis)));
    }
    auto outputs = node.importer.importGraph(body, node.frame, inputs,
                                             innerPrefix(node) +
                                                 std::to_string(step) + "/");
    if (!outputs)
      return std::nullopt;
    if (anyPoisoned(*outputs))
      return std::vector<Bound>(node.outputCount(), Bound::poisoned());
    for (int64_t i = 0; isRun && i < carriedCount; ++i)
      state[i] = (*outputs)[i];
    for (int64_t i = 0; i < gathered; ++i)
      stacks[i].push_back((*outputs)[carriedCount + i].value);
  }
  for (int64_t i = 0; i < gathered; ++i) {
    if ((*outputDirections)[i])
      std::reverse(stacks[i].begin(), stacks[i].end());
    state.push_back(Bound(stack(node, stacks[i], (*outputAxes)[i], isRun)));
  }
  return state;
}

/// Whether the number of steps is dynamic.
static bool isDynamicScan(NodeContext &node, ArrayRef<Value> values,
                          int64_t scanned) {
  if (scanned < 1 || scanned > static_cast<int64_t>(values.size()))
    return false;
  auto axes = listFor(node, "scan_input_axes", scanned);
  if (!axes)
    return false;
  for (auto [value, listed] : llvm::zip_equal(values.take_back(scanned), *axes))
    if (auto axis = node.axis(listed, node.rank(value));
        axis && ShapedType::isDynamic(node.size(value, *axis)))
      return true;
  return false;
}

/// A Scan of a dynamic number of steps, for a graph that is not run.
static LogicalResult keepScan(NodeContext &node, const GraphProto &body,
                              ArrayRef<Value> values, int64_t scanned) {
  int64_t carried = values.size() - scanned;
  auto inputAxes = listFor(node, "scan_input_axes", scanned);
  if (carried > body.output_size())
    return node.fail("num_scan_inputs does not match the inputs");
  auto outputAxes =
      listFor(node, "scan_output_axes", body.output_size() - carried);
  if (!inputAxes || !outputAxes)
    return failure();
  KeptLoop loop{body, Values(values), {}, {}, {}, 0, *outputAxes, {}};
  for (Value value : values.take_front(carried))
    loop.states.emplace_back(node, value);
  for (auto [value, listed] :
       llvm::zip_equal(values.take_back(scanned), *inputAxes)) {
    auto axis = node.axis(listed, node.rank(value));
    if (!axis)
      return failure();
    Ints shape(node.shape(value));
    shape.erase(shape.begin() + *axis);
    loop.after.push_back(node.tensorType(shape, node.element(value)));
  }
  return keepLoop(node, std::move(loop), dynamicSteps());
}

/// A Scan of a dynamic number of steps, as a loop.
static LogicalResult scanAsLoop(NodeContext &node, const GraphProto &body,
                                Values values, int64_t scanned) {
  const int64_t carried = static_cast<int64_t>(values.size()) - scanned;
  if (carried > body.output_size())
    return node.fail("num_scan_inputs does not match the inputs");
  const int64_t gathered = body.output_size() - carried;
  auto inputAxes = listFor(node, "scan_input_axes", scanned),
       outputAxes = listFor(node, "scan_output_axes", gathered),
       inputDirections = listFor(node, "scan_input_directions", scanned),
       outputDirections = listFor(node, "scan_output_directions", gathered);
  if (!inputAxes || !outputAxes || !inputDirections || !outputDirections)
    return failure();
  for (int64_t i = 0; i < scanned; ++i) {
    const auto axis =
        node.axis((*inputAxes)[i], node.rank(values[carried + i]));
    if (!axis)
      return failure();
    (*inputAxes)[i] = *axis;
    if (!node.known().sameSize(values[carried], (*inputAxes)[0],
                               values[carried + i], *axis))
      return node.unknown("scanned inputs may differ in length");
  }
  return scanLoop(node, {body, std::move(values), carried, *inputAxes,
                         *outputAxes, *inputDirections, *outputDirections});
}

static LogicalResult importScan(NodeContext &node) {
  const GraphProto *body = node.getGraph("body");
  if (!body)
    return failure();
  int64_t scanned = node.getInt("num_scan_inputs", 0);
  if (node.version() >= 9) {
    Values values = node.operands();
    if (node.failed())
      return failure();
    if (node.importer.options.keepsUnknown &&
        isDynamicScan(node, values, scanned))
      return node.expandsUnknown() ? scanAsLoop(node, *body, values, scanned)
                                   : keepScan(node, *body, values, scanned);
    auto outputs = scan(node, *body, values, scanned);
    return outputs ? node.boundResults(std::move(*outputs)) : failure();
  }
  // Version 8: the first input gives lengths, all others have the batch first.
  if (node.has(0))
    return node.unsupported("sequences of different lengths");
  Values values = node.operands(1);
  if (node.failed() || values.empty())
    return failure();
  int64_t batch = node.rank(values[0]) ? node.size(values[0], 0) : -1;
  if (batch < 1 || batch > mostIterations)
    return node.unsupported("the batch is known only at run time");
  std::vector<Values> results(node.outputCount());
  for (int64_t i = 0; i < batch; ++i) {
    Values slices;
    for (Value value : values)
      slices.push_back(node.squeeze(node.sliceAxis(value, 0, i, i + 1), {0}));
    if (node.failed())
      return failure();
    auto outputs = scan(node, *body, slices, scanned);
    if (!outputs)
      return failure();
    for (auto [list, output] : llvm::zip(results, *outputs)) {
      if (output.kind != Bound::Tensor)
        return node.boundResults(std::move(*outputs));
      list.push_back(node.unsqueeze(output.value, {0}));
    }
  }
  Values concatenated;
  for (const Values &list : results)
    concatenated.push_back(node.concatenate(list, 0));
  return node.results(concatenated);
}

llvm::ArrayRef<Operator> controlFlowOperators() {
  static const Operator table[] = {
      {"If", "", 1, importIf, 1, 1},
      {"Loop", "", 1, importLoop, 0, anyNumber, true},
      {"Scan", "", 8, importScan, 0, anyNumber, true},
  };
  return table;
}

} // namespace sinter::onnx
