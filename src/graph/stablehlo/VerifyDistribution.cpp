// Constraints of collective operations. The process count is not known here:
// constraints that depend on it are checked at run time.

#include "graph/stablehlo/Verify.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::MulOverflow;

namespace sinter::stablehlo {

LogicalResult verifyMesh(Operation *op, Attribute groups,
                         SymbolTableCollection &symbols) {
  auto axes = dyn_cast<ReplicaGroupMeshAxesAttr>(groups);
  auto name =
      axes ? dyn_cast<FlatSymbolRefAttr>(axes.getMesh()) : FlatSymbolRefAttr();
  if (name && !symbols.lookupNearestSymbolFrom(op, name))
    return op->emitOpError("replica_groups: there is no mesh ") << name;
  return success();
}

namespace {
/// The labels of the constraints on replica groups.
struct GroupLabels {
  StringRef unique;
  StringRef range;
  /// Whether all groups are to have the same size.
  bool sameSize = false;
  /// Whether every process is to be in a group.
  bool coversAll = true;
};
} // namespace

/// Checks that replica groups are rows of distinct ids; -1 pads a shorter one.
static LogicalResult verifyGroups(Operation *op, Attribute groups,
                                  const GroupLabels &labels) {
  auto ids = dyn_cast<DenseIntElementsAttr>(groups);
  if (!ids)
    return success(); // The mesh's attribute has verified itself.
  if (ids.getType().getRank() != 2)
    return op->emitOpError("replica_groups is not a 2-dimensional tensor");
  if (!hasAtMost(ids, mostProcesses))
    return op->emitOpError("replica_groups has too many ids");
  SmallVector<int64_t> seen;
  for (int64_t id : ids.getValues<int64_t>()) {
    if (id < (labels.sameSize ? 0 : -1))
      return op->emitOpError(labels.range)
             << " replica_groups has the id " << id;
    if (id >= 0)
      seen.push_back(id);
  }
  if (!isUnique(seen))
    return op->emitOpError(labels.unique)
           << " an id stands twice in replica_groups";
  if (!labels.coversAll)
    return success();
  // Ids are 0 to the process count minus one, each once.
  for (int64_t id : seen)
    if (id >= static_cast<int64_t>(seen.size()))
      return op->emitOpError(labels.range)
             << " replica_groups has the id " << id << " and not all below it";
  return success();
}

/// use_global_device_ids requires a channel.
static LogicalResult verifyChannel(Operation *op, bool useGlobalDeviceIds,
                                   std::optional<ChannelHandleAttr> channel,
                                   StringRef label) {
  if (useGlobalDeviceIds && (!channel || channel->getHandle() <= 0))
    return op->emitOpError(label) << " use_global_device_ids needs a "
                                     "channel_handle with a positive handle";
  return success();
}

/// The number of processes in a group, if the op determines it: with a channel
/// and without global ids, the partitions of each replica are in the group,
/// too.
static std::optional<int64_t>
groupSize(Attribute groups, std::optional<ChannelHandleAttr> channel,
          bool useGlobalDeviceIds) {
  if (channel && channel->getHandle() > 0 && !useGlobalDeviceIds)
    return std::nullopt;
  if (auto ids = dyn_cast<DenseIntElementsAttr>(groups))
    if (ids.getType().getRank() == 2)
      return ids.getType().getDimSize(1);
  return std::nullopt;
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups(),
                          {"(C2)", "(C4)", /*sameSize=*/true})) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(),
                           "(C5)")))
    return failure();
  if (getNumOperands() != getNumResults() || getOperands().empty())
    return emitOpError("(C6) needs as many results as operands, at least one");
  // Published programs gather over groups that do not fit the result's size, so
  // only divisibility is checked here, and the rest at run time.
  int64_t along = getAllGatherDim();
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults())) {
    auto from = tensorOf(operand), to = tensorOf(result);
    if (along >= from.getRank())
      return emitOpError("(C1) all_gather_dim is not a dimension of the "
                         "operands");
    if (!sameBaselineElement(from, to) || from.getRank() != to.getRank())
      return emitOpError("(C6) a result differs from its operand in rank or "
                         "element type");
    for (int64_t i = 0; i < from.getRank(); ++i) {
      int64_t size = from.getDimSize(i), given = to.getDimSize(i);
      bool fits = !differ(size, given);
      if (i == along)
        fits = ShapedType::isDynamic(size) || ShapedType::isDynamic(given) ||
               (size ? given % size == 0 : given == 0);
      if (!fits)
        return emitOpError("(C6) dimension ")
               << i << " of a result does not follow from its operand";
    }
  }
  return success();
}

