// Decides which ops are written together: groups that are written as the node
// they came from, and matmuls and convolutions with their bias.

#include "formats/import/MatMul.h"
#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/NestedGraphs.h"
#include "formats/onnx/write/NodeWriter.h"
#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/Repetition.h"
#include "graph/SizeSources.h"
#include "graph/nn/NnDeferred.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/Sums.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace sinter::onnx {

bool staysValid(const NodeProto &node, int64_t from, int64_t to) {
  if (from == to)
    return true;
  if (from > to)
    return false;
  // The versions, from 8 on, in which an operator changed incompatibly:
  // attributes became inputs, defaults or semantics changed. All other versions
  // only widened the types.
  static const std::multimap<StringRef, int64_t> changes = {
      {"Upsample", 9},
      {"BatchNormalization", 9},
      {"Scan", 9},
      {"Upsample", 10},
      {"Slice", 10},
      {"TopK", 10},
      {"Clip", 11},
      {"Pad", 11},
      {"Resize", 11},
      {"Scatter", 11},
      {"Dropout", 12},
      {"Softmax", 13},
      {"LogSoftmax", 13},
      {"Hardmax", 13},
      {"Squeeze", 13},
      {"Unsqueeze", 13},
      {"Split", 13},
      {"ReduceSum", 13},
      {"BatchNormalization", 14},
      {"RoiAlign", 16},
      {"ReduceL1", 18},
      {"ReduceL2", 18},
      {"ReduceLogSum", 18},
      {"ReduceLogSumExp", 18},
      {"ReduceMax", 18},
      {"ReduceMean", 18},
      {"ReduceMin", 18},
      {"ReduceProd", 18},
      {"ReduceSumSquare", 18},
      {"Split", 18},
      {"GridSample", 20},
      {"DFT", 20},
      {"GroupNormalization", 21}};
  auto [first, last] = changes.equal_range(node.op_type());
  for (auto change = first; change != last; ++change) {
    bool crossed = from < change->second && change->second <= to;
    // A BatchNormalization in its inference form, and a Split with its sizes,
    // are written the same way in all versions.
    bool isPlain =
        (node.op_type() == "BatchNormalization" && node.output_size() == 1 &&
         node.attribute_size() <= 2 &&
         llvm::all_of(node.attribute(),
                      [](const AttributeProto &each) {
                        return each.name() == "epsilon" ||
                               each.name() == "momentum";
                      })) ||
        (node.op_type() == "Split" && from >= 13 && node.input_size() == 2);
    if (crossed && !isPlain)
      return false;
  }
  return true;
}

/// Reserves the names that \p graph and its nested graphs define.
static void reserveInner(const GraphProto &graph, llvm::StringSet<> &used) {
  for (const ValueInfoProto &input : graph.input())
    used.insert(input.name());
  for (const TensorProto &tensor : graph.initializer())
    used.insert(tensor.name());
  for (const NodeProto &node : graph.node()) {
    for (const std::string &output : node.output())
      used.insert(output);
    forEachGraph(node,
                 [&](const GraphProto &inner) { reserveInner(inner, used); });
  }
}

/// Whether \p holder has a graph with as many inputs and outputs as before for
/// each graph of \p node.
static bool holdsGraphsOf(const NodeProto &node, Operation *holder) {
  return llvm::all_of(node.attribute(), [&](const AttributeProto &attribute) {
    auto held = heldGraph(holder, attribute.name());
    return !attribute.has_g() ||
           (held &&
            held->block->getNumArguments() ==
                static_cast<unsigned>(attribute.g().input_size()) &&
            held->block->getTerminator()->getNumOperands() ==
                held->firstOutput + attribute.g().output_size());
  });
}

