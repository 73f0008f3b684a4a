#include "backend/cpu/program/ProgramConstants.h"

#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/weights/ComputeWeights.h"
#include "runtime/Hash.h"
#include "runtime/MappedPages.h"

using namespace mlir;

namespace sinter::cpu {

Result<uint32_t> ProgramConstants::indexOf(Value constant,
                                           const Packing *packing) {
  Result<Tensor> tensor = weightValue(constant);
  if (!tensor)
    return unsupported("constant '" + layerOf(constant.getLoc()) +
                       "': " + tensor.error().message());
  if (!packing)
    return ofModel(*tensor);
  Tensor packed(ElementType::UI8, {int64_t(packing->bytes)});
  packing->pack(*tensor, packed.mutableBytes());
  releasePages({tensor->data(), tensor->bytes()});
  return owned(packed);
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
