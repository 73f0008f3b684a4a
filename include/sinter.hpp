//===- sinter.hpp - Sinter in C++20 ---------------------------------------===//
//
// A layer over sinter.h without code of its own: objects that free themselves,
// spans, and results in place of status and error.
//
//     auto model = sinter::Model::open("model.onnx");
//     if (!model)
//       return std::puts(model.error().message());
//     auto session = model->compile({{"threads", "2"}});
//     ...
//     if (auto done = session->run({sinter::view(x, {1, 3})},
//                                  {sinter::view(y, {1, 2})}); !done)
//       std::puts(done.error().message());
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_HPP
#define SINTER_HPP

#include "sinter.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sinter {
inline namespace v1 {

/// What went wrong. Texts live as long as the object.
class Error {
public:
  explicit Error(sinter_status status, sinter_error *error)
      : code(status), owned(error, &sinter_error_free) {}

  sinter_status status() const { return code; }
  const char *message() const { return sinter_error_message(owned.get()); }
  const char *what() const { return sinter_error_what(owned.get()); }
  const char *file() const { return sinter_error_file(owned.get()); }
  const char *node() const { return sinter_error_node(owned.get()); }
  const char *op() const { return sinter_error_operator(owned.get()); }
  const char *hint() const { return sinter_error_hint(owned.get()); }

private:
  sinter_status code;
  std::shared_ptr<sinter_error> owned;
};

/// A value, or an Error.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return std::get<0>(state); }
  const T &operator*() const { return std::get<0>(state); }
  T *operator->() { return &std::get<0>(state); }
  const T *operator->() const { return &std::get<0>(state); }
  const Error &error() const { return std::get<1>(state); }

private:
  std::variant<T, Error> state;
};

/// Success, or an Error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return !state; }
  const Error &error() const { return *state; }

private:
  std::optional<Error> state;
};

namespace detail {

/// Calls \p call with a place for the error.
template <typename Call> Result<void> checked(Call &&call) {
  sinter_error *error = nullptr;
  const sinter_status status = call(&error);
  if (status == SINTER_OK)
    return {};
  return Error(status, error);
}

/// Frees an object by its function of C.
template <auto Free> struct Freed {
  template <typename Object> void operator()(Object *object) const {
    if constexpr (std::is_invocable_v<decltype(Free), Object *,
                                      sinter_error **>)
      Free(object, nullptr);
    else
      Free(object);
  }
};

template <typename Object, auto Free>
using Owned = std::unique_ptr<Object, Freed<Free>>;

} // namespace detail

/// The element type of \p T.
template <typename T> constexpr sinter_type typeOf() {
  if constexpr (std::is_same_v<T, float>)
    return SINTER_F32;
  else if constexpr (std::is_same_v<T, double>)
    return SINTER_F64;
  else if constexpr (std::is_same_v<T, bool>)
    return SINTER_I1;
  else {
    static_assert(std::is_integral_v<T>, "no element type");
    constexpr bool isSigned = std::is_signed_v<T>;
    switch (sizeof(T)) {
    case 1:
      return isSigned ? SINTER_I8 : SINTER_UI8;
    case 2:
      return isSigned ? SINTER_I16 : SINTER_UI16;
    case 4:
      return isSigned ? SINTER_I32 : SINTER_UI32;
    default:
      return isSigned ? SINTER_I64 : SINTER_UI64;
    }
  }
}

/// Memory of the caller as a tensor. It has the shape, not the elements.
class TensorView {
public:
  TensorView(sinter_type type, std::vector<int64_t> shape, void *data,
             std::vector<int64_t> strides = {})
      : type(type), sizes(std::move(shape)), steps(std::move(strides)),
        data(data) {}

  /// For calls of C, while this object lives.
  sinter_tensor tensor() const {
    return {sizeof(sinter_tensor),
            type,
            static_cast<int32_t>(sizes.size()),
            sizes.data(),
            steps.empty() ? nullptr : steps.data(),
            data};
  }

private:
  sinter_type type;
  std::vector<int64_t> sizes, steps;
  void *data;
};

/// The elements of \p values, row-major.
template <typename Range>
TensorView view(Range &values, std::vector<int64_t> shape) {
  using Element = std::remove_cvref_t<decltype(*std::data(values))>;
  return TensorView(typeOf<Element>(), std::move(shape),
                    const_cast<Element *>(std::data(values)));
}

