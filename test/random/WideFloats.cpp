#include "random/WideFloats.h"

#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/AttrTypeSubElements.h"

#include <complex>

using namespace mlir;

namespace sinter {

static ElementsAttr widened(ElementsAttr value) {
  auto tensor = toTensor(value);
  if (!tensor || !isa<FloatType, ComplexType>(value.getElementType()))
    return value;
  SmallVector<std::complex<double>> numbers;
  for (int64_t i = 0; i < tensor->size(); ++i)
    if (tensor->type() == ElementType::C64)
      numbers.emplace_back(tensor->at<std::complex<float>>(i));
    else if (tensor->type() == ElementType::C128)
      numbers.push_back(tensor->at<std::complex<double>>(i));
    else
      numbers.emplace_back(tensor->toDouble(i));
  MLIRContext *context = value.getContext();
  if (isa<ComplexType>(value.getElementType()))
    return toDenseAttribute(Tensor::of<std::complex<double>>(
                                ElementType::C128, tensor->shape(), numbers),
                            context);
  SmallVector<double> reals = llvm::map_to_vector(
      numbers, [](std::complex<double> each) { return each.real(); });
  return toDenseAttribute(
      tensorOfDoubles(ElementType::F64, tensor->shape(), reals), context);
}

Model withWideFloats(const Model &model) {
  Model wide = model.clone();
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FloatType type) -> Type {
    return Float64Type::get(type.getContext());
  });
  wide.module().walk([&](Operation *op) {
    for (OpResult result : op->getResults())
      result.setType(replacer.replace(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(replacer.replace(argument.getType()));
    // The type of a function, and the one that a norm computes in.
    for (NamedAttribute each : op->getAttrDictionary())
      if (auto type = dyn_cast<TypeAttr>(each.getValue()))
        op->setAttr(each.getName(),
                    TypeAttr::get(replacer.replace(type.getValue())));
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      constant.setValueAttr(widened(constant.getValue()));
  });
  return wide;
}

} // namespace sinter
