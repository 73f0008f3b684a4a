#include "backend/cpu/ir/LayerName.h"

using namespace mlir;

namespace sinter::cpu {

std::string layerOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string name = layerOf(part); !name.empty())
        return name;
  return "";
}

} // namespace sinter::cpu
