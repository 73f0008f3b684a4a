//===- HostCalls.cpp - lower operations to runtime calls ------------------===//

#include "backend/cpu/legalize/HostCalls.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/legalize/CombineByLoops.h"
#include "backend/cpu/legalize/ZeroResults.h"
#include "graph/Collectives.h"
#include "graph/chlo/KnownCalls.h"
#include "graph/stablehlo/OpenTuples.h"
#include "graph/stablehlo/StablehloOps.h"
#include "runtime/host/Builtin.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A runtime function and its configuration.
struct Callee {
  std::string function, configuration;
  bool isPure = true;
};

/// "key=1,2", as HostConfiguration parses it.
std::string setting(StringRef key, ArrayRef<int64_t> values) {
  std::string text = (key + "=").str();
  for (auto [i, value] : llvm::enumerate(values))
    text += (i ? "," : "") + std::to_string(value);
  return text;
}

/// The combination in runtime/host/Distribution.cpp for \p op's region; nothing
/// if it has none.
std::optional<int64_t> combinationOf(Operation *op) {
  Region &region = op->getRegion(0);
  const std::optional<StringRef> name = stablehlo::soleOperation(region);
  if (!name)
    return std::nullopt;
  for (auto [operand, result] :
       llvm::zip(op->getOperandTypes(), op->getResultTypes()))
    if (getElementTypeOrSelf(operand) != getElementTypeOrSelf(result) ||
        isa<quant::QuantizedType>(getElementTypeOrSelf(operand)))
      return std::nullopt;
  const int64_t index =
      llvm::StringSwitch<int64_t>(*name)
          .Case("stablehlo.add", int64_t(host::Combination::Add))
          .Case("stablehlo.multiply", int64_t(host::Combination::Multiply))
          .Case("stablehlo.minimum", int64_t(host::Combination::Minimum))
          .Case("stablehlo.maximum", int64_t(host::Combination::Maximum))
          .Case("stablehlo.and", int64_t(host::Combination::And))
          .Case("stablehlo.or", int64_t(host::Combination::Or))
          .Case("stablehlo.xor", int64_t(host::Combination::Xor))
          .Default(-1);
  return index < 0 ? std::nullopt : std::optional(index);
}

/// The runtime call of a collective operation, which uses the run's
/// communicator.
std::optional<Callee> collectiveOf(Operation *op) {
  using namespace stablehlo;
  if (!isa<AllGatherOp, AllToAllOp, AllReduceOp, ReduceScatterOp,
           CollectiveBroadcastOp, CollectiveReduceOp, CollectivePermuteOp,
           ReplicaIdOp, PartitionIdOp, SendOp, RecvOp, InfeedOp, OutfeedOp>(op))
    return std::nullopt;
  const std::string name = op->getName().stripDialect().str();
  std::string text = "op=" + name;
  if (op->hasAttr("replica_groups") || op->hasAttr("source_target_pairs")) {
    Result<Groups> groups =
        op->hasAttr("replica_groups") ? groupsOf(op) : pairsOf(op);
    if (!groups)
      return std::nullopt;
    text += ";" + setting("grouping", int64_t(groups->grouping)) +
            ";ids=" + idsText(groups->ids);
  }
  text += ";" + setting("channel", channelOf(op)) + ";" +
          setting("has_roots", op->hasAttr("has_dynamic_root"));
  if (auto gather = dyn_cast<AllGatherOp>(op))
    text += ";" + setting("axis", int64_t(gather.getAllGatherDim()));
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    text += ";" + setting("axis", int64_t(scatter.getScatterDimension()));
  if (auto all = dyn_cast<AllToAllOp>(op))
    text += ";" + setting("axis", int64_t(all.getSplitDimension())) + ";" +
            setting("join_axis", int64_t(all.getConcatDimension())) + ";" +
            setting("count", int64_t(all.getSplitCount()));
  if (op->getNumRegions() == 1)
    if (const std::optional<int64_t> combination = combinationOf(op))
      text += ";" + setting("combination", *combination);
  return Callee{"sinter." + name, text, isa<ReplicaIdOp, PartitionIdOp>(op)};
}