using Options = std::initializer_list<std::pair<const char *, std::string>>;

/// Threads that sessions run on.
class ThreadPool {
public:
  /// Calls the task once for each index below \p count, on any threads, and
  /// returns when all are done. It must not throw.
  using Run = std::function<void(size_t count,
                                 const std::function<void(size_t)> &task)>;

  /// \p threads of their own; 0: as many as there are processors.
  static Result<ThreadPool> make(size_t threads = 0) {
    return made({}, [&](auto pool, auto error) {
      return sinter_thread_pool_new(threads, pool, error);
    });
  }
  /// Threads of the caller, which \p run uses: up to \p threads tasks at once.
  static Result<ThreadPool> ofHost(size_t threads, Run run) {
    auto kept = std::make_shared<Run>(std::move(run));
    sinter_host_threads host = {};
    host.struct_size = sizeof(host);
    host.user = kept.get();
    host.threads = threads;
    host.run = [](void *user, size_t count, sinter_task task,
                  void *data) noexcept {
      (*static_cast<Run *>(user))(count,
                                  [=](size_t index) { task(data, index); });
    };
    return made(kept, [&](auto pool, auto error) {
      return sinter_thread_pool_of_host(&host, pool, error);
    });
  }

  size_t size() const { return sinter_thread_pool_size(owned.get()); }
  sinter_thread_pool *get() const { return owned.get(); }
  /// What sessions on these threads need.
  const std::shared_ptr<const void> &used() const { return run; }

private:
  ThreadPool(sinter_thread_pool *pool, std::shared_ptr<const void> run)
      : run(std::move(run)), owned(pool) {}
  template <typename Call>
  static Result<ThreadPool> made(std::shared_ptr<const void> run, Call &&call) {
    sinter_thread_pool *pool = nullptr;
    if (auto done =
            detail::checked([&](auto error) { return call(&pool, error); });
        !done)
      return done.error();
    return ThreadPool(pool, std::move(run));
  }

  std::shared_ptr<const void> run;
  detail::Owned<sinter_thread_pool, sinter_thread_pool_free> owned;
};

/// Ends runs, and calls with Settings that have it, from another thread.
class Cancellation {
public:
  static Result<Cancellation> make() {
    sinter_cancellation *made = nullptr;
    if (auto done = detail::checked(
            [&](auto error) { return sinter_cancellation_new(&made, error); });
        !done)
      return done.error();
    return Cancellation(made);
  }

  void cancel() { sinter_cancellation_cancel(owned.get()); }
  void reset() { sinter_cancellation_reset(owned.get()); }
  const sinter_cancellation *get() const { return owned.get(); }

private:
  explicit Cancellation(sinter_cancellation *cancellation)
      : owned(cancellation) {}

  detail::Owned<sinter_cancellation, sinter_cancellation_free> owned;
};

/// Options, and what has no name: callbacks, memory, threads and what ends the
/// call. Callbacks must not throw. They live as long as what is made with them.
class Settings {
public:
  Settings() = default;
  Settings(Options values) : values(values.begin(), values.end()) {}

