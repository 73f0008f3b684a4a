//===- Distribution.cpp - collectives and channels ------------------------===//

#include "graph/Collectives.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Environment.h"
#include "interpreter/Quantized.h"
#include "interpreter/ScalarFunction.h"
#include "interpreter/Tuples.h"
#include "runtime/Collectives.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::interpreter {

static Communicator &communicatorOf(const Call &call) {
  return *environmentOf(call).communicator;
}

static StringRef nameOf(const Call &call) {
  return call.op->getName().getStringRef();
}

/// A tensor of zeros, or of the storage elements that represent zero.
static Result<Tensor> zerosOf(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  const std::optional<ElementType> element =
      ranked ? elementTypeOf(ranked.getElementType()) : std::nullopt;
  if (!element || !ranked.hasStaticShape())
    return unsupported("has a result that is no tensor of known shape");
  if (Result<void> good = checkSize(*element, ranked.getShape()); !good)
    return good.takeError();
  if (!isQuantized(type))
    return Tensor(*element, toShape(ranked.getShape()));
  auto quantised = cast<quant::QuantizedType>(ranked.getElementType());
  return quantized(Tensor(elementTypeOf(quantised.getExpressedType())
                              .value_or(ElementType::F32),
                          toShape(ranked.getShape())),
                   type);
}

/// The received values, or zeros where there are none.
static Result<Tensors> orZeros(Result<std::optional<Tensors>> come,
                               TypeRange types) {
  if (!come)
    return come.takeError();
  if (*come)
    return std::move(**come);
  Tensors zeros;
  for (Type type : types) {
    Result<Tensor> zero = zerosOf(type);
    if (!zero)
      return zero.takeError();
    zeros.push_back(std::move(*zero));
  }
  return zeros;
}

//===----------------------------------------------------------------------===//
// Collective operations
//===----------------------------------------------------------------------===//

static Result<Tensors> evaluateAllGather(const Call &call) {
  Result<Groups> groups = groupsOf(call.op);
  if (!groups)
    return groups.takeError();
  return allGather(
      communicatorOf(call), *groups, call.operands.vec(),
      static_cast<int64_t>(call.as<AllGatherOp>().getAllGatherDim()),
      nameOf(call));
}

static Result<Tensors> evaluateAllToAll(const Call &call) {
  auto op = call.as<AllToAllOp>();
  Result<Groups> groups = groupsOf(op);
  if (!groups)
    return groups.takeError();
  return allToAll(communicatorOf(call), *groups, call.operands.vec(),
                  static_cast<int64_t>(op.getSplitDimension()),
                  static_cast<int64_t>(op.getConcatDimension()),
                  static_cast<int64_t>(op.getSplitCount()), nameOf(call));
}

/// The operands without those that are the root processes, and these processes.
static std::pair<Tensors, std::vector<int64_t>> splitRoots(const Call &call,
                                                           bool hasRoots) {
  Tensors values = call.operands.vec();
  std::vector<int64_t> roots;
  if (hasRoots) {
    for (int64_t i = 0; i < values.back().size(); ++i)
      roots.push_back(values.back().toInteger(i));
    values.pop_back();
    roots.resize(values.size(), roots.empty() ? 0 : roots.back());
  }
  return {std::move(values), std::move(roots)};
}

static Result<Tensors> evaluateCollectiveBroadcast(const Call &call) {
  auto op = call.as<CollectiveBroadcastOp>();
  Result<Groups> groups = groupsOf(op);
  if (!groups)
    return groups.takeError();
  const auto [values, roots] = splitRoots(call, op.getHasDynamicRoot());
  return orZeros(collectiveBroadcast(communicatorOf(call), *groups, values,
                                     roots, nameOf(call)),
                 op->getResultTypes());
}

static Result<Tensors> evaluateCollectivePermute(const Call &call) {
  return orZeros(collectivePermute(communicatorOf(call), pairsOf(call.op),
                                   call.operands.vec(), nameOf(call)),
                 call.op->getResultTypes());
}

