//===- ZeroResults.cpp - calls whose results may be missing ---------------===//

#include "backend/cpu/legalize/ZeroResults.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace mlir;
using namespace sinter;

static bool isQuantized(Type type) {
  return isa<quant::QuantizedType>(getElementTypeOrSelf(type));
}

/// A quantised tensor of zeros.
static Value zeroOf(OpBuilder &builder, Location location, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto quantized = cast<quant::QuantizedType>(tensor.getElementType());
  auto expressed =
      RankedTensorType::get(tensor.getShape(), quantized.getExpressedType());
  Value zero = builder.create<stablehlo::ConstantOp>(
      location, cast<ElementsAttr>(builder.getZeroAttr(expressed)));
  return builder.create<stablehlo::UniformQuantizeOp>(location, type, zero);
}

SmallVector<Value> cpu::createCallWithZeros(OpBuilder &builder,
                                            Location location, TypeRange types,
                                            ValueRange inputs,
                                            const std::string &function,
                                            std::string configuration) {
  SmallVector<Type> all(types);
  const bool tells = llvm::any_of(types, isQuantized);
  if (tells) {
    all.push_back(RankedTensorType::get({}, builder.getI1Type()));
    configuration += ";tells=1";
  }
  auto call = builder.create<HostCallOp>(location, all, inputs, function,
                                         configuration, /*pure=*/false);
  SmallVector<Value> results(call.getResults().take_front(types.size()));
  for (Value &result : results)
    if (isQuantized(result.getType()))
      result = builder.create<stablehlo::SelectOp>(
          location, call.getResults().back(), result,
          zeroOf(builder, location, result.getType()));
  return results;
}
