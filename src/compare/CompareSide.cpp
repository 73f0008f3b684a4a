//===- CompareSide.cpp - one of two models that are compared --------------===//

#include "compare/CompareSide.h"

#include "runtime/ElementDispatch.h"
#include "runtime/Strings.h"

namespace sinter {

Result<CompareSide> CompareSide::open(std::string path, std::string what,
                                      SessionOptions options,
                                      const InputOptions &inputs) {
  CompareSide side;
  side.backend = options.backend;
  side.interpretsRewritten = options.interpretsRewritten;
  side.cancellation = options.passes.cancellation;
  auto session = openWithDefaults(path, std::move(options), inputs);
  if (!session)
    return session.takeError();
  side.path = std::move(path);
  side.what = std::move(what);
  side.session = std::move(*session);
  return side;
}

Result<RunValues> CompareSide::run(const StateOptions &states,
                                   std::span<const int64_t> observed,
                                   const RunObserver &observer) {
  if (Result<void> ready = session->prepare(inputs, observed); !ready)
    return ready.takeError();
  Executor &executor = session->executor();
  executor.resetStates();
  if (Result<void> given = giveStates(executor, states); !given)
    return inFile(given.takeError(), path);
  RunValues values;
  std::map<int64_t, size_t> times;
  executor.setObserver([&](std::string_view name, const Tensor &value) {
    const std::optional<int64_t> found = observedNumber(name);
    if (!found)
      return;
    const int64_t number = *found;
    const size_t time = times[number]++;
    if (time >= mostTimesObserved)
      return;
    if (observer)
      return observer(number, time, value);
    // The program owns the bytes.
    values.observed[number].push_back(holdStrings(Tensor::of<std::byte>(
        value.type(), value.shape(), {value.data(), value.bytes()})));
  });
  Result<std::vector<Tensor>> outputs =
      executor.run(inputs, cancellation.get());
  executor.setObserver({});
  if (!outputs)
    return inFile(outputs.takeError(), path);
  values.outputs = std::move(*outputs);
  values.states = statesOf(executor);
  outputSpecs.assign(executor.outputs().begin(), executor.outputs().end());
  stateSpecs.assign(executor.states().begin(), executor.states().end());
  return values;
}

namespace {

/// The same values as floats of another width.
Tensor floatsAs(const Tensor &tensor, ElementType type) {
  Tensor converted(type, tensor.shape());
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!isStdComplex<T> && !std::is_integral_v<T>)
      for (int64_t i = 0; i < tensor.size(); ++i)
        converted.set(i, static_cast<T>(tensor.toDouble(i)));
  });
  return converted;
}

std::string inputList(const CompareSide &side) {
  std::string list;
  for (const ModelInput &input : side.session->model().inputs)
    list +=
        (list.empty() ? "'" : ", '") + input.spec.name + "' " + input.text();
  return list.empty() ? "no inputs" : list;
}

/// The index in \p first of each input of \p other.
Result<std::vector<size_t>>
placesOf(const CompareSide &first, const CompareSide &other,
         const std::function<void(const std::string &)> &note) {
  const ModelDescription &from = first.session->model(),
                         &to = other.session->model();
  std::vector<size_t> places;
  for (const ModelInput &input : to.inputs)
    if (const auto place = from.inputNamed(input.spec.name))
      places.push_back(*place);
  if (places.size() == to.inputs.size())
    return places;
  if (from.inputs.size() != to.inputs.size())
    return usageError("the models take different inputs: " + first.path +
                      " takes " + inputList(first) + "; " + other.path +
                      " takes " + inputList(other));
  note("the inputs have different names and are matched by their order: " +
       inputList(first) + "; " + inputList(other));
  for (size_t i = places.size(); i-- > 0;)
    places[i] = i;
  for (size_t i = places.size(); i < to.inputs.size(); ++i)
    places.push_back(i);
  return places;
}

bool fits(const ModelInput &input, const Shape &shape) {
  if (!input.ranked)
    return true;
  if (input.spec.shape.size() != shape.size())
    return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!input.sizesAreHints && input.spec.shape[i] >= 0 &&
        input.spec.shape[i] != shape[i])
      return false;
  return true;
}

} // namespace

bool accepts(const CompareSide &first, const CompareSide &other,
             const std::vector<Shape> &shapes) {
  const auto places = placesOf(first, other, [](const std::string &) {});
  if (!places)
    return false;
  std::vector<Shape> own;
  for (size_t i = 0; i < places->size(); ++i) {
    own.push_back(shapes[(*places)[i]]);
    if (!fits(other.session->model().inputs[i], own.back()))
      return false;
  }
  return other.session->accepts(own);
}

Result<void> shareInputs(CompareSide &first, CompareSide &other,
                         const std::function<void(const std::string &)> &note,
                         const CompareNames &names) {
  Result<std::vector<size_t>> places = placesOf(first, other, note);
  if (!places)
    return places.takeError();
  for (size_t i = 0; i < places->size(); ++i) {
    Tensor &tensor = first.inputs[(*places)[i]];
    const ModelInput &input = other.session->model().inputs[i];
    const ElementType type = input.spec.type;
    const bool areFloats = isFloat(tensor.type()) && isFloat(type);
    if (!fits(input, tensor.shape()) || (tensor.type() != type && !areFloats))
      return usageError("input '" + input.spec.name + "' is " +
                        toString(tensor.type(), tensor.shape()) + " for " +
                        first.path + ", but " + other.path + " takes " +
                        input.text() +
                        (fits(input, tensor.shape())
                             ? ""
                             : "; " + names.shapes +
                                   " sets the unknown dimensions of inputs"));
    if (tensor.type() == type) {
      other.inputs.push_back(tensor);
      continue;
    }
    note("input '" + input.spec.name + "' is " +
         std::string(name(tensor.type())) + " in one model and " +
         std::string(name(type)) +
         " in the other: both get values that both "
         "can hold");
    const Tensor narrow = floatsAs(tensor, type);
    other.inputs.push_back(floatsAs(floatsAs(narrow, tensor.type()), type));
    tensor = floatsAs(narrow, tensor.type());
  }
  return {};
}

Result<std::vector<SampleSizes>> sizesToCompare(CompareSide &first,
                                                const CompareSide &second,
                                                const InputOptions &inputs,
                                                const NamedShapes &shapes) {
  const bool isSame = first.path == second.path;
  auto chosen = sizesToCheck(*first.session, first.path, inputs, shapes,
                             [&](const std::vector<Shape> &sizes) {
                               return isSame || accepts(first, second, sizes);
                             });
  // Binding reports the missing sizes.
  if (chosen && chosen->empty())
    chosen->emplace_back();
  return chosen;
}

Result<std::vector<Tensor>> inputsAt(const CompareSide &side,
                                     const SampleSizes &of,
                                     const InputOptions &inputs,
                                     NamedShapes shapes) {
  if (!of.chosen.empty()) {
    for (size_t i = 0; i < of.shapes.size(); ++i)
      shapes[side.session->model().inputs[i].spec.name] = of.shapes[i];
    side.session->setShapes(shapes);
  }
  return loadInputs(*side.session, side.path, inputs, shapes,
                    /*fillRandom=*/true);
}

} // namespace sinter