/// Combines, in the order of the group, tensor \p index of each process.
static Result<Tensor> combine(ArrayRef<Tensors> all, size_t index,
                              ScalarFunction &body) {
  const auto given = [&](size_t process, size_t argument) {
    const Tensor &tensor = all[process][index];
    const ElementType type = body.argumentTypes()[argument];
    return tensor.type() == type ? tensor : converted(tensor, type);
  };
  Tensor combined = given(0, 0);
  for (size_t process = 1; process < all.size(); ++process) {
    const Tensor operands[] = {combined, given(process, 1)};
    Result<Tensors> next = body.apply(operands);
    if (!next)
      return next.takeError();
    combined = std::move(next->front());
  }
  return combined;
}

static Result<Tensors> combineAll(ArrayRef<Tensors> all, size_t count,
                                  Region &region, const Scope &scope) {
  ScalarFunction body(region, scope);
  Tensors results;
  for (size_t i = 0; i < count; ++i) {
    Result<Tensor> combined = combine(all, i, body);
    if (!combined)
      return combined.takeError();
    results.push_back(std::move(*combined));
  }
  return results;
}

static Result<Tensors> evaluateAllReduce(const Call &call) {
  Result<Groups> groups = groupsOf(call.op);
  if (!groups)
    return groups.takeError();
  Result<Gathered> gathered =
      gather(communicatorOf(call), *groups, call.operands.vec(), nameOf(call));
  if (!gathered)
    return gathered.takeError();
  return combineAll(gathered->all, call.operands.size(), call.op->getRegion(0),
                    call.scope);
}

/// Evaluates it as an all_reduce.
static Result<Tensors> evaluateCrossReplicaSum(const Call &call) {
  OpBuilder builder(call.op->getContext());
  FailureOr<SmallVector<mlir::Value>> sum =
      call.as<CrossReplicaSumOp>().decompose(builder);
  if (failed(sum))
    return unsupported("cannot be written as an all_reduce");
  Operation *reduction = sum->front().getDefiningOp();
  Result<Tensors> results =
      evaluateAllReduce(Call{reduction, call.operands, call.scope});
  reduction->destroy();
  return results;
}

static Result<Tensors> evaluateReduceScatter(const Call &call) {
  auto op = call.as<ReduceScatterOp>();
  Result<Groups> groups = groupsOf(op);
  if (!groups)
    return groups.takeError();
  Result<Gathered> gathered =
      gather(communicatorOf(call), *groups, call.operands.vec(), nameOf(call));
  if (!gathered)
    return gathered.takeError();
  // Only this process's slice is combined.
  for (Tensors &given : gathered->all) {
    Result<Tensor> combined =
        partOf(given.front(), static_cast<int64_t>(op.getScatterDimension()),
               static_cast<int64_t>(gathered->place),
               static_cast<int64_t>(gathered->all.size()));
    if (!combined)
      return combined.takeError();
    given.front() = std::move(*combined);
  }
  return combineAll(gathered->all, 1, op.getComputation(), call.scope);
}

static Result<Tensors> evaluateCollectiveReduce(const Call &call) {
  auto op = call.as<CollectiveReduceOp>();
  Result<Groups> groups = groupsOf(op);
  if (!groups)
    return groups.takeError();
  const auto [values, roots] = splitRoots(call, op.getHasDynamicRoot());
  Communicator &communicator = communicatorOf(call);
  Result<RankGroup> group =
      groupOf(communicator.rank(), *groups, communicator.grid());
  if (!group)
    return group.takeError();
  if (group->empty())
    return orZeros(std::optional<Tensors>(), op->getResultTypes());
  Result<Gathered> gathered =
      gather(communicator, *groups, values, nameOf(call));
  if (!gathered)
    return gathered.takeError();
  Result<Tensors> combined =
      combineAll(gathered->all, values.size(), op.getComputation(), call.scope);
  if (!combined)
    return combined;
  for (size_t i = 0; i < combined->size(); ++i) {
    if (static_cast<int64_t>(gathered->place) == (roots.empty() ? 0 : roots[i]))
      continue;
    Result<Tensor> zeros = zerosOf(op->getResult(i).getType());
    if (!zeros)
      return zeros.takeError();
    (*combined)[i] = std::move(*zeros);
  }
  return combined;
}