void GraphWriter::planGroup(ArrayAttr records, int64_t index,
                            ArrayRef<Operation *> ops) {
  if (index < 0 || index >= static_cast<int64_t>(records.size()))
    return;
  auto record = dyn_cast<DictionaryAttr>(records[index]);
  std::optional<UntouchedNode> node;
  if (record)
    node = untouchedNode(record, ops);
  if (!node)
    return;
  auto keptNode = std::make_unique<KeptNode>();
  if (!keptNode->proto.ParsePartialFromArray(node->node.data(),
                                             node->node.size()))
    return;
  auto version = record.getAs<IntegerAttr>("version");
  auto name = record.getAs<StringAttr>("name");
  StringRef domain = keptNode->proto.domain();
  bool isStandard = isStandardDomain(domain);
  auto declared = opsets.find(isStandard ? "ai.onnx" : domain.str());
  if (!version || declared == opsets.end())
    return;
  if (isStandard && version.getInt() > opsetVersion)
    need(version.getInt());
  if (isStandard ? !staysValid(keptNode->proto, version.getInt(), opsetVersion)
                 : version.getInt() != declared->second)
    return;
  keptNode->anchor = formats::insertionPoint(*node, ops);
  if (!keptNode->anchor)
    return;
  // A kept node has its graphs in its message.
  if (auto holder = llvm::find_if(ops, holdsGraphs); holder != ops.end()) {
    if (!holdsGraphsOf(keptNode->proto, *holder))
      return;
    keptNode->holder = *holder;
  }
  keptNode->name = name ? name.str() : keptNode->proto.name();
  keptNode->node = std::move(*node);
  for (auto [i, output] : llvm::enumerate(keptNode->node.outputs))
    if (output && static_cast<int>(i) < keptNode->proto.output_size())
      reserve(output, keptNode->proto.output(i));
  if (!keptNode->holder)
    forEachGraph(std::as_const(keptNode->proto),
                 [&](const GraphProto &graph) { reserveInner(graph, used); });
  for (Operation *op : ops)
    keptOf[op] = keptNode.get();
  keptNode->ops.assign(ops.begin(), ops.end());
  planGraphs(*keptNode);
  kept.push_back(std::move(keptNode));
}

/// Inputs and outputs of graphs keep their names.
void GraphWriter::planGraphs(const KeptNode &node) {
  if (!node.holder)
    return;
  for (Operation *op : heldOps(node.ops))
    absorbed.insert(op);
  for (const AttributeProto &attribute : node.proto.attribute()) {
    auto held = heldGraph(node.holder, attribute.name());
    if (!attribute.has_g() || !held)
      continue;
    for (auto [argument, input] :
         llvm::zip(held->block->getArguments(), attribute.g().input()))
      reserve(argument, input.name());
    ValueRange given(held->block->getTerminator()->getOperands());
    for (auto [value, output] :
         llvm::zip(given.drop_front(held->firstOutput), attribute.g().output()))
      if (Operation *op = value.getDefiningOp();
          op && op->getBlock() == held->block &&
          !isa<stablehlo::ConstantOp>(op))
        reserve(value, output.name());
  }
}

void GraphWriter::planBlock(Block &block) {
  if (auto records =
          keptOfSource<ArrayAttr>(module, formatName, sourceRecordsAttribute)) {
    llvm::MapVector<int64_t, SmallVector<Operation *>> groups;
    for (Operation &op : block)
      if (auto index = sourceOf(&op))
        groups[*index].push_back(&op);
    for (auto &[index, ops] : groups)
      planGroup(records, index, ops);
  }
  planReshapes(block);
  for (Operation &op : block) {
    if (isa<stablehlo::IfOp, stablehlo::CaseOp, stablehlo::WhileOp,
            nn::DeferredOp>(op)) {
      if (++depth < 200)
        for (Region &region : op.getRegions())
          planBlock(region.front());
      --depth;
      continue;
    }
    if (KeptNode *own = keptOf.lookup(&op)) {
      // An addition that is a node by itself may become a bias.
      if (isa<stablehlo::AddOp>(op) && own->proto.op_type() == "Add" &&
          planBias(&op))
        giveUp(own);
      continue;
    }
    if (isa<stablehlo::AddOp>(op))
      planBias(&op);
    else if (isa<stablehlo::MulOp>(op))
      planBlockScales(&op);
  }
}