  Settings &set(std::string name, std::string value) {
    values.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  /// Gets what a user should know, a line a call.
  Settings &onLog(std::function<void(std::string_view line)> call) {
    log = keep(std::move(call));
    return *this;
  }
  /// Gets what the model prints.
  Settings &onPrint(std::function<void(std::string_view text)> call) {
    print = keep(std::move(call));
    return *this;
  }
  /// Told of long work.
  Settings &onProgress(
      std::function<void(std::string_view stage, uint64_t done, uint64_t total)>
          call) {
    progress = keep(std::move(call));
    return *this;
  }
  /// What results, states and temporaries are in; it outlives all of them.
  Settings &memory(std::pmr::memory_resource &resource) {
    source = &resource;
    return *this;
  }
  Settings &threads(const ThreadPool &pool) {
    threadPool = pool.get();
    kept.push_back(pool.used());
    return *this;
  }
  /// What ends calls with these; it lives until the last of them began.
  Settings &cancellation(const Cancellation &ends) {
    end = ends.get();
    return *this;
  }

  /// For calls of C, which may go on using used().
  Result<detail::Owned<sinter_options, sinter_options_free>> options() const;
  /// What callbacks need.
  const std::vector<std::shared_ptr<const void>> &used() const { return kept; }

private:
  template <typename Call> Call *keep(Call call) {
    auto shared = std::make_shared<Call>(std::move(call));
    kept.push_back(shared);
    return shared.get();
  }
  template <typename... Arguments>
  using Callback = std::function<void(Arguments...)> *;

  std::vector<std::pair<std::string, std::string>> values;
  Callback<std::string_view> log = nullptr, print = nullptr;
  Callback<std::string_view, uint64_t, uint64_t> progress = nullptr;
  std::pmr::memory_resource *source = nullptr;
  const sinter_thread_pool *threadPool = nullptr;
  const sinter_cancellation *end = nullptr;
  std::vector<std::shared_ptr<const void>> kept;
};

namespace detail {

/// \p resource for calls of C.
inline sinter_allocator allocatorOf(std::pmr::memory_resource &resource) {
  sinter_allocator allocator = {};
  allocator.struct_size = sizeof(allocator);
  allocator.user = &resource;
  allocator.allocate = [](void *user, size_t size,
                          size_t alignment) noexcept -> void * {
    try {
      return static_cast<std::pmr::memory_resource *>(user)->allocate(
          size, alignment);
    } catch (const std::bad_alloc &) {
      return nullptr;
    }
  };
  allocator.release = [](void *user, void *memory, size_t size,
                         size_t alignment) noexcept {
    static_cast<std::pmr::memory_resource *>(user)->deallocate(memory, size,
                                                               alignment);
  };
  return allocator;
}

} // namespace detail

inline Result<detail::Owned<sinter_options, sinter_options_free>>
Settings::options() const {
  using Text = std::function<void(std::string_view)>;
  sinter_options *made = nullptr;
  if (auto done = detail::checked(
          [&](auto error) { return sinter_options_new(&made, error); });
      !done)
    return done.error();
  detail::Owned<sinter_options, sinter_options_free> options(made);
  for (const auto &[name, value] : values)
    if (auto done = detail::checked([&](auto error) {
          return sinter_options_set(made, name.c_str(), value.c_str(), error);
        });
        !done)
      return done.error();
  const auto done = detail::checked([&](auto error) {
    sinter_status status = SINTER_OK;
    if (log)
      status = sinter_options_set_log(
          made,
          [](void *user, const char *line) noexcept {
            (*static_cast<Text *>(user))(line);
          },
          log, error);
    if (status == SINTER_OK && print)
      status = sinter_options_set_print(
          made,
          [](void *user, const char *text, size_t size) noexcept {
            (*static_cast<Text *>(user))({text, size});
          },
          print, error);
    if (status == SINTER_OK && progress)
      status = sinter_options_set_progress(
          made,
          [](void *user, const char *stage, uint64_t done,
             uint64_t total) noexcept {
            (*static_cast<
                std::function<void(std::string_view, uint64_t, uint64_t)> *>(
                user))(stage, done, total);
          },
          progress, error);
    if (status == SINTER_OK && source) {
      const sinter_allocator allocator = detail::allocatorOf(*source);
      status = sinter_options_set_allocator(made, &allocator, error);
    }
    if (status == SINTER_OK && threadPool)
      status = sinter_options_set_thread_pool(made, threadPool, error);
    if (status == SINTER_OK && end)
      status = sinter_options_set_cancellation(made, end, error);
    return status;
  });
  if (!done)
    return done.error();
  return options;
}

/// Values of all states.
class Snapshot {
public:
  explicit Snapshot(sinter_snapshot *snapshot) : owned(snapshot) {}

  /// From the bytes of another.
  static Result<Snapshot> open(std::span<const std::byte> bytes) {
    sinter_snapshot *made = nullptr;
    if (auto done = detail::checked([&](auto error) {
          return sinter_snapshot_open(bytes.data(), bytes.size(), &made, error);
        });
        !done)
      return done.error();
    return Snapshot(made);
  }

  /// They live as long as the snapshot.
  std::span<const std::byte> bytes() const {
    size_t size = 0;
    const void *data = sinter_snapshot_data(owned.get(), &size);
    return {static_cast<const std::byte *>(data), size};
  }
  const sinter_snapshot *get() const { return owned.get(); }

private:
  detail::Owned<sinter_snapshot, sinter_snapshot_free> owned;
};

/// A result in memory of the library.
class Value {
public:
  explicit Value(sinter_value *value) : owned(value) {}

