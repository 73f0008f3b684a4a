//===- Checkpoints.h - resumes training -----------------------------------===//
//
//   DIR/step-00000120/checkpoint.json    progress, settings, and checksums of
//                                        it and of the states
//                     0.npy, 1.npy, ...  its states, in the order given there
//
// A checkpoint is written under a temporary name and renamed, so it is complete
// or absent, whenever the process ends. Later damage is an error.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TRAIN_CHECKPOINTS_H
#define SINTER_TRAIN_CHECKPOINTS_H

#include "engine/Compiler.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace sinter {

/// The names of the folder, and of the option that resumes a run, in messages.
struct CheckpointNames {
  std::string folder = "checkpointFolder", resumes = "resumes";
};

struct Checkpoint {
  /// The number of completed steps.
  uint64_t steps = 0;
  /// Further data of the run.
  nlohmann::json progress;
  /// Settings that must be the same to resume.
  nlohmann::json settings;
  NamedTensors states;
};

/// Writes \p checkpoint into \p folder, and removes the oldest ones there but
/// for the last \p kept and the one after step \p best. On failure, older ones
/// are unchanged.
Result<void> writeCheckpoint(const std::string &folder,
                             const Checkpoint &checkpoint, size_t kept,
                             std::optional<uint64_t> best = std::nullopt,
                             const CheckpointNames &names = {});

/// The newest one in \p folder; nothing if there is none.
Result<std::optional<Checkpoint>> newestCheckpoint(const std::string &folder);

/// The one after step \p steps; a System error if it does not exist.
Result<Checkpoint> checkpointOf(const std::string &folder, uint64_t steps);

/// Compares \p now with the settings of \p checkpoint; the Usage error names
/// the first difference.
Result<void> checkSettings(const std::string &folder,
                           const Checkpoint &checkpoint,
                           const nlohmann::json &now,
                           const CheckpointNames &names = {});

} // namespace sinter

#endif // SINTER_TRAIN_CHECKPOINTS_H
