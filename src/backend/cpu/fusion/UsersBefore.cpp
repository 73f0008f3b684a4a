#include "backend/cpu/fusion/UsersBefore.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

std::optional<SmallVector<Operation *>>
sinter::cpu::usersBefore(ArrayRef<Operation *> ops, Operation *last,
                         size_t most) {
  Block *block = last->getBlock();
  llvm::SetVector<Operation *> found(ops.begin(), ops.end());
  for (size_t i = 0; i < found.size(); ++i)
    for (Operation *user : found[i]->getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (here == last || found.size() > most)
        return std::nullopt;
      if (here && here->isBeforeInBlock(last))
        found.insert(here);
    }
  SmallVector<Operation *> sorted = found.takeVector();
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}
