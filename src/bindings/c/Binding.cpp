//===- Binding.cpp - tensors bound once and run often ---------------------===//
//
// A binding has an executor of its own. While nothing is bound anew and nothing
// has to be copied, a run uses what the first one worked out of the caller's
// tensors.
//
//===----------------------------------------------------------------------===//

#include "bindings/c/Session.h"
#include "bindings/c/Snapshot.h"
#include "bindings/c/StringTensors.h"

#include "runtime/CallerBuffers.h"

#include <algorithm>

namespace sinter::c {

namespace {

/// A caller's tensor, whose shape and strides are our own copies.
struct BoundTensor {
  ElementType type = ElementType::F32;
  Shape shape;
  std::vector<int64_t> strides;
  void *data = nullptr;
  bool isBound = false;

  template <typename View> void set(const View &view) {
    type = view.type;
    shape.assign(view.shape.begin(), view.shape.end());
    strides.assign(view.strides.begin(), view.strides.end());
    data = const_cast<void *>(static_cast<const void *>(view.data));
    isBound = true;
  }

  MutableTensorView view() const { return {type, shape, data, strides}; }

  /// Whether kernels cannot use the memory as it is.
  bool isCopied() const {
    return isBound &&
           (!isDense(view()) ||
            reinterpret_cast<uintptr_t>(data) % alignmentOf(type) != 0);
  }
};

/// Holds a flag while a call runs, if no other does.
class Turn {
public:
  explicit Turn(std::atomic<bool> &flag) : flag(flag) {
    isMine = !flag.exchange(true, std::memory_order_acquire);
  }
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;
  ~Turn() {
    if (isMine)
      flag.store(false, std::memory_order_release);
  }
  explicit operator bool() const { return isMine; }

private:
  std::atomic<bool> &flag;
  bool isMine;
};

} // namespace

} // namespace sinter::c

struct sinter_binding : sinter::c::Handle {
  explicit sinter_binding(sinter_session &session)
      : Handle(Kind::Binding), session(session), use(session),
        inputs(session.inputs.size()), outputs(session.outputs.size()) {}

  sinter::Result<void> bind();
  sinter::Result<void> bindBuffers();
  sinter::Result<void> run(const sinter::Cancellation *cancellation);

  sinter_session &session;
  /// The session outlives the binding.
  sinter::c::Use use;
  std::vector<sinter::c::BoundTensor> inputs, outputs;
  sinter::OwnExecutor own;
  /// Of the tensors that are bound.
  std::vector<sinter::TensorView> inputViews;
  std::vector<std::optional<sinter::MutableTensorView>> outputViews;
  std::optional<sinter::CallerBuffers> buffers;
  std::vector<sinter::Tensor> results;
  mutable std::atomic<bool> isRunning = false;
};

using namespace sinter;
using namespace sinter::c;

/// Works out what a run needs of the tensors that are bound.
Result<void> sinter_binding::bind() {
  buffers.reset();
  inputViews.clear();
  outputViews.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].isBound)
      return usageError("input " + std::to_string(i) + " is not bound");
    inputViews.push_back(inputs[i].view());
  }
  for (const BoundTensor &output : outputs)
    outputViews.push_back(output.isBound ? std::optional(output.view())
                                         : std::nullopt);
  Result<std::vector<Tensor>> like = tensorsLike(session, inputViews);
  if (!like)
    return like.takeError();
  if (Result<void> ready = session.session->prepareOwn(own, *like); !ready)
    return ready;
  return bindBuffers();
}

/// The same for tensors as they were, whose elements may be others.
Result<void> sinter_binding::bindBuffers() {
  auto bound = CallerBuffers::bind(*own.executor, inputViews, outputViews);
  if (!bound)
    return bound.takeError();
  buffers.emplace(std::move(*bound));
  return {};
}

Result<void> sinter_binding::run(const Cancellation *cancellation) {
  // Copies are of what the memory held then, and so may the program be.
  Result<void> bound;
  if (!buffers || followsFromInputs(session))
    bound = bind();
  else if (std::ranges::any_of(inputs, &BoundTensor::isCopied))
    bound = bindBuffers();
  if (!bound)
    return bound;
  auto got = own.executor->runOn(buffers->request(cancellation));
  if (got)
    got = buffers->deliver(std::move(*got));
  if (!got)
    return got.takeError();
  results = std::move(*got);
  if (session.allocator)
    for (size_t i = 0; i < results.size(); ++i)
      if (!outputs[i].isBound && !isString(results[i].type()))
        results[i] =
            HostAllocator::moved(session.allocator, std::move(results[i]));
  for (Tensor &result : results)
    if (isString(result.type()))
      result = describedStrings(std::move(result));
  return {};
}

/// What runs \p binding, for calls about its states.
static Result<Executor *> executorOf(sinter_binding &binding) {
  if (!binding.own.executor)
    if (Result<void> bound = binding.bind(); !bound)
      return bound.takeError();
  return binding.own.executor.get();
}

/// Calls \p use, about states, with what runs \p binding.
template <typename Call>
static sinter_status withStates(sinter_binding *binding, sinter_error **error,
                                Call &&use) {
  return guarded(binding, Handle::Kind::Binding, error, [&]() -> Result<void> {
    const Turn turn(binding->isRunning);
    if (!turn)
      return usageError("the binding is used by another thread");
    Result<Executor *> executor = executorOf(*binding);
    if (!executor)
      return executor.takeError();
    return use(**executor);
  });
}