/// Checks the computation of a collective, (E, E) -> E: all operands' elements
/// may be promoted to E, and all results have it.
static LogicalResult verifyComputation(Operation *op, Region &region,
                                       ValueRange operands, ValueRange results,
                                       StringRef label, StringRef resultLabel) {
  TypeRange returned = returnedTypes(region);
  if (returned.size() != 1)
    return op->emitOpError(label) << " the computation does not return one "
                                     "value";
  for (auto [operand, result] : llvm::zip_equal(operands, results))
    if (failed(verifyReducer(op, region, operand.getType(), result.getType(),
                             label, resultLabel)))
      return failure();
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups(), {"(C1)", "(C3)"})) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(),
                           "(C4)")))
    return failure();
  if (getNumOperands() != getNumResults() || getOperands().empty())
    return emitOpError("(C6) needs as many results as operands, at least one");
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults()))
    if (failed(verifyCompatibleShape(tensorOf(operand), tensorOf(result))))
      return emitOpError("(C6) a result differs from its operand in shape");
  return verifyComputation(*this, getComputation(), getOperands(), getResults(),
                           "(C5)", "(C7)");
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups(),
                          {"(C3)", "(C5)", /*sameSize=*/true})) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(),
                           "(C6)")))
    return failure();
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  int64_t along = getScatterDimension();
  if (along >= from.getRank())
    return emitOpError("(C2) scatter_dimension is not a dimension of the "
                       "operand");
  if (from.getRank() != to.getRank())
    return emitOpError("(C8) the result differs from the operand in rank");
  std::optional<int64_t> count = groupSize(
      getReplicaGroups(), getChannelHandle(), getUseGlobalDeviceIds());
  for (int64_t i = 0; i < from.getRank(); ++i) {
    int64_t size = from.getDimSize(i), given = to.getDimSize(i);
    if (i == along && !count && !ShapedType::isDynamic(size) &&
        !ShapedType::isDynamic(given) && (given ? size % given : size) != 0)
      return emitOpError("(C1) the size of scatter_dimension is not a multiple "
                         "of the result's");
    if (i == along && count && *count > 0 && !ShapedType::isDynamic(size)) {
      if (size % *count != 0)
        return emitOpError("(C1) the size of scatter_dimension is not a "
                           "multiple of the group's");
      size /= *count;
    }
    if ((i != along || count) && differ(size, given))
      return emitOpError("(C8) dimension ")
             << i << " of the result does not follow from the operand";
  }
  return verifyComputation(*this, getComputation(), getOperand(), getResult(),
                           "(C7)", "(C9)");
}

LogicalResult AllToAllOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups(),
                          {"(C5)", "(C7)", /*sameSize=*/true})))
    return failure();
  if (getOperands().empty() || getNumOperands() != getNumResults())
    return emitOpError("(C9) needs as many results as operands, at least one");
  std::optional<int64_t> count =
      groupSize(getReplicaGroups(), std::nullopt, false);
  if (count && *count != static_cast<int64_t>(getSplitCount()))
    return emitOpError("(C8) split_count is not the size of a group");
  return success();
}

/// Checks that with a dynamic root the last operand holds it, for each result.
static LogicalResult verifyRoot(Operation *op, bool hasDynamicRoot,
                                StringRef label) {
  int64_t values = op->getNumResults();
  if (values == 0 || op->getNumOperands() != values + hasDynamicRoot)
    return op->emitOpError(label) << " needs an operand for each result, at "
                                     "least one"
                                  << (hasDynamicRoot ? ", and a root" : "");
  for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults()))
    if (failed(verifyCompatibleShape(tensorOf(operand), tensorOf(result))))
      return op->emitOpError(label) << " a result differs from its operand in "
                                       "shape";
  if (!hasDynamicRoot)
    return success();
  auto root = tensorOf(op->getOperands().back());
  if (root !=
      RankedTensorType::get({values}, IntegerType::get(op->getContext(), 32)))
    return op->emitOpError(label)
           << " the root is not a vector of one i32 for each result";
  return success();
}

LogicalResult CollectiveBroadcastOp::verify() {
  if (failed(verifyGroups(
          *this, getReplicaGroups(),
          {"(C1)", "(C2)", /*sameSize=*/false, /*coversAll=*/false})))
    return failure();
  return verifyRoot(*this, getHasDynamicRoot(),
                    getHasDynamicRoot() ? "(C4, C5)" : "(C3, C5)");
}