std::optional<Callee> calleeOf(Operation *op) {
  using namespace stablehlo;
  if (std::optional<Callee> collective = collectiveOf(op))
    return collective;
  using Found = std::optional<Callee>;
  return llvm::TypeSwitch<Operation *, Found>(op)
      .Case([](CustomCallOp o) -> Found {
        // Our own functions rely on their operations' verifiers.
        if (o.getCallTargetName().starts_with("sinter."))
          return std::nullopt;
        return Callee{o.getCallTargetName().str(), hostConfiguration(o),
                      !o.getHasSideEffect()};
      })
      .Case([](FftOp o) -> Found {
        return Callee{"sinter.fft", setting("kind", int64_t(o.getFftType())) +
                                        ";" +
                                        setting("lengths", o.getFftLength())};
      })
      .Case([](CholeskyOp o) -> Found {
        return Callee{"sinter.cholesky", setting("lower", o.getLower())};
      })
      .Case([](TriangularSolveOp o) -> Found {
        auto transpose = o.getTransposeA();
        int64_t kind = transpose == Transpose::ADJOINT     ? 2
                       : transpose == Transpose::TRANSPOSE ? 1
                                                           : 0;
        return Callee{"sinter.triangular_solve",
                      setting("left_side", o.getLeftSide()) + ";" +
                          setting("lower", o.getLower()) + ";" +
                          setting("unit_diagonal", o.getUnitDiagonal()) + ";" +
                          setting("transpose", kind)};
      })
      .Case([](RngOp o) -> Found {
        return Callee{"sinter.rng",
                      setting("distribution", int64_t(o.getRngDistribution())),
                      /*isPure=*/false};
      })
      .Case([](RngBitGeneratorOp o) -> Found {
        return Callee{"sinter.rng_bit_generator",
                      setting("algorithm", int64_t(o.getRngAlgorithm()))};
      })
      .Default([](Operation *) -> Found { return std::nullopt; });
}

/// The leaf types of \p type: those of a tuple's elements, recursively, or
/// itself.
void flattenType(Type type, SmallVectorImpl<Type> &flat) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type element : tuple.getTypes())
      flattenType(element, flat);
    return;
  }
  flat.push_back(type);
}

/// Assembles a value of \p type from the next of \p values.
Value assemble(OpBuilder &builder, Location location, Type type,
               ValueRange &values) {
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple) {
    Value first = values.front();
    values = values.drop_front();
    return first;
  }
  SmallVector<Value> elements;
  for (Type element : tuple.getTypes())
    elements.push_back(assemble(builder, location, element, values));
  return builder.create<stablehlo::TupleOp>(location, elements);
}

} // namespace

/// Rewrites cross-replica-sum as all_reduce.
static void modernize(func::FuncOp function) {
  function.walk([](stablehlo::CrossReplicaSumOp op) {
    OpBuilder builder(op);
    if (FailureOr<SmallVector<Value>> sum = op.decompose(builder);
        succeeded(sum)) {
      op->replaceAllUsesWith(*sum);
      op->erase();
    }
  });
}

void cpu::lowerToHostCalls(func::FuncOp function) {
  modernize(function);
  // Runtime calls cannot be asynchronous.
  inlineFutures(function);
  SmallVector<std::pair<Operation *, Callee>> found;
  function.walk([&](Operation *op) {
    if (std::optional<Callee> callee = calleeOf(op))
      found.push_back({op, std::move(*callee)});
  });
  for (auto &[op, callee] : found) {
    if (op->getNumRegions() == 1 && !combinationOf(op)) {
      combineByLoops(op, callee.configuration);
      continue;
    }
    OpBuilder builder(op);
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      flattenType(type, types);
    SmallVector<Value> results;
    if (isa<stablehlo::CollectiveBroadcastOp, stablehlo::CollectivePermuteOp,
            stablehlo::RecvOp>(op))
      results =
          createCallWithZeros(builder, op->getLoc(), types, op->getOperands(),
                              callee.function, callee.configuration);
    else
      results = builder
                    .create<HostCallOp>(op->getLoc(), types, op->getOperands(),
                                        callee.function, callee.configuration,
                                        callee.isPure)
                    .getResults();
    ValueRange values = results;
    for (Value result : op->getResults())
      result.replaceAllUsesWith(
          assemble(builder, op->getLoc(), result.getType(), values));
    op->erase();
  }
}
