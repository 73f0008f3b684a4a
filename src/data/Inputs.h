//===- Inputs.h - tensors for a model's inputs ----------------------------===//

#ifndef SINTER_DATA_INPUTS_H
#define SINTER_DATA_INPUTS_H

#include "data/Preprocessing.h"
#include "engine/Session.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace sinter {

/// The names of the fields of InputOptions in messages.
struct InputNames {
  std::string inputs = "inputs";
};

struct InputOptions {
  /// "[name=]file.npy|file.pb|image|WAV file|random[:seed]|numbers"
  std::vector<std::string> inputs;
  /// Tensors for inputs, by name: as if `inputs` named them.
  NamedTensors tensors;
  /// Names of inputs that are zeros unless they are given.
  std::vector<std::string> zeros;
  /// How images and audio become tensors; what it lacks, the model's metadata
  /// say.
  Preprocessing preprocessing;
  /// Gets a note on what the metadata say, whenever they are used; may be
  /// empty.
  std::function<void(const std::string &)> note;
  InputNames names;
};

/// How images and audio become inputs of \p model: by the options, and for the
/// rest by the metadata of the model, on which `note` gets a line. InvalidModel
/// if those make no sense.
Result<Preprocessing> preprocessingFor(const ModelDescription &model,
                                       const InputOptions &options);

/// The image or WAV file of \p bytes as the input \p spec. Nothing if it is
/// neither. \p path is for messages.
std::optional<Result<Tensor>> mediaToInput(std::span<const std::byte> bytes,
                                           const std::string &path,
                                           const TensorSpec &spec,
                                           const Preprocessing &preprocessing);

/// The seed in "random" or "random:SEED"; nothing for other texts. Usage error
/// if SEED is no integer; \p what names the option with \p text.
Result<std::optional<uint64_t>> randomSeed(const std::string &what,
                                           const std::string &text);

/// The tensor in a .npy or .pb file, of \p type: NumPy's replacements for types
/// that it lacks become that type.
Result<Tensor> readTensor(const std::string &path, ElementType type);

/// A session that is prepared for its inputs.
struct ReadySession {
  std::shared_ptr<Session> session;
  std::vector<Tensor> inputs;
};

/// Opens the model at \p path. Inputs with a default value in \p options become
/// ordinary inputs.
Result<std::unique_ptr<Session>> openWithDefaults(const std::string &path,
                                                  SessionOptions wanted,
                                                  const InputOptions &options);

/// Opens the model at \p path, loads its inputs (see loadInputs) and prepares
/// it for them.
Result<ReadySession> openSession(const std::string &path, SessionOptions wanted,
                                 const InputOptions &options, bool fillRandom);

/// Loads the inputs of \p session, of the model at \p path, and prepares it for
/// them.
Result<ReadySession> readySession(std::shared_ptr<Session> session,
                                  const std::string &path,
                                  const InputOptions &options,
                                  const NamedShapes &shapes, bool fillRandom);

/// A tensor for every input of the session's model. If \p fillRandom, other
/// inputs are random; else they are a Usage error that names them.
Result<std::vector<Tensor>> loadInputs(const Session &session,
                                       const std::string &modelPath,
                                       const InputOptions &options,
                                       const NamedShapes &shapes,
                                       bool fillRandom);

/// The same for a \p model of another description than that of a session: the
/// sizes that nothing says are bound as by bindShapes().
Result<std::vector<Tensor>> loadInputs(const ModelDescription &model,
                                       const std::string &modelPath,
                                       const InputOptions &options,
                                       const NamedShapes &shapes);

/// An argument "x=FILE".
struct NamedInput {
  size_t index; ///< Of the input x.
  std::string source;
};
/// "x=FILE" as the index of the input x of \p model and FILE; nothing if there
/// is no such input in front of an equals sign.
std::optional<NamedInput> namedInput(const ModelDescription &model,
                                     const std::string &argument);
/// The indices of the inputs that \p arguments name.
std::set<size_t> namedInputs(const ModelDescription &model,
                             const std::vector<std::string> &arguments);

/// The sizes at which to check the session's model, for dimensions that neither
/// the shapes of its options nor the given inputs fix (Session::sizesToCheck).
Result<std::vector<SampleSizes>>
sizesToCheck(Session &session, const std::string &modelPath,
             const InputOptions &options, const NamedShapes &shapes,
             const AllowsShapes &alsoAllows = {});

} // namespace sinter

#endif // SINTER_DATA_INPUTS_H
