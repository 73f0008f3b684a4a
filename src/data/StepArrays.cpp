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

/// The first \p count steps of \p array, which has steps as first dimension.
static Tensor firstSteps(const Tensor &array, size_t count) {
  Shape shape = array.shape();
  shape[0] = static_cast<int64_t>(count);
  auto owner = std::make_shared<const Tensor>(array);
  const std::byte *data = owner->data();
  return Tensor::share(array.type(), std::move(shape), data, std::move(owner));
}

std::vector<Tensor> StepArrays::arrays() const {
  std::vector<Tensor> given;
  for (size_t i = 0; i < all.size(); ++i)
    given.push_back(holdStrings(
        areLast[i] || done == room ? all[i] : firstSteps(all[i], done)));
  return given;
}

} // namespace sinter