bool GraphWriter::planBlockScales(Operation *multiply) {
  std::optional<BlockScales> found = BlockScales::of(multiply);
  if (!found || llvm::any_of(found->parts, [&](Operation *part) {
        return keptOf.contains(part) || absorbed.contains(part);
      }))
    return false;
  absorbed.insert(found->parts.begin(), found->parts.end());
  blockScales[multiply] = std::move(*found);
  return true;
}

bool GraphWriter::planMean(Operation *divide) {
  if (keptOf.contains(divide))
    return false;
  std::optional<Mean> found = Mean::of(
      divide,
      [&](Operation *reshape, ArrayRef<int64_t> axes) {
        const Ints *own = unsqueezedAxes(reshape);
        return own && ArrayRef<int64_t>(*own) == axes;
      },
      [&](Operation *user) { return absorbed.contains(user); });
  if (!found || llvm::any_of(found->parts, [&](Operation *part) {
        return keptOf.contains(part) || absorbed.contains(part);
      }))
    return false;
  absorbed.insert(found->parts.begin(), found->parts.end());
  means[divide] = std::move(*found);
  return true;
}

/// A tensor that repeats one element \p size times.
static Tensor repeated(const Tensor &tensor, int64_t size) {
  Tensor result(tensor.type(), {size});
  size_t width = byteSize(tensor.type());
  for (int64_t i = 0; i < size; ++i)
    std::memcpy(result.mutableBytes() + i * width, tensor.data(), width);
  return result;
}

/// Whether \p value, broadcast to \p type, depends only on the feature, so that
/// it can be a vector.
static bool isPerFeature(Value value, int64_t feature, RankedTensorType type,
                         BiasedProduct &result) {
  int64_t size = type.getDimSize(feature);
  if (ShapedType::isDynamic(size))
    return false;
  Value source = value;
  Ints dims;
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>()) {
    source = broadcast.getOperand();
    dims = Ints(broadcast.getBroadcastDimensions());
  } else {
    if (auto like = value.getDefiningOp<nn::BroadcastLikeOp>())
      source = like.getOperand();
    int64_t rank = cast<RankedTensorType>(source.getType()).getRank();
    for (int64_t i = 0; i < rank; ++i)
      dims.push_back(type.getRank() - rank + i);
  }
  auto sourceType = cast<RankedTensorType>(source.getType());
  if (sourceType.getRank() == 1 && dims[0] == feature &&
      sourceType.getDimSize(0) == size) {
    result.vector = source;
    return true;
  }
  auto constant = source.getDefiningOp<stablehlo::ConstantOp>();
  if (!constant) {
    const auto [vector, places] = Repetition::of(value);
    if (places.size() != 1 || places[0] != feature ||
        tensorOf(vector).getDimSize(0) != size)
      return false;
    result.vector = vector;
    return true;
  }
  std::optional<Tensor> tensor;
  if (constant.getValue().isSplat()) {
    auto one = DenseElementsAttr::get(
        RankedTensorType::get({1}, sourceType.getElementType()),
        constant.getValue().getSplatValue<Attribute>());
    tensor = toTensor(one);
  } else {
    for (auto [i, each] : llvm::enumerate(sourceType.getShape()))
      if (each != 1 && dims[i] != feature)
        return false;
    tensor = toTensor(constant.getValue());
  }
  if (!tensor || (tensor->size() != size && tensor->size() != 1))
    return false;
  result.tensor = tensor->size() == size ? tensor->reshaped({size})
                                         : repeated(*tensor, size);
  result.tensorName = constantName(source).str();
  if (result.tensorName.empty())
    result.tensorName = originOf(value.getDefiningOp()) + "_bias";
  return true;
}

