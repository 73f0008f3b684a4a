//===- Session.cpp - a compiled model of the C interface ------------------===//

#include "bindings/c/Session.h"

#include "bindings/c/Snapshot.h"
#include "bindings/c/StringTensors.h"
#include "engine/Binding.h"

#include <algorithm>

namespace sinter::c {

/// \p tensor without what its caller's version of the struct has besides.
static Result<sinter_tensor> read(const sinter_tensor *tensor,
                                  const std::string &what) {
  if (!tensor)
    return usageError(what + " is NULL");
  if (Result<void> good = checkSize(tensor->struct_size, sizeof(sinter_tensor),
                                    sizeof(sinter_tensor), what);
      !good)
    return good.takeError();
  if (tensor->rank < 0 || (tensor->rank > 0 && !tensor->shape))
    return usageError(what + ": it has no shape");
  return *tensor;
}

template <typename View, typename Data>
static Result<View> viewAs(const sinter_tensor *given, const std::string &what,
                           bool mayBeStrings = false) {
  Result<sinter_tensor> tensor = read(given, what);
  if (!tensor)
    return tensor.takeError();
  Result<ElementType> type = elementTypeOf(tensor->type);
  if (!type)
    return inside(what, type.takeError());
  if (isString(*type) && !mayBeStrings)
    return usageError(what + ": strings are inputs of sinter_session_run, and "
                             "outputs whose data are NULL");
  const auto rank = static_cast<size_t>(tensor->rank);
  View view;
  view.type = *type;
  view.shape = {tensor->shape, rank};
  view.data = static_cast<Data>(tensor->data);
  if (tensor->strides)
    view.strides = {tensor->strides, rank};
  return view;
}

Result<TensorView> viewOf(const sinter_tensor *tensor,
                          const std::string &what) {
  return viewAs<TensorView, const void *>(tensor, what);
}

Result<MutableTensorView> mutableViewOf(const sinter_tensor *tensor,
                                        const std::string &what) {
  return viewAs<MutableTensorView, void *>(tensor, what);
}

bool followsFromInputs(const sinter_session &session) {
  const ModelDescription &model = session.session->model();
  return model.takesBranches ||
         std::ranges::any_of(model.inputs, &ModelInput::feedsShapes);
}

/// A copy of \p view, which is sound.
static Tensor copyOf(const TensorView &view) {
  Tensor copy(view.type, Shape(view.shape.begin(), view.shape.end()));
  copyElements(view, {copy.type(), copy.shape(), copy.mutableBytes()});
  return copy;
}

Result<Tensor> copyOf(const sinter_tensor *tensor, const std::string &what) {
  Result<TensorView> view = viewOf(tensor, what);
  if (!view)
    return view.takeError();
  if (Result<AddressRange> sound = addressesOf(*view); !sound)
    return inside(what, sound.takeError());
  return copyOf(*view);
}

/// The executor that is ready, if the inputs' shapes alone say that it is for
/// \p views: to prepare for them takes longer than a small model.
static std::shared_ptr<Executor> readyFor(const sinter_session &session,
                                          std::span<const TensorView> views) {
  // What the interpreter runs may be compiled once there are values.
  if (session.hasBounds || followsFromInputs(session) ||
      !session.session->program())
    return nullptr;
  std::shared_ptr<Executor> executor = session.session->readyExecutor();
  if (!executor || executor->inputs().size() != views.size())
    return nullptr;
  for (size_t i = 0; i < views.size(); ++i)
    if (!fits(executor->inputs()[i], views[i].type, views[i].shape))
      return nullptr;
  return executor;
}

Result<std::vector<Tensor>> tensorsLike(const sinter_session &session,
                                        std::span<const TensorView> views) {
  const ModelDescription &model = session.session->model();
  if (views.size() != model.inputs.size())
    return usageError("expected " + std::to_string(model.inputs.size()) +
                      " inputs, given " + std::to_string(views.size()));
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < views.size(); ++i) {
    const TensorView &view = views[i];
    if (Result<AddressRange> sound = addressesOf(view); !sound)
      return inside("input '" + model.inputs[i].spec.name + "'",
                    sound.takeError());
    const Shape shape(view.shape.begin(), view.shape.end());
    // Values decide only where shapes follow from them.
    inputs.push_back(
        mayFeedShapes({model.inputs[i].spec.name, view.type, shape})
            ? copyOf(view)
            : Tensor::share(view.type, shape, nullptr, nullptr));
  }
  return inputs;
}

