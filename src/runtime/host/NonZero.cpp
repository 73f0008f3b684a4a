//===- NonZero.cpp - the indices of elements that are not zero ------------===//

#include "runtime/host/Builtin.h"

#include <algorithm>
#include <cstring>

namespace sinter::host {

Result<void> nonZero(const HostCall &call) {
  const Tensor &flags = call.inputs[0];
  Tensor &places = call.outputs[0];
  const auto rank = static_cast<int64_t>(flags.shape().size());
  if (byteSize(flags.type()) != 1 || places.type() != ElementType::I64 ||
      places.rank() != 2 || places.dim(0) != rank)
    return invalidModel("the indices of elements are not [rank, count]");
  const int64_t count = places.dim(1);
  const std::span<int64_t> to = places.mutableValues<int64_t>();
  // The index of the present row, without the last dimension.
  Shape row(flags.shape().begin(), flags.shape().end());
  std::ranges::fill(row, 0);
  const int64_t width = rank == 0 ? 1 : flags.dim(rank - 1);
  int64_t found = 0;
  for (int64_t first = 0; first < flags.size(); first += width) {
    const std::byte *begin = flags.data() + first;
    for (const std::byte *at = begin; at != begin + width; ++at) {
      if (*at == std::byte(0))
        continue;
      if (found == count)
        return systemError("there are more elements than were counted");
      for (int64_t dim = 0; dim + 1 < rank; ++dim)
        to[dim * count + found] = row[dim];
      if (rank != 0)
        to[(rank - 1) * count + found] = at - begin;
      ++found;
    }
    for (int64_t dim = rank - 1; dim-- > 0;) {
      if (++row[dim] < flags.dim(dim))
        break;
      row[dim] = 0;
    }
  }
  return found == count ? Result<void>()
                        : systemError("there are fewer elements than were "
                                      "counted");
}

} // namespace sinter::host
