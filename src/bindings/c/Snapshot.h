//===- Snapshot.h - values of states of the C interface -------------------===//

#ifndef SINTER_BINDINGS_C_SNAPSHOT_H
#define SINTER_BINDINGS_C_SNAPSHOT_H

#include "bindings/c/Handles.h"
#include "runtime/Executor.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

struct sinter_snapshot : sinter::c::Handle {
  sinter_snapshot() : Handle(Kind::Snapshot) {}

  std::vector<std::pair<std::string, sinter::Tensor>> states;
  /// As bytes, once somebody has asked for them.
  mutable std::once_flag isEncoded;
  mutable std::vector<std::byte> encoded;
};

namespace sinter::c {

/// The states of \p executor, which nobody runs meanwhile, in \p snapshot.
Result<void> takeSnapshot(const Executor &executor, sinter_snapshot **snapshot);
/// Sets the states of \p executor, which nobody runs meanwhile, to those of
/// \p snapshot. Usage error where they are others.
Result<void> restoreSnapshot(Executor &executor,
                             const sinter_snapshot *snapshot);

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_SNAPSHOT_H