Result<std::shared_ptr<Executor>>
executorFor(const sinter_session &session, std::span<const TensorView> views) {
  if (std::shared_ptr<Executor> ready = readyFor(session, views))
    return ready;
  Result<std::vector<Tensor>> inputs = tensorsLike(session, views);
  if (!inputs)
    return inputs.takeError();
  return session.session->executorFor(*inputs);
}

void describe(const Tensor &tensor, sinter_tensor &to) {
  to.type = typeOf(tensor.type());
  to.rank = static_cast<int32_t>(tensor.rank());
  to.shape = tensor.shape().data();
  to.strides = nullptr;
  to.data = const_cast<std::byte *>(tensor.data());
}

Result<const Cancellation *>
cancellationOf(const sinter_cancellation *cancellation) {
  if (!cancellation)
    return nullptr;
  if (Result<void> good = check(cancellation, Handle::Kind::Cancellation);
      !good)
    return good.takeError();
  return cancellation->cancellation.get();
}

/// The session for \p model, which is compiled if its inputs' sizes are known.
static Result<std::unique_ptr<sinter_session>>
compile(const sinter_model &model, const Configuration &given) {
  CommonOptions options;
  Result<Configuration> all = beginCall(model, given, options);
  if (!all)
    return all.takeError();
  options.mayInterpret = true;
  if (Result<void> done =
          parse(*all, [&](CLI::App &app) { addSessionOptions(app, options); });
      !done)
    return done.takeError();
  Result<SessionOptions> how = sessionOptions(options);
  if (!how)
    return how.takeError();
  all->applyTo(*how);
  auto made = std::make_unique<sinter_session>();
  made->files = model.files;
  made->allocator = all->allocator;
  made->shapes = how->shapes;
  made->hasBounds = !how->most.empty();
  auto session = Session::open(model.path, std::move(*how));
  if (!session)
    return session.takeError();
  made->session = std::move(*session);
  for (const ModelInput &input : made->session->model().inputs)
    made->inputs.emplace_back(input);
  for (const ModelOutput &output : made->session->model().outputs)
    made->outputs.emplace_back(output);
  return made;
}

/// Compiles now what needs to know nothing of a run.
static Result<void> prepare(sinter_session &session) {
  const ModelDescription &model = session.session->model();
  for (const ModelInput &input : model.inputs)
    if (mayFeedShapes(input.spec) && input.feedsShapes)
      return {};
  std::vector<std::optional<Tensor>> nothing(model.inputs.size());
  Result<std::vector<Shape>> shapes =
      bindShapes(model, session.shapes, nothing, /*note=*/{});
  // What has sizes that nobody has said is compiled when a run says them.
  if (!shapes)
    return {};
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < shapes->size(); ++i)
    inputs.emplace_back(model.inputs[i].spec.type, (*shapes)[i]);
  Result<void> ready = session.session->prepare(inputs);
  // Where values decide what is compiled, zeros may be none that the model
  // takes. A run brings others, or says what is wrong.
  if (!ready && (ready.error().kind == ErrorKind::InvalidModel ||
                 ready.error().kind == ErrorKind::Unsupported))
    for (const Tensor &input : inputs)
      if (mayFeedShapes({"", input.type(), input.shape()}))
        return {};
  return ready;
}

/// The states of \p session.
static std::span<const ValueInfo> statesOf(sinter_session &session) {
  const std::lock_guard lock(session.mutex);
  if (!session.states.empty())
    return session.states;
  const std::shared_ptr<Executor> executor = session.session->readyExecutor();
  std::span<const TensorSpec> known = session.session->model().states;
  if (executor)
    known = executor->states();
  for (const TensorSpec &state : known)
    session.states.emplace_back(state);
  return session.states;
}

/// The executor of \p session. Usage error where nothing has run, and nothing
/// was compiled when the session was made.
static Result<std::shared_ptr<Executor>> readyOf(sinter_session &session) {
  std::shared_ptr<Executor> executor = session.session->readyExecutor();
  if (!executor)
    return usageError("the model has states only once it has run: sizes of "
                      "its inputs were not known when it was compiled");
  return executor;
}

