#include "data/StepArrays.h"

#include "runtime/MachineMemory.h"
#include "runtime/Strings.h"

#include <algorithm>
#include <cstring>

namespace sinter {

/// Memory for \p steps steps whose outputs are like \p results.
Result<void> StepArrays::makeRoom(const std::vector<Tensor> &results,
                                  size_t steps) {
  uint64_t left = memoryOfMachine();
  all.resize(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (areLast[i])
      continue;
    Shape shape = results[i].shape();
    shape.insert(shape.begin(), static_cast<int64_t>(steps));
    const std::optional<int64_t> bytes = byteCount(results[i].type(), shape);
    if (!bytes || static_cast<uint64_t>(*bytes) > left)
      return systemError("what " + std::to_string(steps) +
                         " steps give takes more memory than this machine "
                         "has: output '" +
                         specs[i].name + "', " +
                         toString(results[i].type(), shape));
    left -= static_cast<uint64_t>(*bytes);
    Result<Tensor> made = Tensor::allocate(results[i].type(), shape);
    if (!made)
      return made.takeError();
    if (room > 0 && all[i].bytes() != 0)
      std::memcpy(made->mutableBytes(), all[i].data(), all[i].bytes());
    all[i] = std::move(*made);
  }
  room = steps;
  return {};
}

Result<void> StepArrays::add(const std::vector<Tensor> &results) {
  if (done == room) {
    constexpr size_t few = 64;
    const size_t wanted =
        count ? std::max(*count, done + 1) : std::max(few, 2 * room);
    if (Result<void> made = makeRoom(results, wanted); !made)
      return made;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (areLast[i]) {
      all[i] = results[i];
      continue;
    }
    const std::span<const int64_t> shape(all[i].shape());
    if (results[i].type() != all[i].type() ||
        !std::ranges::equal(shape.subspan(1), results[i].shape()))
      return usageError("output '" + specs[i].name +
                        "' has another shape in step " + std::to_string(done) +
                        ", " + toString(results[i].type(), results[i].shape()) +
                        ", so that what all steps give is no one array");
    if (isString(results[i].type()))
      held.push_back(results[i]);
    if (results[i].bytes() != 0)
      std::memcpy(all[i].mutableBytes() + done * results[i].bytes(),
                  results[i].data(), results[i].bytes());
  }
  ++done;
  return {};
}

/// Steps \p first to \p end of \p array, which has them as first dimension.
static Tensor stepsOf(const Tensor &array, size_t first, size_t end) {
  Shape shape = array.shape();
  const size_t bytes =
      array.bytes() / static_cast<size_t>(std::max<int64_t>(shape[0], 1));
  shape[0] = static_cast<int64_t>(end - first);
  auto owner = std::make_shared<const Tensor>(array);
  const std::byte *data = owner->data() + first * bytes;
  return Tensor::share(array.type(), std::move(shape), data, std::move(owner));
}

std::vector<Tensor> StepArrays::arrays() const {
  std::vector<Tensor> given;
  for (size_t i = 0; i < all.size(); ++i)
    given.push_back(holdStrings(
        areLast[i] || done == room ? all[i] : stepsOf(all[i], 0, done)));
  return given;
}

std::vector<Tensor> StepArrays::at(size_t step) const {
  std::vector<Tensor> given;
  for (size_t i = 0; i < all.size(); ++i) {
    if (areLast[i])
      continue;
    Tensor row = holdStrings(stepsOf(all[i], step, step + 1));
    given.push_back(
        row.reshaped(Shape(row.shape().begin() + 1, row.shape().end())));
  }
  return given;
}

std::vector<TensorSpec> StepArrays::ownSpecs() const {
  std::vector<TensorSpec> own;
  for (size_t i = 0; i < specs.size(); ++i)
    if (!areLast[i])
      own.push_back(specs[i]);
  return own;
}

} // namespace sinter