LogicalResult CollectiveReduceOp::verify() {
  if (failed(verifyGroups(
          *this, getReplicaGroups(),
          {"(C1)", "(C2)", /*sameSize=*/false, /*coversAll=*/false})) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(),
                           "")) ||
      failed(verifyRoot(*this, getHasDynamicRoot(), "(C3)")))
    return failure();
  return verifyComputation(*this, getComputation(),
                           getOperands().take_front(getNumResults()),
                           getResults(), "(C4)", "(C4)");
}

/// Checks pairs [source, target]: no source and no target twice, none negative.
static LogicalResult verifyPairs(Operation *op, DenseIntElementsAttr pairs,
                                 ArrayRef<StringRef> labels) {
  // `dense<[]> : tensor<0xi64>` is how an empty list is often written.
  if (pairs.empty())
    return success();
  auto type = pairs.getType();
  if (type.getRank() != 2 || type.getDimSize(1) != 2)
    return op->emitOpError(labels[0])
           << " source_target_pairs is not a list of pairs";
  if (!hasAtMost(pairs, mostProcesses))
    return op->emitOpError("source_target_pairs has too many pairs");
  SmallVector<int64_t> ends[2];
  for (auto [i, id] : llvm::enumerate(pairs.getValues<int64_t>())) {
    if (id < 0)
      return op->emitOpError(labels[3])
             << " source_target_pairs has the id " << id;
    ends[i % 2].push_back(id);
  }
  for (int i : {0, 1})
    if (!isUnique(ends[i]))
      return op->emitOpError(labels[1 + i])
             << (i ? " a target" : " a source")
             << " stands twice in source_target_pairs";
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  if (!compatibleTypes(getOperand().getType(), getType()))
    return emitOpError("(C5) the result differs from the operand in type");
  return verifyPairs(*this, getSourceTargetPairs(),
                     {"(C1)", "(C2)", "(C3)", "(C4)"});
}

/// Checks the results: payload first, a token last.
static LogicalResult verifyPayload(Operation *op) {
  if (op->getNumResults() == 0)
    return op->emitOpError("(C1) has no results");
  for (Value value : op->getResults().drop_back())
    if (!isa<RankedTensorType>(value.getType()))
      return op->emitOpError("(C2) a result before the last is not a tensor");
  if (!isa<TokenType>(op->getResults().back().getType()))
    return op->emitOpError("(C3) the last result is not a token");
  return success();
}

LogicalResult InfeedOp::verify() {
  if (failed(verifyPayload(*this)))
    return failure();
  std::optional<ArrayAttr> layout = getLayout();
  if (!layout)
    return success();
  if (layout->size() != getNumResults() - 1)
    return emitOpError("layout has ") << layout->size() << " elements instead "
                                      << "of " << getNumResults() - 1;
  for (Attribute each : *layout) {
    auto dimensions = dyn_cast<ArrayAttr>(each);
    if (!dimensions || !llvm::all_of(dimensions, [](Attribute dimension) {
          return isa<IntegerAttr>(dimension);
        }))
      return emitOpError("layout is not a list of lists of dimensions: ")
             << each;
  }
  return success();
}

/// The values of a channel's type.
enum ChannelType { DeviceToDevice = 1, DeviceToHost = 2, HostToDevice = 3 };

static LogicalResult verifyTransfer(Operation *op, ChannelHandleAttr channel,
                                    bool isHostTransfer, ChannelType host) {
  if (channel.getType() != (isHostTransfer ? host : DeviceToDevice))
    return op->emitOpError("(C5) the channel's type is ")
           << channel.getType() << " and is_host_transfer "
           << (isHostTransfer ? "true" : "false");
  return success();
}

LogicalResult SendOp::verify() {
  if (std::optional<DenseIntElementsAttr> pairs = getSourceTargetPairs())
    if (failed(verifyPairs(*this, *pairs, {"(C1)", "(C2)", "(C3)", "(C4)"})))
      return failure();
  return verifyTransfer(*this, getChannelHandle(), getIsHostTransfer(),
                        DeviceToHost);
}

LogicalResult RecvOp::verify() {
  if (std::optional<DenseIntElementsAttr> pairs = getSourceTargetPairs())
    if (failed(verifyPairs(*this, *pairs, {"(C1)", "(C2)", "(C3)", "(C4)"})))
      return failure();
  if (failed(verifyTransfer(*this, getChannelHandle(), getIsHostTransfer(),
                            HostToDevice)))
    return failure();
  return verifyPayload(*this);
}

} // namespace sinter::stablehlo