//===----------------------------------------------------------------------===//
// Process ids, channels, infeed and outfeed
//===----------------------------------------------------------------------===//

static Result<Tensors> identity(uint32_t number) {
  Tensor result(ElementType::UI32, {});
  result.set<uint32_t>(0, number);
  return single(std::move(result));
}

static Result<Tensors> evaluateReplicaId(const Call &call) {
  return identity(communicatorOf(call).replica());
}

static Result<Tensors> evaluatePartitionId(const Call &call) {
  return identity(communicatorOf(call).partition());
}

static Result<Tensors> evaluateSend(const Call &call) {
  Result<void> sent =
      sendValues(communicatorOf(call), channelOf(call.op), pairsOf(call.op),
                 call.operands.drop_back().vec(), nameOf(call));
  if (!sent)
    return sent.takeError();
  return single(token());
}

/// Appends a token to the values, whose number must be that of the other
/// results.
static Result<Tensors> withToken(const Call &call, Result<Tensors> values) {
  if (!values)
    return values;
  if (values->size() + 1 != call.op->getNumResults())
    return Error{ErrorKind::WrongResult,
                 std::to_string(values->size()) + " values came for " +
                     std::to_string(call.op->getNumResults() - 1)};
  values->push_back(token());
  return values;
}

static Result<Tensors> evaluateReceive(const Call &call) {
  return withToken(
      call, orZeros(receiveValues(communicatorOf(call), channelOf(call.op),
                                  pairsOf(call.op), nameOf(call)),
                    TypeRange(call.op->getResultTypes()).drop_back()));
}

static Result<Tensors> evaluateInfeed(const Call &call) {
  if (call.op->getNumResults() == 1)
    return single(token());
  return withToken(call, takeInfeed(communicatorOf(call), nameOf(call)));
}

static Result<Tensors> evaluateOutfeed(const Call &call) {
  communicatorOf(call).outfeed.push_back(call.operands.drop_back().vec());
  return single(token());
}

//===----------------------------------------------------------------------===//
// Asynchronous operations, which are evaluated immediately
//===----------------------------------------------------------------------===//

static Result<Tensors> evaluateAsyncStart(const Call &call) {
  Result<Tensors> results =
      runRegion(call.op->getRegion(0), call.operands, call.scope);
  if (!results)
    return results;
  return single(packed(std::move(*results)));
}

static Result<Tensors> evaluateAsyncDone(const Call &call) {
  return unpacked(call[0]);
}

void registerDistribution(Registry &registry) {
  registry.add<AllGatherOp>(evaluateAllGather);
  registry.add<AllToAllOp>(evaluateAllToAll);
  registry.add<AllReduceOp>(evaluateAllReduce);
  registry.addStored<CrossReplicaSumOp>(evaluateCrossReplicaSum);
  registry.add<ReduceScatterOp>(evaluateReduceScatter);
  registry.add<CollectiveBroadcastOp>(evaluateCollectiveBroadcast);
  registry.add<CollectivePermuteOp>(evaluateCollectivePermute);
  registry.add<CollectiveReduceOp>(evaluateCollectiveReduce);
  registry.add<ReplicaIdOp>(evaluateReplicaId);
  registry.add<PartitionIdOp>(evaluatePartitionId);
  registry.add<SendOp>(evaluateSend);
  registry.add<RecvOp>(evaluateReceive);
  registry.add<InfeedOp>(evaluateInfeed);
  registry.add<OutfeedOp>(evaluateOutfeed);
  registry.add<AsyncStartOp>(evaluateAsyncStart);
  registry.add<AsyncDoneOp>(evaluateAsyncDone);
}

} // namespace sinter::interpreter
