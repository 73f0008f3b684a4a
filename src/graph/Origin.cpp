#include "graph/Origin.h"

using namespace mlir;

namespace sinter {

std::string originOf(Location location) {
  auto name = location->findInstanceOf<NameLoc>();
  return name ? name.getName().str() : "";
}

std::string originOf(Operation *op) {
  std::string name = originOf(op->getLoc());
  return name.empty() ? op->getName().stripDialect().str() : name;
}

} // namespace sinter
