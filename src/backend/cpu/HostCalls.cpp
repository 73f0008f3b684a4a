//===- HostCalls.cpp - what functions of the process compute --------------===//

#include "backend/cpu/HostCalls.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A function and what it is told.
struct Callee {
  std::string function, configuration;
  bool isPure = true;
};

/// "key=1,2", as HostConfiguration reads it.
std::string setting(StringRef key, ArrayRef<int64_t> values) {
  std::string text = (key + "=").str();
  for (auto [i, value] : llvm::enumerate(values))
    text += (i ? "," : "") + std::to_string(value);
  return text;
}

std::string textOf(Attribute attribute) {
  if (auto string = dyn_cast_or_null<StringAttr>(attribute))
    return string.str();
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (attribute)
    stream << attribute;
  return text;
}

std::optional<Callee> calleeOf(Operation *op) {
  using namespace stablehlo;
  using Found = std::optional<Callee>;
  return llvm::TypeSwitch<Operation *, Found>(op)
      .Case([](CustomCallOp o) -> Found {
        return Callee{o.getCallTargetName().str(),
                      textOf(o.getBackendConfigAttr()), !o.getHasSideEffect()};
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

/// The types that \p type holds: those of a tuple's elements, whatever the
/// nesting, or itself.
void flattenType(Type type, SmallVectorImpl<Type> &flat) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type element : tuple.getTypes())
      flattenType(element, flat);
    return;
  }
  flat.push_back(type);
}

/// A value of \p type of the next of \p values.
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

void cpu::lowerToHostCalls(func::FuncOp function) {
  SmallVector<std::pair<Operation *, Callee>> found;
  function.walk([&](Operation *op) {
    if (std::optional<Callee> callee = calleeOf(op))
      found.push_back({op, std::move(*callee)});
  });
  for (auto &[op, callee] : found) {
    OpBuilder builder(op);
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      flattenType(type, types);
    auto call = builder.create<HostCallOp>(op->getLoc(), types,
                                           op->getOperands(), callee.function,
                                           callee.configuration, callee.isPure);
    ValueRange values = call.getResults();
    for (Value result : op->getResults())
      result.replaceAllUsesWith(
          assemble(builder, op->getLoc(), result.getType(), values));
    op->erase();
  }
}
