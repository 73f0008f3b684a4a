//===- FusionConditions.cpp - what joins the operations of a kernel -------===//

#include "backend/cpu/fusion/FusionConditions.h"

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/RegionForm.h"
#include "backend/cpu/emit/RootKernels.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "graph/nn/NnOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A producer that a group may take in.
struct FusionCandidate {
  const FusionGroup &group;
  Operation *producer;
  /// The operand of a member that it computes.
  OpOperand &operand;
  /// Nothing where members need it at several places.
  std::optional<Place> place;

  FusionCandidate(const FusionGroup &group, OpOperand &operand)
      : group(group), producer(operand.get().getDefiningOp()), operand(operand),
        place(group.placeFor(producer)) {}

  Operation *user() const { return operand.getOwner(); }
};

using Condition = bool (*)(const FusionCandidate &);

bool allHold(ArrayRef<Condition> conditions, const FusionCandidate &candidate) {
  return llvm::all_of(conditions,
                      [&](Condition holds) { return holds(candidate); });
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// Whether one element of \p user reads at most one element of operand \p
/// operand, and no element of it is read by more than one.
bool readsOnce(Operation *user, OpOperand &operand) {
  using namespace stablehlo;
  switch (kindOf(user)) {
  case Kind::Elementwise:
  case Kind::Reduction:
  case Kind::Alias:
    return sizeOf(operand.get()) > 1 || sizeOf(user->getResult(0)) == 1;
  case Kind::Movement:
    if (isa<GatherOp, DynamicSliceOp, DynamicUpdateSliceOp>(user) &&
        operand.getOperandNumber() > 0)
      return false;
    // Of named sizes, only which are equal is known.
    if (isa<BroadcastInDimOp>(user))
      return sizeOf(operand.get()) == sizeOf(user->getResult(0));
    return !isa<GatherOp>(user) &&
           sizeOf(operand.get()) >= sizeOf(user->getResult(0));
  default:
    return false;
  }
}

/// Whether code finds the element of what \p op reshapes: where sizes are
/// named, it does not compute with them.
bool keepsNamedSizes(Operation *op) {
  return !hasNamedSizes(op) || keepsNamedDimensions(dimsOf(op->getOperand(0)),
                                                    dimsOf(op->getResult(0)));
}

bool usedOnlyIn(const FusionGroup &group, Operation *op) {
  return llvm::all_of(op->getUsers(),
                      [&](Operation *user) { return group.contains(user); });
}

/// Whether other kernels use \p producer's result, too, since they recompute
/// members of \p group.
bool feedsRepeated(const FusionGroup &group, Operation *producer) {
  return llvm::any_of(producer->getUsers(), [&](Operation *user) {
    return group.repeated.contains(user);
  });
}
/// Whether \p value is a broadcast, or has one element.
bool isRepeated(Value value) {
  return sizeOf(value) == 1 || isSplatConstant(value) ||
         value.getDefiningOp<stablehlo::BroadcastInDimOp>();
}

unsigned bitsOf(Value value) {
  return bitWidth(*elementTypeOf(getElementTypeOrSelf(value)));
}

/// Whether \p op can be computed in vectors. Complex operations cannot, nor
/// can a map whose region was not inlined, since it has control flow.
bool isComputedInVectors(Operation *op) {
  return !isa<stablehlo::MapOp>(op) && !hasComplexNumbers(op);
}

/// Whether \p producer is scalar arithmetic in a kernel with a scalar result:
/// that is cheaper than a kernel of its own.
bool isCheapScalar(const FusionGroup &group, Operation *producer) {
  auto isScalar = [](Value value) { return sizeOf(value) == 1; };
  return isCheap(producer) && kindOf(producer) == Kind::Elementwise &&
         isScalar(group.root->getResult(0)) &&
         llvm::all_of(producer->getOperands(), isScalar);
}

/// Whether \p producer costs nothing, so that every user recomputes it.
bool isFree(const FusionGroup &group, Operation *producer) {
  return isa<stablehlo::IotaOp, stablehlo::BroadcastInDimOp>(producer) ||
         isCheapScalar(group, producer);
}

/// Whether every user can recompute \p producer's result instead of loading
/// it: a chain of at most \p most cheap operations on a tensor of the same
/// size that is stored for other users anyway, and on broadcast operands.
/// Examples are a norm's distances from the mean, and the operand of a
/// rectifier and its gradient.
bool isCheapToRecompute(Operation *producer, const Block &block,
                        unsigned most = 3) {
  constexpr int64_t fewestElements = 1024;
  constexpr unsigned mostReaders = 4;
  if (kindOf(producer) != Kind::Elementwise || !isCheap(producer) ||
      producer->getNumResults() != 1 || producer->getNumRegions() != 0 ||
      hasComplexNumbers(producer))
    return false;
  Value result = producer->getResult(0), source;
  if (sizeOf(result) < fewestElements)
    return false;
  for (Value operand : producer->getOperands()) {
    if (operand == source || isRepeated(operand))
      continue;
    if (source)
      return false;
    source = operand;
  }
  if (!source || sizeOf(source) != sizeOf(result) ||
      bitsOf(source) > bitsOf(result))
    return false;
  Operation *before = source.getDefiningOp();
  if (before && kindOf(before) != Kind::Elementwise &&
      kindOf(before) != Kind::Product)
    return false;
  if (before && before->hasOneUse() &&
      (most == 1 || !isCheapToRecompute(before, block, most - 1)))
    return false;
  unsigned readers = 0;
  return llvm::all_of(result.getUsers(), [&](Operation *user) {
    const Kind kind = kindOf(user);
    return user->getBlock() == &block && ++readers <= mostReaders &&
           (kind == Kind::Elementwise || kind == Kind::Reduction);
  });
}

/// The number of elements if each named size is that of a short sequence or of
/// a side of a small image.
double assumedSizeOf(Value value) {
  constexpr int64_t assumed = 64;
  double product = 1;
  for (Dim size : dimsOf(value))
    product *= double(size.isNamed() ? assumed : size.value());
  return product;
}

/// Whether \p operand's elements are read again and again: by a broadcast, or
/// as what a gather finds its slices by.
bool isRepeatedBy(OpOperand &operand) {
  Operation *user = operand.getOwner();
  return isa<stablehlo::BroadcastInDimOp>(user) ||
         (isa<stablehlo::GatherOp>(user) && operand.getOperandNumber() == 1);
}

/// Whether \p producer ends a chain of several operations on few elements
/// that \p operand's owner repeats so often that recomputing them each time
/// takes longer than a kernel of their own: a mask, say, that is quantised and
/// dequantised, and added to all scores, or the indices of a resize.
bool isRepeatedForLong(Operation *producer, OpOperand &operand) {
  constexpr int64_t leastElements = 1 << 16, leastTimes = 16;
  constexpr unsigned leastSteps = 4;
  if (!isRepeatedBy(operand))
    return false;
  const int64_t few = sizeOf(operand.get());
  const double once = assumedSizeOf(operand.get()),
               many = assumedSizeOf(operand.getOwner()->getResult(0));
  if (few <= 1 || many < leastElements || many / once < leastTimes)
    return false;
  SetVector<Operation *> chain;
  chain.insert(producer);
  for (unsigned i = 0; i < chain.size() && chain.size() < leastSteps; ++i)
    for (Value before : chain[i]->getOperands())
      if (Operation *op = before.getDefiningOp();
          op && kindOf(op) == Kind::Elementwise && sizeOf(before) == few)
        chain.insert(op);
  return chain.size() >= leastSteps;
}

/// Whether \p root can be computed from vectors of \p producer's results in
/// registers.
bool mayTakeResultsOf(Operation *root, Operation *producer) {
  if (root->getNumResults() != 1 ||
      dimsOf(root->getResult(0)) != dimsOf(producer->getResult(0)))
    return false;
  Type type = tensorOf(root->getResult(0)).getElementType();
  switch (epilogueOf(producer)) {
  case Epilogue::None:
    return false;
  case Epilogue::AnyFloat:
    return type.isF16() || type.isBF16() ||
           type == tensorOf(producer->getResult(0)).getElementType();
  case Epilogue::AnyType:
    return true;
  }
  llvm_unreachable("not an epilogue");
}

/// The product that \p op depends on by element-wise operations without other
/// uses, if its kernel can take them as epilogue and then stores elements
/// narrower than its accumulators; else null.
Operation *productBehind(Operation *op) {
  SetVector<Operation *> chain;
  chain.insert(op);
  for (unsigned i = 0; i < chain.size() && i < maxKernelOps; ++i) {
    Operation *each = chain[i];
    if (kindOf(each) != Kind::Elementwise || each->getNumResults() != 1 ||
        (each != op && !each->hasOneUse()))
      continue;
    for (Value operand : each->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer)
        continue;
      if (kindOf(producer) != Kind::Product)
        chain.insert(producer);
      else if (epilogueOf(producer) != Epilogue::None &&
               producer->hasOneUse() && mayTakeResultsOf(op, producer) &&
               bitsOf(op->getResult(0)) < bitsOf(producer->getResult(0)))
        return producer;
    }
  }
  return nullptr;
}
/// Whether \p op depends on a reduction that makes \p group a row kernel by
/// element-wise operations without other uses: the divisor of (x - mean) /
/// sqrt(variance) is then computed once per row.
bool leadsToRows(const FusionGroup &group, Operation *op, const Place &place) {
  constexpr unsigned mostOps = 16;
  SetVector<Operation *> chain;
  chain.insert(op);
  bool hasReduction = false;
  for (unsigned i = 0; i < chain.size(); ++i) {
    Operation *each = chain[i];
    if (auto reduce = dyn_cast<stablehlo::ReduceOp>(each)) {
      hasReduction |= group.mayAdmit(reduce, place);
      continue;
    }
    for (Value operand : each->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && kindOf(producer) != Kind::Constant &&
          !isa<stablehlo::IotaOp, stablehlo::BroadcastInDimOp>(producer) &&
          sizeOf(operand) == sizeOf(each->getResult(0)))
        chain.insert(producer);
    bool isBeside = kindOf(each) == Kind::Elementwise ||
                    (isa<stablehlo::ReshapeOp>(each) &&
                     properSizes(dimsOf(each->getOperand(0))) ==
                         properSizes(dimsOf(each->getResult(0))));
    if (!isBeside || chain.size() > mostOps)
      return false;
  }
  return hasReduction && !group.hasProduct() &&
         llvm::all_of(chain, [&](Operation *each) {
           return llvm::all_of(each->getUsers(), [&](Operation *user) {
             return group.contains(user) || chain.contains(user);
           });
         });
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Table look-ups are vectorised if all other operations are element-wise; in
/// row kernels or next to data movement they would be scalar.
bool suitsLookups(const FusionCandidate &candidate) {
  const auto &[group, producer, operand, place] = candidate;
  auto isBeside = [](Operation *op) {
    return kindOf(op) == Kind::Elementwise || kindOf(op) == Kind::Product ||
           isa<stablehlo::BroadcastInDimOp>(op);
  };
  if (isa<LookupOp>(producer))
    return !group.hasRows && llvm::all_of(group.ops, isBeside);
  return isBeside(producer) || llvm::none_of(group.ops, [](Operation *op) {
           return isa<LookupOp>(op);
         });
}

/// The epilogue of a product is computed in vectors, and reduces nothing.
bool suitsProduct(const FusionCandidate &candidate) {
  return !candidate.group.hasProduct() ||
         (kindOf(candidate.producer) != Kind::Reduction &&
          isComputedInVectors(candidate.producer));
}

/// No other kernel computes it.
bool isOfThisKernelAlone(const FusionCandidate &candidate) {
  return usedOnlyIn(candidate.group, candidate.producer) &&
         !feedsRepeated(candidate.group, candidate.producer);
}

/// No other kernel computes it, or any may.
bool isNotStoredForOthers(const FusionCandidate &candidate) {
  return isOfThisKernelAlone(candidate) ||
         isCheapToRecompute(candidate.producer,
                            *candidate.group.root->getBlock());
}

bool hasOnePlace(const FusionCandidate &candidate) {
  return candidate.place.has_value();
}

/// Only loops over the root's elements are split at the concatenate's operands;
/// a reduction would select the operand for every element, and so would tiles
/// of a transpose.
bool suitsConcatenates(const FusionCandidate &candidate) {
  return !isa<stablehlo::ConcatenateOp>(candidate.producer) ||
         (!candidate.group.hasRows &&
          !isa<stablehlo::ReduceOp>(candidate.user()) &&
          llvm::none_of(candidate.group.ops,
                        llvm::IsaPred<stablehlo::TransposeOp>));
}

/// Along rows, or along row indices, each element is computed once per pass.
bool isAlongRows(const FusionCandidate &candidate) {
  const FusionGroup &group = candidate.group;
  return group.hasRows && candidate.place->isSimple() &&
         ArrayRef(candidate.place->dims).take_front(group.rowDims.size()) ==
             ArrayRef(group.rowDims);
}

/// Each element is computed once, or so cheaply that it does not matter, or
/// once per row.
bool isComputedOnce(const FusionCandidate &candidate) {
  const auto &[group, producer, operand, place] = candidate;
  return isAlongRows(candidate) || readsOnce(candidate.user(), operand) ||
         (isCheap(producer) && !isRepeatedForLong(producer, operand)) ||
         (!group.hasRows && leadsToRows(group, producer, *place));
}

/// The product whose epilogue the producer belongs to, if there is one.
Operation *productToAwait(const FusionCandidate &candidate) {
  return kindOf(candidate.producer) == Kind::Elementwise &&
                 !isFree(candidate.group, candidate.producer)
             ? productBehind(candidate.producer)
             : nullptr;
}

/// Where the producer belongs to the epilogue of a product, that can still be
/// in the group; else it is better stored by that kernel.
bool isNotLeftToProduct(const FusionCandidate &candidate) {
  const FusionGroup &group = candidate.group;
  Operation *product = productToAwait(candidate);
  if (!product)
    return true;
  const Place &root = group.places.find(group.root)->second;
  return !group.hasRows && !group.hasProduct() &&
         (!group.awaited || group.awaited == product) &&
         llvm::all_of(group.ops, [&](Operation *op) {
           return kindOf(op) == Kind::Elementwise
                      ? group.places.find(op)->second == root
                      : isa<stablehlo::BroadcastInDimOp, stablehlo::IotaOp>(op);
         });
}

bool isNotRepeated(const FusionCandidate &candidate) {
  return !feedsRepeated(candidate.group, candidate.producer);
}

/// The group is an epilogue that the product can take: element-wise operations
/// on its results in registers.
bool takesEpilogue(const FusionCandidate &candidate) {
  const auto &[group, producer, operand, place] = candidate;
  auto isBesideRoot = [&](Operation *op) {
    return kindOf(op) == Kind::Elementwise &&
           group.places.find(op)->second ==
               group.places.find(group.root)->second;
  };
  return epilogueOf(producer) != Epilogue::None && producer->hasOneUse() &&
         !group.hasRows && !group.hasProduct() && isBesideRoot(group.root) &&
         isBesideRoot(candidate.user()) &&
         llvm::all_of(group.ops, isComputedInVectors) &&
         mayTakeResultsOf(group.root, producer);
}

/// The group reduces rows as the producer, a stablehlo.reduce, does.
bool isRowReduction(const FusionCandidate &candidate) {
  return candidate.group.mayAdmit(cast<stablehlo::ReduceOp>(candidate.producer),
                                  *candidate.place);
}

/// What each kind of producer has to fulfil, in this order.
constexpr Condition ofProduct[] = {suitsLookups, isNotRepeated, takesEpilogue},
                    ofFree[] = {suitsLookups, suitsProduct},
                    ofReduce[] = {suitsLookups, suitsProduct,
                                  isNotStoredForOthers, hasOnePlace,
                                  isRowReduction},
                    ofOther[] = {suitsLookups,         suitsProduct,
                                 isNotStoredForOthers, hasOnePlace,
                                 suitsConcatenates,    isComputedOnce,
                                 isNotLeftToProduct};

bool mayFuse(const FusionCandidate &candidate) {
  Operation *producer = candidate.producer;
  switch (kindOf(producer)) {
  case Kind::Product:
    return allHold(ofProduct, candidate);
  case Kind::Elementwise:
  case Kind::Movement:
  case Kind::Reduction:
    if (isFree(candidate.group, producer))
      return allHold(ofFree, candidate);
    return isa<stablehlo::ReduceOp>(producer) ? allHold(ofReduce, candidate)
                                              : allHold(ofOther, candidate);
  default:
    return false;
  }
}

/// Whether the reshape of \p candidate may be fused, if its producer may.
bool mayFuseReshape(const FusionCandidate &candidate) {
  const auto &[group, reshape, operand, place] = candidate;
  if (!isa<stablehlo::ReshapeOp>(reshape) || !place ||
      !usedOnlyIn(group, reshape) || !keepsNamedSizes(reshape))
    return false;
  Operation *source = reshape->getOperand(0).getDefiningOp();
  return source && source->getBlock() == group.root->getBlock() &&
         source->hasOneUse();
}

/// A reshape is fused only together with its producer.
std::optional<Fusion> fusionOfReshape(const FusionCandidate &candidate) {
  if (!mayFuseReshape(candidate))
    return std::nullopt;
  FusionGroup with = candidate.group;
  with.add(candidate.producer, *candidate.place);
  const FusionCandidate source(with, candidate.producer->getOpOperand(0));
  if (!mayFuse(source))
    return std::nullopt;
  Fusion fusion{{{candidate.producer, *candidate.place},
                 {source.producer, *source.place}}};
  fusion.awaited = productToAwait(source);
  return fusion;
}

/// Whether \p user can take what \p producer makes element by element. A sort
/// reads elements often, and where they were costs nothing.
bool accepts(Operation *user, Operation *producer) {
  Kind kind = kindOf(user);
  return (kind != Kind::Product && kind != Kind::Whole) ||
         (isa<stablehlo::SortOp>(user) && isa<stablehlo::IotaOp>(producer));
}

/// An updated operand is in memory, and is overwritten in place.
bool isUpdated(const FusionGroup &group, OpOperand &operand) {
  return isa<stablehlo::DynamicUpdateSliceOp>(operand.getOwner()) &&
         operand.getOwner() == group.root && operand.getOperandNumber() == 0;
}

} // namespace

std::optional<Fusion> cpu::fusionOf(const FusionGroup &group,
                                    OpOperand &operand) {
  Operation *producer = operand.get().getDefiningOp();
  if (!producer || producer->getBlock() != group.root->getBlock() ||
      group.contains(producer) || group.ops.size() >= maxKernelOps ||
      !accepts(operand.getOwner(), producer) || isUpdated(group, operand))
    return std::nullopt;
  const FusionCandidate candidate(group, operand);
  if (kindOf(producer) == Kind::Alias)
    return fusionOfReshape(candidate);
  if (!mayFuse(candidate))
    return std::nullopt;
  Fusion fusion{{{producer, candidate.place.value_or(Place{{}, &operand})}}};
  fusion.isRepeated =
      !isFree(group, producer) && !isOfThisKernelAlone(candidate);
  fusion.awaited = productToAwait(candidate);
  return fusion;
}
