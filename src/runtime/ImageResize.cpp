#include "runtime/ImageResize.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace sinter {

namespace {

/// The source pixels that \p taps need.
struct NeededPixels {
  int64_t begin = 0, end = 0;

  explicit NeededPixels(const std::vector<ImageTaps> &taps) {
    if (taps.empty())
      return;
    begin = taps.front().first;
    for (const ImageTaps &each : taps) {
      begin = std::min(begin, each.first);
      end = std::max(end, each.first + std::ssize(each.weights));
    }
  }
};

/// Weighted sums of \p count rows' elements: element j of the result is the sum
/// over i of weights[i] * source[i * stride + j]. They are added up one after
/// the other, in registers.
template <typename T>
[[gnu::always_inline]] inline void
sumRowsHere(const T *__restrict source, int64_t stride,
            const std::vector<float> &weights, int64_t count,
            float *__restrict target) {
  constexpr int64_t block = 64;
  int64_t begin = 0;
  for (; begin + block <= count; begin += block) {
    float sums[block] = {};
    const T *from = source + begin;
    for (float weight : weights) {
      for (int64_t j = 0; j < block; ++j)
        sums[j] += weight * static_cast<float>(from[j]);
      from += stride;
    }
    std::memcpy(target + begin, sums, sizeof(sums));
  }
  for (; begin < count; ++begin) {
    float sum = 0;
    const T *from = source + begin;
    for (float weight : weights) {
      sum += weight * static_cast<float>(*from);
      from += stride;
    }
    target[begin] = sum;
  }
}

#if defined(__x86_64__)
// No fused multiply-add, so that results are the same on every machine.
template <typename T>
[[gnu::target("avx2")]] void sumRowsWide(const T *source, int64_t stride,
                                         const std::vector<float> &weights,
                                         int64_t count, float *target) {
  sumRowsHere(source, stride, weights, count, target);
}

bool hasWideVectors() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

template <typename T>
void sumRows(const T *source, int64_t stride, const std::vector<float> &weights,
             int64_t count, float *target) {
#if defined(__x86_64__)
  if (hasWideVectors())
    return sumRowsWide(source, stride, weights, count, target);
#endif
  sumRowsHere(source, stride, weights, count, target);
}

/// The weighted sum of columns of one channel.
void sumOneColumn(const float *source, const std::vector<float> &weights,
                  float *target) {
  float sum = 0;
  for (float weight : weights)
    sum += weight * *source++;
  *target = sum;
}

/// The same of three channels by vectors of four, the last of which is nothing:
/// there must be a value behind the last one.
void sumThreeColumns(const float *source, const std::vector<float> &weights,
                     float *target) {
  using Four = float __attribute__((vector_size(16)));
  Four sums = {};
  for (float weight : weights) {
    Four values;
    std::memcpy(&values, source, sizeof(values));
    sums += weight * values;
    source += 3;
  }
  for (int j = 0; j < 3; ++j)
    target[j] = sums[j];
}

/// \p taps of the columns of a row of pixels, of which the first is column \p
/// left; a value is behind the last one.
void resizeRow(const float *row, int64_t left, int64_t channels,
               const std::vector<ImageTaps> &taps, float *target) {
  for (const ImageTaps &each : taps) {
    const float *source = row + (each.first - left) * channels;
    if (channels == 3)
      sumThreeColumns(source, each.weights, target);
    else
      sumOneColumn(source, each.weights, target);
    target += channels;
  }
}

/// A cubic filter exceeds the range of its values, which is cut off.
void cutOff(std::vector<float> &values) {
  for (float &value : values)
    value = std::clamp(value, 0.0F, 255.0F);
}

/// An image, and what of it becomes a picture.
struct Resizing {
  const uint8_t *pixels;
  int64_t width, channels;
  std::vector<ImageTaps> rows, columns;

  /// Rows first, which are long and contiguous: each is made when it is needed.
  std::vector<float> rowsFirst() const;
  /// What a cubic filter cuts off depends on the order; this is Pillow's.
  std::vector<float> columnsFirst() const;
  size_t size() const {
    return rows.size() * columns.size() * static_cast<size_t>(channels);
  }
};

std::vector<float> Resizing::rowsFirst() const {
  const NeededPixels needed(columns);
  const int64_t stride = width * channels;
  const int64_t count = (needed.end - needed.begin) * channels;
  std::vector<float> result(size()), row(static_cast<size_t>(count) + 1);
  float *target = result.data();
  for (const ImageTaps &each : rows) {
    sumRows(pixels + each.first * stride + needed.begin * channels, stride,
            each.weights, count, row.data());
    resizeRow(row.data(), needed.begin, channels, columns, target);
    target += columns.size() * static_cast<size_t>(channels);
  }
  return result;
}

std::vector<float> Resizing::columnsFirst() const {
  const NeededPixels needed(rows);
  const int64_t stride = width * channels;
  const int64_t count = std::ssize(columns) * channels;
  std::vector<float> row(static_cast<size_t>(stride) + 1),
      narrow(static_cast<size_t>((needed.end - needed.begin) * count)),
      result(size());
  for (int64_t i = needed.begin; i < needed.end; ++i) {
    std::copy_n(pixels + i * stride, stride, row.begin());
    resizeRow(row.data(), 0, channels, columns,
              narrow.data() + (i - needed.begin) * count);
  }
  cutOff(narrow);
  float *target = result.data();
  for (const ImageTaps &each : rows) {
    sumRows(narrow.data() + (each.first - needed.begin) * count, count,
            each.weights, count, target);
    target += count;
  }
  cutOff(result);
  return result;
}

} // namespace

Picture resizedPicture(const Tensor &image, const ImageAxes &axes,
                       Interpolation how) {
  const std::span<const uint8_t> pixels = image.values<uint8_t>();
  const auto lengthOf = [](const ImageAxis &axis) {
    return axis.end() - axis.begin();
  };
  const auto tapsOf = [&](const ImageAxis &axis) {
    return imageTaps(axis.from, axis.scaled, axis.begin(), axis.end(), how);
  };
  const auto &[rows, columns] = axes;
  Picture picture{lengthOf(rows), lengthOf(columns), image.dim(2), {}};
  if (rows.isWhole() && columns.isWhole()) {
    picture.values.assign(pixels.begin(), pixels.end());
    return picture;
  }
  const Resizing resizing{pixels.data(), image.dim(1), picture.channels,
                          tapsOf(rows), tapsOf(columns)};
  picture.values = how == Interpolation::Bicubic ? resizing.columnsFirst()
                                                 : resizing.rowsFirst();
  return picture;
}

} // namespace sinter