  sinter_tensor tensor() const {
    sinter_tensor all = {};
    all.struct_size = sizeof(all);
    sinter_value_tensor(owned.get(), &all, nullptr);
    return all;
  }
  std::span<const int64_t> shape() const {
    const sinter_tensor all = tensor();
    return {all.shape, static_cast<size_t>(all.rank)};
  }
  /// The elements; none if they are not of type \p T.
  template <typename T> std::span<const T> values() const {
    const sinter_tensor all = tensor();
    if (all.type != typeOf<T>())
      return {};
    size_t count = 1;
    for (int64_t size : shape())
      count *= static_cast<size_t>(size);
    return {static_cast<const T *>(all.data), count};
  }

private:
  detail::Owned<sinter_value, sinter_value_free> owned;
};

namespace detail {

/// States of a Session or a Binding, which C calls by functions of its own.
template <typename Object, auto Take, auto Restore, auto Read, auto Write,
          auto Reset>
class States {
public:
  explicit States(Object *object) : object(object) {}

  Result<Snapshot> snapshot() const {
    sinter_snapshot *made = nullptr;
    if (auto done =
            checked([&](auto error) { return Take(object, &made, error); });
        !done)
      return done.error();
    return Snapshot(made);
  }
  /// All of them, or none.
  Result<void> restore(const Snapshot &snapshot) const {
    return checked(
        [&](auto error) { return Restore(object, snapshot.get(), error); });
  }
  Result<void> read(size_t index, const TensorView &to) const {
    const sinter_tensor tensor = to.tensor();
    return checked(
        [&](auto error) { return Read(object, index, &tensor, error); });
  }
  Result<void> write(size_t index, const TensorView &from) const {
    const sinter_tensor tensor = from.tensor();
    return checked(
        [&](auto error) { return Write(object, index, &tensor, error); });
  }
  Result<void> reset() const {
    return checked([&](auto error) { return Reset(object, error); });
  }

private:
  Object *object;
};

} // namespace detail

/// Tensors bound to a session once, to be run often. It ends before the
/// session.
class Binding {
public:
  explicit Binding(sinter_binding *binding) : owned(binding) {}

  Result<void> setInput(size_t index, const TensorView &view) {
    const sinter_tensor tensor = view.tensor();
    return detail::checked([&](auto error) {
      return sinter_binding_set_input(owned.get(), index, &tensor, error);
    });
  }
  Result<void> setOutput(size_t index, const TensorView &view) {
    const sinter_tensor tensor = view.tensor();
    return detail::checked([&](auto error) {
      return sinter_binding_set_output(owned.get(), index, &tensor, error);
    });
  }
  Result<void> run(const sinter_cancellation *cancellation = nullptr) {
    return detail::checked([&](auto error) {
      return sinter_binding_run(owned.get(), cancellation, error);
    });
  }
  Result<void> run(const Cancellation &cancellation) {
    return run(cancellation.get());
  }

  /// Its own, which it has once all inputs are bound.
  auto states() const {
    return detail::States<sinter_binding, sinter_binding_snapshot,
                          sinter_binding_restore, sinter_binding_read_state,
                          sinter_binding_write_state,
                          sinter_binding_reset_states>(owned.get());
  }

private:
  detail::Owned<sinter_binding, sinter_binding_free> owned;
};

/// A compiled model. Threads may share it.
class Session {
public:
  explicit Session(sinter_session *session,
                   std::vector<std::shared_ptr<const void>> used = {})
      : used(std::move(used)), owned(session) {}