/// Binds \p view to \p index of \p all.
template <typename View>
static Result<void>
setTensor(sinter_binding &binding, std::vector<BoundTensor> &all, size_t index,
          const std::string &what, const Result<View> &view) {
  const Turn turn(binding.isRunning);
  if (!turn)
    return usageError("the binding is used by another thread");
  if (index >= all.size())
    return usageError("there is no " + what + ", but " +
                      std::to_string(all.size()));
  if (!view)
    return view.error();
  if (Result<AddressRange> sound = addressesOf(*view); !sound)
    return inside(what, sound.takeError());
  binding.buffers.reset();
  all[index].set(*view);
  return {};
}

extern "C" {

sinter_status sinter_binding_new(sinter_session *session,
                                 sinter_binding **binding,
                                 sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(binding, "binding"); !good)
      return good;
    *binding = new sinter_binding(*session);
    return {};
  });
}

sinter_status sinter_binding_set_input(sinter_binding *binding, size_t index,
                                       const sinter_tensor *tensor,
                                       sinter_error **error) {
  return guarded(binding, Handle::Kind::Binding, error, [&] {
    const std::string what = "input " + std::to_string(index);
    return setTensor(*binding, binding->inputs, index, what,
                     viewOf(tensor, what));
  });
}

sinter_status sinter_binding_set_output(sinter_binding *binding, size_t index,
                                        const sinter_tensor *tensor,
                                        sinter_error **error) {
  return guarded(binding, Handle::Kind::Binding, error, [&] {
    const std::string what = "output " + std::to_string(index);
    return setTensor(*binding, binding->outputs, index, what,
                     mutableViewOf(tensor, what));
  });
}

sinter_status sinter_binding_run(sinter_binding *binding,
                                 const sinter_cancellation *cancellation,
                                 sinter_error **error) {
  return guarded(binding, Handle::Kind::Binding, error, [&]() -> Result<void> {
    const Turn turn(binding->isRunning);
    if (!turn)
      return usageError("the binding is used by another thread");
    Result<const Cancellation *> cancel = cancellationOf(cancellation);
    if (!cancel)
      return cancel.takeError();
    return binding->run(*cancel);
  });
}

sinter_status sinter_binding_output(const sinter_binding *binding, size_t index,
                                    sinter_tensor *tensor,
                                    sinter_error **error) {
  return guarded(binding, Handle::Kind::Binding, error, [&]() -> Result<void> {
    const Turn turn(binding->isRunning);
    if (!turn)
      return usageError("the binding is used by another thread");
    if (index >= binding->results.size())
      return usageError(binding->results.empty()
                            ? "there was no run yet"
                            : "there is no output " + std::to_string(index));
    sinter_tensor all = {};
    describe(binding->results[index], all);
    return giveStruct(all, tensor, "tensor");
  });
}

sinter_status sinter_binding_reset_states(sinter_binding *binding,
                                          sinter_error **error) {
  return guarded(binding, Handle::Kind::Binding, error, [&]() -> Result<void> {
    const Turn turn(binding->isRunning);
    if (!turn)
      return usageError("the binding is used by another thread");
    if (binding->own.executor)
      binding->own.executor->resetStates();
    return {};
  });
}

sinter_status sinter_binding_read_state(sinter_binding *binding, size_t index,
                                        const sinter_tensor *to,
                                        sinter_error **error) {
  return withStates(binding, error, [&](Executor &executor) -> Result<void> {
    Result<MutableTensorView> view = mutableViewOf(to, "to");
    if (!view)
      return view.takeError();
    return executor.readState(index, *view);
  });
}

sinter_status sinter_binding_write_state(sinter_binding *binding, size_t index,
                                         const sinter_tensor *from,
                                         sinter_error **error) {
  return withStates(binding, error, [&](Executor &executor) -> Result<void> {
    Result<TensorView> view = viewOf(from, "from");
    if (!view)
      return view.takeError();
    return executor.setState(index, *view);
  });
}

sinter_status sinter_binding_snapshot(sinter_binding *binding,
                                      sinter_snapshot **snapshot,
                                      sinter_error **error) {
  return withStates(binding, error, [&](Executor &executor) {
    return takeSnapshot(executor, snapshot);
  });
}

sinter_status sinter_binding_restore(sinter_binding *binding,
                                     const sinter_snapshot *snapshot,
                                     sinter_error **error) {
  return withStates(binding, error, [&](Executor &executor) {
    return restoreSnapshot(executor, snapshot);
  });
}

int32_t sinter_binding_copies_input(const sinter_binding *binding,
                                    size_t index) {
  return Use::of(binding, Handle::Kind::Binding) &&
         index < binding->inputs.size() && binding->inputs[index].isCopied();
}

int32_t sinter_binding_copies_output(const sinter_binding *binding,
                                     size_t index) {
  return Use::of(binding, Handle::Kind::Binding) &&
         index < binding->outputs.size() && binding->outputs[index].isCopied();
}

sinter_status sinter_binding_free(sinter_binding *binding,
                                  sinter_error **error) {
  return freeHandle(binding, Handle::Kind::Binding, error);
}

} // extern "C"
