//===- Checkpoints.h - training that goes on where it was ended -----------===//
//
//   DIR/step-00000120/checkpoint.json    how far the run is, and its settings
//                     0.npy, 1.npy, ...  its states, in the order named there
//
// A checkpoint is written beside its place and renamed, so it is there as a
// whole or not at all, whenever the process ends.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_CHECKPOINTS_H
#define SINTER_DRIVER_CHECKPOINTS_H

#include "engine/Compiler.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace sinter::driver {

struct Checkpoint {
  /// How many steps were done.
  uint64_t steps = 0;
  /// What the run needs to know besides its states.
  nlohmann::json progress;
  /// What must be the same for a run to go on from here.
  nlohmann::json settings;
  NamedTensors states;
};

/// Writes \p checkpoint into \p folder, and removes the oldest ones there but
/// for the last \p kept and the one after step \p best. Nothing that was there
/// is touched where it fails.
Result<void> writeCheckpoint(const std::string &folder,
                             const Checkpoint &checkpoint, size_t kept,
                             std::optional<uint64_t> best = std::nullopt);

/// The newest one in \p folder; nothing if there is none.
Result<std::optional<Checkpoint>> newestCheckpoint(const std::string &folder);

/// The one after step \p steps; a System error if it is not there.
Result<Checkpoint> checkpointOf(const std::string &folder, uint64_t steps);

/// Whether \p now are the settings that \p checkpoint was written with; the
/// Usage error names the first that is not.
Result<void> checkSettings(const std::string &folder,
                           const Checkpoint &checkpoint,
                           const nlohmann::json &now);

} // namespace sinter::driver

#endif // SINTER_DRIVER_CHECKPOINTS_H