/// The dimension of a matmul's or convolution's result along which a bias lies;
/// nothing if its node takes no bias.
static std::optional<int64_t> featureOf(Operation *product) {
  if (auto convolution = dyn_cast_or_null<stablehlo::ConvolutionOp>(product))
    return convolution.getDimensionNumbers().getOutputFeatureDimension();
  auto dot = dyn_cast_or_null<stablehlo::DotGeneralOp>(product);
  auto isMatrix = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank() == 2;
  };
  if (dot && isMatrix(dot.getLhs()) && isMatrix(dot.getRhs()) &&
      dot.getDotDimensionNumbers().getLhsContractingDimensions().size() == 1 &&
      dot.getDotDimensionNumbers().getLhsBatchingDimensions().empty())
    return 1;
  return std::nullopt;
}

/// Whether a kept node can take a bias as its third input.
static bool takesBias(const KeptNode &kept, Value result) {
  StringRef opType = kept.proto.op_type();
  const auto &inputs = kept.node.inputs;
  bool hasBias = inputs.size() > 3 || (inputs.size() == 3 &&
                                       (inputs[2].value || inputs[2].constant));
  // Gemm multiplies its bias by beta.
  const bool isGemm =
      opType == "Gemm" &&
      llvm::none_of(kept.proto.attribute(), [](const auto &attribute) {
        return attribute.name() == "beta" && attribute.f() != 1;
      });
  return (opType == "Conv" || opType == "ConvTranspose" || isGemm) &&
         !hasBias && kept.node.outputs.size() == 1 &&
         kept.node.outputs[0] == result;
}

/// Whether only \p add uses the elements of the product. Uses of its shape can
/// use that of the sum, if they come after it.
static bool isSoleUse(Operation *product, Operation *add) {
  Value result = product->getResult(0);
  OpOperand *reading = soleElementUse(result);
  auto isBehind = [&](Operation *user) {
    Operation *here = add->getBlock()->findAncestorOpInBlock(*user);
    return here == add || add->isBeforeInBlock(here);
  };
  return reading && reading->getOwner() == add &&
         llvm::all_of(result.getUsers(), [&](Operation *user) {
           // A broadcast is written at its uses.
           return GraphWriter::isBroadcast(user)
                      ? llvm::all_of(user->getUsers(), isBehind)
                      : isBehind(user);
         });
}

/// Whether the Reshape for \p op can infer its only dynamic dimension from the
/// element count.
static bool infersSize(stablehlo::DynamicReshapeOp op) {
  return hasOneUnknown(tensorOf(op)) && isSetByCount(tensorOf(op));
}

/// The axes of the result at which \p op inserts dimensions of size 1, if it
/// does nothing else: all other sizes are those of the operand, in order.
static std::optional<Ints> insertedAxes(stablehlo::DynamicReshapeOp op) {
  const Value source = shapeSource(op.getOperand());
  const int64_t rank = tensorOf(op.getOperand()).getRank();
  Ints axes;
  int64_t next = 0;
  for (auto [i, size] : llvm::enumerate(sourcesOfSizes(op.getOutputShape()))) {
    bool isNext =
        next < rank &&
        (size.known ? tensorOf(op.getOperand()).getDimSize(next) == *size.known
                    : size.of == source && size.dimension == next);
    if (isNext)
      ++next;
    else if (size.known == 1)
      axes.push_back(static_cast<int64_t>(i));
    else
      return std::nullopt;
  }
  bool isWhole = next == rank && tensorOf(op).getRank() ==
                                     rank + static_cast<int64_t>(axes.size());
  return isWhole && !axes.empty() ? std::optional(axes) : std::nullopt;
}

