#include "backend/cpu/program/ProgramConstants.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/weights/ComputeWeights.h"
#include "graph/stablehlo/StablehloOps.h"
#include "runtime/Hash.h"
#include "runtime/MappedPages.h"

using namespace mlir;

namespace sinter::cpu {

ProgramConstants::ProgramConstants(std::shared_ptr<Model> model,
                                   ConstantScope *constantScope,
                                   Program &program)
    : model(std::move(model)), constantScope(constantScope), program(program) {
  if (!constantScope)
    return;
  llvm::SmallDenseSet<Attribute> readElsewhere;
  this->model->module()->walk([&](stablehlo::ConstantOp op) {
    for (Operation *user : op->getUsers())
      if (isa<KernelOp>(user))
        ++toPack[op.getValue()];
      else
        readElsewhere.insert(op.getValue());
  });
  for (Attribute constant : readElsewhere)
    toPack.erase(constant);
}

/// A kernel has its form of \p constant.
void ProgramConstants::packed(Value constant) {
  auto op = constant.getDefiningOp<stablehlo::ConstantOp>();
  const auto found = op ? toPack.find(op.getValue()) : toPack.end();
  if (found != toPack.end() && --found->second == 0)
    constantScope->release(op.getValue());
}

Result<uint32_t> ProgramConstants::indexOf(Value constant,
                                           const Packing *packing) {
  Result<Tensor> tensor = weightValue(constant);
  if (!tensor)
    return unsupported("constant '" + layerOf(constant.getLoc()) +
                       "': " + tensor.error().message());
  if (!packing)
    return ofModel(*tensor);
  Tensor form(ElementType::UI8, {int64_t(packing->bytes)});
  packing->pack(*tensor, form.mutableBytes());
  releasePages({tensor->data(), tensor->bytes()});
  packed(constant);
  return owned(form);
}

uint32_t ProgramConstants::add(const Tensor &tensor,
                               std::shared_ptr<Model> owner) {
  const Tensor bytes = tensor.isAligned() ? tensor : tensor.owned();
  const Hash128 hash = hashOf({bytes.data(), bytes.bytes()});
  const auto [entry, isNew] = known.try_emplace(
      {hash.low, hash.high, bytes.bytes()}, program.constants.size());
  if (isNew) {
    // A copy needs no other owner.
    if (bytes.data() != tensor.data()) {
      owner = nullptr;
      releasePages({tensor.data(), tensor.bytes()});
    }
    auto both = std::make_shared<std::pair<std::shared_ptr<Model>, Tensor>>(
        std::move(owner), bytes);
    program.constants.push_back({both, {bytes.data(), bytes.bytes()}});
  }
  return entry->second;
}

} // namespace sinter::cpu