  /// Runs on memory of the caller.
  Result<void> run(std::span<const TensorView> inputs,
                   std::span<const TensorView> outputs,
                   const Cancellation *cancellation = nullptr) {
    std::vector<sinter_tensor> in, out;
    for (const TensorView &each : inputs)
      in.push_back(each.tensor());
    for (const TensorView &each : outputs)
      out.push_back(each.tensor());
    return detail::checked([&](auto error) {
      return sinter_session_run(
          owned.get(), in.data(), in.size(), out.data(), out.size(), nullptr,
          cancellation ? cancellation->get() : nullptr, error);
    });
  }
  Result<void> run(std::initializer_list<TensorView> inputs,
                   std::initializer_list<TensorView> outputs) {
    return run(std::span(inputs.begin(), inputs.size()),
               std::span(outputs.begin(), outputs.size()));
  }
  /// Runs on memory of the caller; results are the library's.
  Result<std::vector<Value>> run(std::span<const TensorView> inputs) {
    std::vector<sinter_tensor> in;
    for (const TensorView &each : inputs)
      in.push_back(each.tensor());
    const size_t count = sinter_session_output_count(owned.get());
    std::vector<sinter_tensor> out(count);
    for (sinter_tensor &each : out)
      each.struct_size = sizeof(each);
    std::vector<sinter_value *> values(count, nullptr);
    if (auto done = detail::checked([&](auto error) {
          return sinter_session_run(owned.get(), in.data(), in.size(),
                                    out.data(), count, values.data(), nullptr,
                                    error);
        });
        !done)
      return done.error();
    std::vector<Value> results;
    for (sinter_value *each : values)
      results.emplace_back(each);
    return results;
  }
  Result<std::vector<Value>> run(std::initializer_list<TensorView> inputs) {
    return run(std::span(inputs.begin(), inputs.size()));
  }

  Result<Binding> bind() {
    sinter_binding *made = nullptr;
    if (auto done = detail::checked([&](auto error) {
          return sinter_binding_new(owned.get(), &made, error);
        });
        !done)
      return done.error();
    return Binding(made);
  }

  /// Those that runs use, but for those of bindings.
  auto states() const {
    return detail::States<sinter_session, sinter_session_snapshot,
                          sinter_session_restore, sinter_session_read_state,
                          sinter_session_write_state,
                          sinter_session_reset_states>(owned.get());
  }

  sinter_session *get() const { return owned.get(); }

private:
  /// Freed after the session, which calls back.
  std::vector<std::shared_ptr<const void>> used;
  detail::Owned<sinter_session, sinter_session_free> owned;
};

class Model;

/// A model in training.
class Trainer {
public:
  explicit Trainer(sinter_trainer *trainer,
                   std::vector<std::shared_ptr<const void>> used = {})
      : used(std::move(used)), owned(trainer) {}

  /// The arrays of a batch: the model's inputs, then the targets.
  std::vector<std::string> arrays() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < sinter_trainer_array_count(owned.get()); ++i)
      names.emplace_back(sinter_trainer_array_name(owned.get(), i));
    return names;
  }
  /// A step; the loss before it.
  Result<double> step(std::initializer_list<TensorView> batch) {
    return lossOf(sinter_trainer_step, batch);
  }
  /// The loss as the model would run.
  Result<double> evaluate(std::initializer_list<TensorView> batch) {
    return lossOf(sinter_trainer_evaluate, batch);
  }
  Result<double> learningRate() const {
    double rate = 0;
    if (auto done = detail::checked([&](auto error) {
          return sinter_trainer_learning_rate(owned.get(), &rate, error);
        });
        !done)
      return done.error();
    return rate;
  }
  Result<void> setLearningRate(double rate) {
    return detail::checked([&](auto error) {
      return sinter_trainer_set_learning_rate(owned.get(), rate, error);
    });
  }
  /// A new model with the weights as they are.
  Result<Model> model() const;

  sinter_trainer *get() const { return owned.get(); }

private:
  template <typename Call>
  Result<double> lossOf(Call &&call, std::span<const TensorView> batch) {
    std::vector<sinter_tensor> arrays;
    for (const TensorView &each : batch)
      arrays.push_back(each.tensor());
    double loss = 0;
    if (auto done = detail::checked([&](auto error) {
          return call(owned.get(), arrays.data(), arrays.size(), &loss, error);
        });
        !done)
      return done.error();
    return loss;
  }

  std::vector<std::shared_ptr<const void>> used;
  detail::Owned<sinter_trainer, sinter_trainer_free> owned;
};

/// What a comparison of two models found.
struct Comparison {
  bool agrees = false;
  /// That of `sinter compare --json`.
  std::string report;
};

/// What an evaluation found.
struct Evaluation {
  /// Why a bound does not hold; empty: all do.
  std::string broken;
  /// That of `sinter evaluate --json`.
  std::string report;
};

/// A model.
class Model {
public:
  explicit Model(sinter_model *model,
                 std::vector<std::shared_ptr<const void>> used = {})
      : used(std::move(used)), owned(model) {}

