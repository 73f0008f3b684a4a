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
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

namespace detail {

using OwnedOptions = Owned<sinter_options, sinter_options_free>;

inline Result<OwnedOptions> make(Options values) {
  sinter_options *made = nullptr;
  if (auto done =
          checked([&](auto error) { return sinter_options_new(&made, error); });
      !done)
    return done.error();
  OwnedOptions options(made);
  for (const auto &[name, value] : values)
    if (auto done = checked([&](auto error) {
          return sinter_options_set(made, name, value.c_str(), error);
        });
        !done)
      return done.error();
  return options;
}

} // namespace detail

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

private:
  detail::Owned<sinter_binding, sinter_binding_free> owned;
};

/// A compiled model. Threads may share it.
class Session {
public:
  explicit Session(sinter_session *session) : owned(session) {}

  /// Runs on memory of the caller.
  Result<void> run(std::span<const TensorView> inputs,
                   std::span<const TensorView> outputs) {
    std::vector<sinter_tensor> in, out;
    for (const TensorView &each : inputs)
      in.push_back(each.tensor());
    for (const TensorView &each : outputs)
      out.push_back(each.tensor());
    return detail::checked([&](auto error) {
      return sinter_session_run(owned.get(), in.data(), in.size(), out.data(),
                                out.size(), nullptr, nullptr, error);
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

  sinter_session *get() const { return owned.get(); }

private:
  detail::Owned<sinter_session, sinter_session_free> owned;
};

/// A model.
class Model {
public:
  explicit Model(sinter_model *model) : owned(model) {}

  static Result<Model> open(const std::string &path, Options options = {}) {
    return made(options, [&](auto given, auto model, auto error) {
      return sinter_model_open(path.c_str(), given, model, error);
    });
  }
  /// As sinter_model_open_memory.
  static Result<Model> openMemory(std::span<const std::byte> bytes,
                                  const std::string &name = "model",
                                  const std::string &folder = "",
                                  Options options = {}) {
    return made(options, [&](auto given, auto model, auto error) {
      return sinter_model_open_memory(bytes.data(), bytes.size(), name.c_str(),
                                      folder.empty() ? nullptr : folder.c_str(),
                                      given, model, error);
    });
  }

  Result<Session> compile(Options options = {}) const {
    auto given = detail::make(options);
    if (!given)
      return given.error();
    sinter_session *session = nullptr;
    if (auto done = detail::checked([&](auto error) {
          return sinter_compile(owned.get(), given->get(), &session, error);
        });
        !done)
      return done.error();
    return Session(session);
  }

  /// The simplified model.
  Result<Model> optimize(Options options = {}) const {
    return made(options, [&](auto given, auto model, auto error) {
      return sinter_model_optimize(owned.get(), given, model, nullptr, error);
    });
  }

  Result<void> save(const std::string &path, Options options = {}) const {
    auto given = detail::make(options);
    if (!given)
      return given.error();
    return detail::checked([&](auto error) {
      return sinter_model_save(owned.get(), path.c_str(), given->get(), error);
    });
  }

  sinter_model *get() const { return owned.get(); }

private:
  /// The model that \p call makes.
  template <typename Call>
  static Result<Model> made(Options options, Call &&call) {
    auto given = detail::make(options);
    if (!given)
      return given.error();
    sinter_model *model = nullptr;
    if (auto done = detail::checked(
            [&](auto error) { return call(given->get(), &model, error); });
        !done)
      return done.error();
    return Model(model);
  }

  detail::Owned<sinter_model, sinter_model_free> owned;
};

} // namespace v1
} // namespace sinter

#endif // SINTER_HPP