/// Whether \p node is a Reshape whose shape operand computes, for it alone, a
/// size that follows from the element count.
static bool hasRedundantSizes(const KeptNode &node,
                              stablehlo::DynamicReshapeOp op) {
  if (node.proto.op_type() != "Reshape" || node.node.inputs.size() != 2 ||
      !infersSize(op))
    return false;
  Value sizes = node.node.inputs[1].value;
  Operation *from = sizes ? sizes.getDefiningOp() : nullptr;
  return from && from->getBlock() == op->getBlock() && isPure(from) &&
         !isa<stablehlo::ConstantOp>(from) &&
         llvm::all_of(sizes.getUsers(), [&](Operation *user) {
           return llvm::is_contained(node.ops, user);
         });
}

void GraphWriter::planReshapes(Block &block) {
  SmallVector<Operation *> unneeded;
  for (auto op : block.getOps<stablehlo::DynamicReshapeOp>()) {
    if (KeptNode *own = keptOf.lookup(op)) {
      if (!hasRedundantSizes(*own, op))
        continue;
      giveUp(own);
    }
    std::optional<Ints> axes = insertedAxes(op);
    if (axes)
      unsqueezed[op] = *axes;
    if (axes || infersSize(op)) {
      inferred.insert(op);
      if (Operation *sizes = op.getOutputShape().getDefiningOp())
        unneeded.push_back(sizes);
    }
  }
  // Ops that are not written, but whose first operand is still used.
  llvm::SmallPtrSet<Operation *, 8> passed;
  // MatMul broadcasts batches without a computed size.
  for (auto op : block.getOps<stablehlo::DotGeneralOp>()) {
    if (keptOf.contains(op) || !formats::isMatMul(op))
      continue;
    const auto [lhs, rhs] = formats::matMulOperands(op);
    for (auto [whole, own] :
         {std::pair(op.getLhs(), lhs), std::pair(op.getRhs(), rhs)}) {
      auto repeated = whole.getDefiningOp<stablehlo::DynamicBroadcastInDimOp>();
      if (whole == own || !repeated || !repeated->hasOneUse() ||
          keptOf.contains(repeated) || repeated->getBlock() != &block)
        continue;
      absorbed.insert(repeated);
      passed.insert(repeated);
      if (Operation *sizes = repeated.getOutputDimensions().getDefiningOp())
        unneeded.push_back(sizes);
    }
  }
  // The computation of sizes only for these is not written.
  auto hasNoElementUse = [&](Value value) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      if (passed.contains(use.getOwner()) && use.getOperandNumber() == 0)
        return false;
      return absorbed.contains(use.getOwner()) ||
             means.contains(use.getOwner()) ||
             (inferred.contains(use.getOwner()) && use.getOperandNumber() == 1);
    });
  };
  auto drop = [&] {
    while (!unneeded.empty()) {
      Operation *op = unneeded.pop_back_val();
      KeptNode *node = keptOf.lookup(op);
      ArrayRef<Operation *> ops = node ? ArrayRef<Operation *>(node->ops) : op;
      bool isNeeded =
          absorbed.contains(op) || op->getBlock() != &block ||
          !(node ? llvm::all_of(node->node.outputs,
                                [&](Value each) {
                                  return !each || hasNoElementUse(each);
                                })
                 : llvm::all_of(op->getResults(), hasNoElementUse));
      if (isNeeded || !llvm::all_of(ops, [](Operation *each) {
            return isPure(each) && each->getNumRegions() == 0;
          }))
        continue;
      absorbed.insert(ops.begin(), ops.end());
      for (Operation *each : ops)
        for (Value operand : each->getOperands())
          if (Operation *source = operand.getDefiningOp();
              source && !isa<stablehlo::ConstantOp>(source))
            unneeded.push_back(source);
    }
  };
  drop();
  // A mean needs neither its count nor other uses of the shape of its sum.
  for (auto op : block.getOps<stablehlo::DivOp>()) {
    if (!planMean(op))
      continue;
    passed.insert(means[op].parts.back());
    for (Value computed :
         {op->getOperand(1), means[op].parts.front()->getOperands().back()})
      if (Operation *source = computed.getDefiningOp();
          source && !isa<stablehlo::ConstantOp>(source))
        unneeded.push_back(source);
  }
  drop();
}