  static Result<Model> open(const std::string &path,
                            const Settings &options = {}) {
    return made<Model, sinter_model>(
        options, {}, [&](auto given, auto model, auto error) {
          return sinter_model_open(path.c_str(), given, model, error);
        });
  }
  /// As sinter_model_open_memory.
  static Result<Model> openMemory(std::span<const std::byte> bytes,
                                  const std::string &name = "model",
                                  const std::string &folder = "",
                                  const Settings &options = {}) {
    return made<Model, sinter_model>(
        options, {}, [&](auto given, auto model, auto error) {
          return sinter_model_open_memory(
              bytes.data(), bytes.size(), name.c_str(),
              folder.empty() ? nullptr : folder.c_str(), given, model, error);
        });
  }

  Result<Session> compile(const Settings &options = {}) const {
    return made<Session, sinter_session>(
        options, used, [&](auto given, auto session, auto error) {
          return sinter_compile(owned.get(), given, session, error);
        });
  }

  /// Compiles it ahead of time, to files; the report of `sinter compile
  /// --json`. As sinter_model_compile_to.
  Result<std::string> compileTo(const std::string &output,
                                const Settings &options = {}) const {
    auto given = options.options();
    if (!given)
      return given.error();
    char *report = nullptr;
    if (auto done = detail::checked([&](auto error) {
          return sinter_model_compile_to(owned.get(), output.c_str(),
                                         given->get(), &report, error);
        });
        !done)
      return done.error();
    std::string text = report;
    sinter_string_free(report);
    return text;
  }

  /// Makes it ready for steps on batches of the caller's.
  Result<Trainer> train(const Settings &options = {}) const {
    return made<Trainer, sinter_trainer>(
        options, used, [&](auto given, auto trainer, auto error) {
          return sinter_trainer_new(owned.get(), given, trainer, error);
        });
  }

  /// The simplified model.
  Result<Model> optimize(const Settings &options = {}) const {
    return made<Model, sinter_model>(
        options, used, [&](auto given, auto model, auto error) {
          return sinter_model_optimize(owned.get(), given, model, nullptr,
                                       error);
        });
  }

  /// The inputs of sample \p index, in memory that stays until the next call.
  using Sample = std::function<std::vector<TensorView>(size_t index)>;
  /// An 8-bit model, by \p count samples. \p sample must not throw.
  Result<Model> quantize(size_t count, const Sample &sample,
                         const Settings &options = {}) const {
    struct Source {
      const Sample &sample;
      std::vector<TensorView> views;
    } source = {sample, {}};
    const auto give = [](void *user, size_t index, sinter_tensor *inputs,
                         size_t inputCount) noexcept -> int32_t {
      auto &from = *static_cast<Source *>(user);
      from.views = from.sample(index);
      if (from.views.size() != inputCount)
        return 1;
      for (size_t i = 0; i < inputCount; ++i)
        inputs[i] = from.views[i].tensor();
      return 0;
    };
    return made<Model, sinter_model>(
        options, used, [&](auto given, auto model, auto error) {
          return sinter_model_quantize(owned.get(), given, give, &source, count,
                                       model, nullptr, error);
        });
  }

  /// Compares \p other with this model, which is right, on \p inputs; none:
  /// random ones. That they differ is no error.
  Result<Comparison> compare(const Model &other,
                             std::initializer_list<TensorView> inputs = {},
                             const Settings &options = {}) const {
    auto given = options.options();
    if (!given)
      return given.error();
    std::vector<sinter_tensor> tensors;
    for (const TensorView &each : inputs)
      tensors.push_back(each.tensor());
    char *report = nullptr;
    auto done = detail::checked([&](auto error) {
      return sinter_model_compare(owned.get(), other.get(), tensors.data(),
                                  tensors.size(), given->get(), &report, error);
    });
    const std::unique_ptr<char, detail::Freed<sinter_string_free>> text(report);
    if (!done && (done.error().status() != SINTER_WRONG_RESULT || !report))
      return done.error();
    return Comparison{static_cast<bool>(done), report ? report : ""};
  }

