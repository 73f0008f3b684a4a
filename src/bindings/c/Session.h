//===- Session.h - a compiled model of the C interface --------------------===//

#ifndef SINTER_BINDINGS_C_SESSION_H
#define SINTER_BINDINGS_C_SESSION_H

#include "bindings/c/Model.h"
#include "engine/Session.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

struct sinter_session : sinter::c::Handle {
  sinter_session() : Handle(Kind::Session) {}

  /// Keeps a model's file that is in memory.
  std::shared_ptr<sinter::MemoryFolder> files;
  std::shared_ptr<sinter::c::HostAllocator> allocator;
  std::unique_ptr<sinter::Session> session;
  /// The sizes that the options give, and whether they bound others.
  sinter::NamedShapes shapes;
  bool hasBounds = false;
  std::vector<sinter::c::ValueInfo> inputs, outputs;
  /// Those of the model; what it does not say an executor does.
  mutable std::mutex mutex;
  std::vector<sinter::c::ValueInfo> states;
  /// Held by a run of a model with states, and by who uses all of them.
  std::recursive_mutex stateUse;
};

struct sinter_value : sinter::c::Handle {
  explicit sinter_value(sinter::Tensor tensor)
      : Handle(Kind::Value), tensor(std::move(tensor)) {}

  sinter::Tensor tensor;
};

struct sinter_cancellation : sinter::c::Handle {
  sinter_cancellation() : Handle(Kind::Cancellation) {}

  /// Objects made with options that have it keep it.
  std::shared_ptr<sinter::Cancellation> cancellation =
      std::make_shared<sinter::Cancellation>();
};

namespace sinter::c {

/// \p tensor as one to read. Usage errors call it \p what.
Result<TensorView> viewOf(const sinter_tensor *tensor, const std::string &what);
/// The same as one to write.
Result<MutableTensorView> mutableViewOf(const sinter_tensor *tensor,
                                        const std::string &what);

/// Whether what runs follows from the values of inputs, or from more of their
/// sizes than one program is for.
bool followsFromInputs(const sinter_session &session);

/// Tensors like \p views, to prepare a session for: those that may feed shapes
/// have the values.
Result<std::vector<Tensor>> tensorsLike(const sinter_session &session,
                                        std::span<const TensorView> views);

/// A copy of \p tensor, row-major without gaps. Usage errors call it \p what.
Result<Tensor> copyOf(const sinter_tensor *tensor, const std::string &what);

/// What runs \p session on inputs like \p views: a program that is ready, or
/// one that is made now.
Result<std::shared_ptr<Executor>>
executorFor(const sinter_session &session, std::span<const TensorView> views);

/// Fills in what describes \p tensor, whose shape and elements stay its own.
void describe(const Tensor &tensor, sinter_tensor &to);

/// Null for null. Usage error if it is none.
Result<const Cancellation *>
cancellationOf(const sinter_cancellation *cancellation);

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_SESSION_H