void GraphWriter::giveUp(KeptNode *node) {
  for (Operation *op : node->ops)
    keptOf.erase(op);
}

/// The conversion to \p product's operand type, narrower than f32, that is the
/// only use of \p add: Conv and Gemm add their bias before they round.
static stablehlo::ConvertOp roundingOf(Operation *product, Operation *add) {
  Type element = elementOf(product->getOperand(0));
  auto rounding = add->hasOneUse()
                      ? dyn_cast<stablehlo::ConvertOp>(*add->user_begin())
                      : stablehlo::ConvertOp();
  return rounding && rounding->getBlock() == add->getBlock() &&
                 stablehlo::isNarrowFloat(element) &&
                 elementOf(product->getOperand(1)) == element &&
                 elementOf(product->getResult(0)).isF32() &&
                 elementOf(rounding.getResult()) == element
             ? rounding
             : stablehlo::ConvertOp();
}

/// Converts an f32 bias to type \p element; false if that changes its values.
static bool narrow(BiasedProduct &both, Type element) {
  if (auto widening = both.vector
                          ? both.vector.getDefiningOp<stablehlo::ConvertOp>()
                          : stablehlo::ConvertOp()) {
    if (elementOf(widening.getOperand()) != element)
      return false;
    both.vector = widening.getOperand();
    return true;
  }
  std::optional<Tensor> constant =
      both.vector ? constantTensor(both.vector) : both.tensor;
  if (!constant)
    return false;
  const Tensor &wide = *constant;
  std::vector<double> numbers;
  for (int64_t i = 0; i < wide.size(); ++i)
    numbers.push_back(wide.toDouble(i));
  Tensor rounded =
      tensorOfDoubles(*sinter::elementTypeOf(element), wide.shape(), numbers);
  for (int64_t i = 0; i < wide.size(); ++i)
    if (rounded.toDouble(i) != numbers[i])
      return false;
  if (both.vector)
    both.tensorName = constantName(both.vector).str();
  if (both.tensorName.empty())
    both.tensorName = originOf(both.product) + "_bias";
  both.vector = {};
  both.tensor = std::move(rounded);
  return true;
}

bool GraphWriter::planBias(Operation *add) {
  for (unsigned side : {0u, 1u}) {
    Operation *product = add->getOperand(side).getDefiningOp();
    std::optional<int64_t> feature = featureOf(product);
    if (!feature || product->getBlock() != add->getBlock() ||
        !isSoleUse(product, add) || absorbed.contains(product))
      continue;
    auto type = cast<RankedTensorType>(product->getResult(0).getType());
    BiasedProduct both{product, {}, {}, {}};
    if (!isa<FloatType>(type.getElementType()) ||
        !isPerFeature(add->getOperand(1 - side), *feature, type, both))
      continue;
    Operation *last = add;
    if (auto rounding = roundingOf(product, add);
        rounding && !keptOf.contains(rounding) &&
        narrow(both, elementOf(rounding.getResult()))) {
      last = rounding;
      absorbed.insert(add);
      // The type of the node's output.
      product->getResult(0).setType(rounding.getType());
    }
    if (auto found = keptOf.find(product); found != keptOf.end()) {
      if (!takesBias(*found->second, product->getResult(0)))
        continue;
      absorbed.insert(found->second->ops.begin(), found->second->ops.end());
    }
    absorbed.insert(product);
    // The reshapes of the bias vector to the result's rank are not written.
    for (Operation *op = add->getOperand(1 - side).getDefiningOp();
         both.vector && op && op->getResult(0) != both.vector &&
         op->hasOneUse() && !keptOf.contains(op);
         op = op->getOperand(0).getDefiningOp())
      absorbed.insert(op);
    biased[last] = std::move(both);
    return true;
  }
  return false;
}

} // namespace sinter::onnx