  /// The inputs and the target of a sample, in memory that stays until the next
  /// call.
  struct LabelledSample {
    std::vector<TensorView> inputs;
    TensorView target;
  };
  using GiveLabelledSample = std::function<LabelledSample(size_t index)>;
  /// How right it is on \p count samples, whose truth \p sample knows; 0: on
  /// those of the option data. \p other: another model on the same samples.
  /// \p sample must not throw. That a bound does not hold is no error.
  Result<Evaluation> evaluate(size_t count, const GiveLabelledSample &sample,
                              const Settings &options = {},
                              const Model *other = nullptr) const {
    auto given = options.options();
    if (!given)
      return given.error();
    struct Source {
      const GiveLabelledSample &sample;
      std::optional<LabelledSample> last;
    } source = {sample, {}};
    const auto give = [](void *user, size_t index, sinter_tensor *inputs,
                         size_t inputCount,
                         sinter_tensor *target) noexcept -> int32_t {
      auto &from = *static_cast<Source *>(user);
      from.last.emplace(from.sample(index));
      if (from.last->inputs.size() != inputCount)
        return 1;
      for (size_t i = 0; i < inputCount; ++i)
        inputs[i] = from.last->inputs[i].tensor();
      *target = from.last->target.tensor();
      return 0;
    };
    char *report = nullptr;
    auto done = detail::checked([&](auto error) {
      return sinter_model_evaluate(owned.get(), other ? other->get() : nullptr,
                                   given->get(), give, &source, count, &report,
                                   error);
    });
    const std::unique_ptr<char, detail::Freed<sinter_string_free>> text(report);
    if (!done && (done.error().status() != SINTER_WRONG_RESULT || !report))
      return done.error();
    return Evaluation{done ? "" : done.error().message(), report ? report : ""};
  }
  /// The same on the samples of the option data.
  Result<Evaluation> evaluate(const Settings &options,
                              const Model *other = nullptr) const {
    return evaluate(0, nullptr, options, other);
  }

  /// What the file says of itself; texts live as long as the model.
  sinter_model_info info() const {
    sinter_model_info all = {};
    all.struct_size = sizeof(all);
    sinter_model_describe(owned.get(), &all, nullptr);
    return all;
  }
  /// An entry of its metadata; nothing if there is none.
  std::optional<std::string> metadata(const std::string &name) const {
    const char *value = sinter_model_metadata(owned.get(), name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  }
  /// Texts and arrays live as long as the model.
  std::vector<sinter_value_info> inputs() const {
    return infos(sinter_model_input_count, sinter_model_input);
  }
  std::vector<sinter_value_info> outputs() const {
    return infos(sinter_model_output_count, sinter_model_output);
  }
  std::vector<sinter_value_info> states() const {
    return infos(sinter_model_state_count, sinter_model_state);
  }

  Result<void> save(const std::string &path,
                    const Settings &options = {}) const {
    auto given = options.options();
    if (!given)
      return given.error();
    return detail::checked([&](auto error) {
      return sinter_model_save(owned.get(), path.c_str(), given->get(), error);
    });
  }

  sinter_model *get() const { return owned.get(); }

private:
  /// The \p Made that \p call makes, which uses \p used and what the options
  /// have.
  template <typename Made, typename Object, typename Call>
  static Result<Made> made(const Settings &options,
                           std::vector<std::shared_ptr<const void>> used,
                           Call &&call) {
    auto given = options.options();
    if (!given)
      return given.error();
    Object *object = nullptr;
    if (auto done = detail::checked(
            [&](auto error) { return call(given->get(), &object, error); });
        !done)
      return done.error();
    used.insert(used.end(), options.used().begin(), options.used().end());
    return Made(object, std::move(used));
  }

  template <typename Count, typename Get>
  std::vector<sinter_value_info> infos(Count &&count, Get &&get) const {
    std::vector<sinter_value_info> all(count(owned.get()));
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].struct_size = sizeof(all[i]);
      get(owned.get(), i, &all[i], nullptr);
    }
    return all;
  }

  /// Freed after the model, which calls back.
  std::vector<std::shared_ptr<const void>> used;
  detail::Owned<sinter_model, sinter_model_free> owned;
};

inline Result<Model> Trainer::model() const {
  sinter_model *made = nullptr;
  if (auto done = detail::checked([&](auto error) {
        return sinter_trainer_model(owned.get(), &made, error);
      });
      !done)
    return done.error();
  return Model(made, used);
}

} // namespace v1
} // namespace sinter

#endif // SINTER_HPP