/// Views of a call's tensors.
struct RunViews {
  /// Copies of inputs of strings.
  std::vector<Tensor> strings;
  std::vector<TensorView> inputs;
  std::vector<std::optional<MutableTensorView>> outputs;
};

static Result<RunViews> viewsOf(const sinter_session &session,
                                std::span<const sinter_tensor> inputs,
                                std::span<const sinter_tensor> outputs,
                                bool mayOwn) {
  RunViews views;
  if (inputs.size() != session.inputs.size() ||
      outputs.size() != session.outputs.size())
    return usageError("expected " + std::to_string(session.inputs.size()) +
                      " inputs and " + std::to_string(session.outputs.size()) +
                      " outputs, given " + std::to_string(inputs.size()) +
                      " and " + std::to_string(outputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string what = "input " + std::to_string(i);
    auto view = viewAs<TensorView, const void *>(&inputs[i], what,
                                                 /*mayBeStrings=*/true);
    if (!view)
      return view.takeError();
    if (isString(view->type)) {
      Result<Tensor> strings = stringsOf(*view, what);
      if (!strings)
        return strings.takeError();
      views.strings.push_back(std::move(*strings));
      view->data = views.strings.back().data();
      view->strides = {};
    }
    views.inputs.push_back(*view);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string what = "output " + std::to_string(i);
    if (Result<void> good =
            checkSize(outputs[i].struct_size, sizeof(sinter_tensor),
                      sizeof(sinter_tensor), what);
        !good)
      return good.takeError();
    if (!outputs[i].data) {
      if (!mayOwn)
        return usageError(what + ": its data are NULL, and so is values");
      views.outputs.emplace_back();
      continue;
    }
    Result<MutableTensorView> view = mutableViewOf(&outputs[i], what);
    if (!view)
      return view.takeError();
    views.outputs.emplace_back(*view);
  }
  return views;
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_compile(const sinter_model *model,
                             const sinter_options *options,
                             sinter_session **session, sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(session, "session"); !good)
      return good;
    Result<Configuration> given = configurationOf(options);
    if (!given)
      return given.takeError();
    Result<std::unique_ptr<sinter_session>> made = compile(*model, *given);
    if (!made)
      return made.takeError();
    if (Result<void> ready = prepare(**made); !ready)
      return ready;
    *session = made->release();
    return {};
  });
}

size_t sinter_session_input_count(const sinter_session *session) {
  return Use::of(session, Handle::Kind::Session) ? session->inputs.size() : 0;
}

size_t sinter_session_output_count(const sinter_session *session) {
  return Use::of(session, Handle::Kind::Session) ? session->outputs.size() : 0;
}

sinter_status sinter_session_input(const sinter_session *session, size_t index,
                                   sinter_value_info *info,
                                   sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&] {
    return giveInfo(session->inputs, index, "input", info);
  });
}

sinter_status sinter_session_output(const sinter_session *session, size_t index,
                                    sinter_value_info *info,
                                    sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&] {
    return giveInfo(session->outputs, index, "output", info);
  });
}

sinter_status sinter_session_run(sinter_session *session,
                                 const sinter_tensor *inputs,
                                 size_t input_count, sinter_tensor *outputs,
                                 size_t output_count, sinter_value **values,
                                 const sinter_cancellation *cancellation,
                                 sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&]() -> Result<void> {
    if (input_count)
      if (Result<void> good = checkPointer(inputs, "inputs"); !good)
        return good;
    if (output_count)
      if (Result<void> good = checkPointer(outputs, "outputs"); !good)
        return good;
    Result<const Cancellation *> cancel = cancellationOf(cancellation);
    if (!cancel)
      return cancel.takeError();
    Result<RunViews> views =
        viewsOf(*session, {inputs, input_count}, {outputs, output_count},
                values != nullptr);
    if (!views)
      return views.takeError();
    auto executor = executorFor(*session, views->inputs);
    if (!executor)
      return executor.takeError();
    std::unique_lock lock(session->stateUse, std::defer_lock);
    if (!(*executor)->states().empty())
      lock.lock();
    auto results = (*executor)->run(views->inputs, views->outputs, *cancel);
    if (!results)
      return results.takeError();
    for (size_t i = 0; values && i < output_count; ++i) {
      values[i] = nullptr;
      if (outputs[i].data)
        continue;
      Tensor &result = (*results)[i];
      values[i] = new sinter_value(
          isString(result.type())
              ? describedStrings(std::move(result))
              : HostAllocator::moved(session->allocator, std::move(result)));
      describe(values[i]->tensor, outputs[i]);
    }
    return {};
  });
}

