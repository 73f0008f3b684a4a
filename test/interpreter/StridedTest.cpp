#include "interpreter/Strided.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace sinter;
using namespace sinter::interpreter;

namespace {

/// A tensor whose elements all differ.
Tensor numbered(ElementType type, const Shape &shape) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    std::memcpy(tensor.mutableBytes() + i * byteSize(type), &i,
                std::min(byteSize(type), sizeof(i)));
  return tensor;
}

/// More than a block along each dimension but the first.
const Shape shape = {3, 70, 45};

} // namespace

TEST(Strided, TransposesWholeBlocksAndRests) {
  for (ElementType type : {ElementType::UI8, ElementType::F16, ElementType::F32,
                           ElementType::F64, ElementType::C128}) {
    const Tensor tensor = numbered(type, shape);
    const std::vector<int64_t> strides = rowMajorStrides(shape);
    std::vector<int64_t> order = {0, 1, 2};
    do {
      const Tensor result = transposed(tensor, order);
      int64_t place = 0;
      for (int64_t i = 0; i < shape[order[0]]; ++i)
        for (int64_t j = 0; j < shape[order[1]]; ++j)
          for (int64_t k = 0; k < shape[order[2]]; ++k) {
            const int64_t from = i * strides[order[0]] + j * strides[order[1]] +
                                 k * strides[order[2]];
            const size_t bytes = byteSize(type);
            ASSERT_EQ(std::memcmp(result.data() + place++ * bytes,
                                  tensor.data() + from * bytes, bytes),
                      0)
                << i << ' ' << j << ' ' << k;
          }
    } while (std::ranges::next_permutation(order).found);
  }
}

/// Elements of one column, each repeated, and read backwards.
TEST(Strided, RepeatsAlongTheNearestAxis) {
  const Tensor tensor = numbered(ElementType::F32, {70, 45});
  Tensor result(ElementType::F32, {2, 70, 45});
  copyBox(4, result.shape(), result.mutableBytes(), rowMajor(result.shape()),
          tensor.data(), {69 * 45, {0, 1, -45}});
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 44; ++j)
      for (int64_t k = 0; k < 45; ++k)
        ASSERT_EQ(result.at<int32_t>((i * 70 + j) * 45 + k), (69 - k) * 45 + j);
}