sinter_status sinter_value_tensor(const sinter_value *value,
                                  sinter_tensor *tensor, sinter_error **error) {
  return guarded(value, Handle::Kind::Value, error, [&] {
    sinter_tensor all = {};
    describe(value->tensor, all);
    return giveStruct(all, tensor, "tensor");
  });
}

void sinter_value_free(sinter_value *value) {
  if (check(value, Handle::Kind::Value))
    delete value;
}

size_t sinter_session_state_count(const sinter_session *session) {
  size_t count = 0;
  guarded(session, Handle::Kind::Session, nullptr, [&]() -> Result<void> {
    count = statesOf(*const_cast<sinter_session *>(session)).size();
    return {};
  });
  return count;
}

sinter_status sinter_session_state(const sinter_session *session, size_t index,
                                   sinter_value_info *info,
                                   sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&] {
    return giveInfo(statesOf(*const_cast<sinter_session *>(session)), index,
                    "state", info);
  });
}

sinter_status sinter_session_read_state(sinter_session *session, size_t index,
                                        const sinter_tensor *to,
                                        sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&]() -> Result<void> {
    Result<MutableTensorView> view = mutableViewOf(to, "to");
    if (!view)
      return view.takeError();
    auto executor = readyOf(*session);
    if (!executor)
      return executor.takeError();
    return (*executor)->readState(index, *view);
  });
}

sinter_status sinter_session_write_state(sinter_session *session, size_t index,
                                         const sinter_tensor *from,
                                         sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&]() -> Result<void> {
    Result<TensorView> view = viewOf(from, "from");
    if (!view)
      return view.takeError();
    auto executor = readyOf(*session);
    if (!executor)
      return executor.takeError();
    return (*executor)->setState(index, *view);
  });
}

sinter_status sinter_session_reset_states(sinter_session *session,
                                          sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&]() -> Result<void> {
    if (auto executor = session->session->readyExecutor())
      executor->resetStates();
    return {};
  });
}

sinter_status sinter_session_snapshot(sinter_session *session,
                                      sinter_snapshot **snapshot,
                                      sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&]() -> Result<void> {
    const std::lock_guard lock(session->stateUse);
    auto executor = readyOf(*session);
    if (!executor)
      return executor.takeError();
    return takeSnapshot(**executor, snapshot);
  });
}

sinter_status sinter_session_restore(sinter_session *session,
                                     const sinter_snapshot *snapshot,
                                     sinter_error **error) {
  return guarded(session, Handle::Kind::Session, error, [&]() -> Result<void> {
    const std::lock_guard lock(session->stateUse);
    auto executor = readyOf(*session);
    if (!executor)
      return executor.takeError();
    return restoreSnapshot(**executor, snapshot);
  });
}

sinter_status sinter_session_free(sinter_session *session,
                                  sinter_error **error) {
  return freeHandle(session, Handle::Kind::Session, error);
}

sinter_status sinter_cancellation_new(sinter_cancellation **cancellation,
                                      sinter_error **error) {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(cancellation, "cancellation"); !good)
      return good;
    *cancellation = new sinter_cancellation();
    return {};
  });
}

void sinter_cancellation_cancel(sinter_cancellation *cancellation) {
  if (check(cancellation, Handle::Kind::Cancellation))
    cancellation->cancellation->cancel();
}

void sinter_cancellation_reset(sinter_cancellation *cancellation) {
  if (check(cancellation, Handle::Kind::Cancellation))
    cancellation->cancellation->reset();
}

void sinter_cancellation_free(sinter_cancellation *cancellation) {
  if (check(cancellation, Handle::Kind::Cancellation))
    delete cancellation;
}

} // extern "C"
