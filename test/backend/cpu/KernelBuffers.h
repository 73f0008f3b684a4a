//===- KernelBuffers.h - aligned arrays of random numbers -----------------===//

#ifndef SINTER_TEST_BACKEND_CPU_KERNELBUFFERS_H
#define SINTER_TEST_BACKEND_CPU_KERNELBUFFERS_H

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>

namespace sinter::cpu {

/// 64-byte aligned numbers between guards: whoever writes next to the array is
/// found by guardsAreIntact.
class Floats {
public:
  explicit Floats(int64_t size, float value = 0)
      : count(size), memory(static_cast<float *>(std::aligned_alloc(
                                64, (size + 3 * guard) / guard * guard * 4)),
                            &std::free) {
    std::fill_n(memory.get(), size + 2 * guard, guardValue);
    std::fill_n(data(), size, value);
  }
  float *data() const { return memory.get() + guard; }
  float &operator[](int64_t index) const { return data()[index]; }
  int64_t size() const { return count; }

  void randomize(std::mt19937 &generator) {
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (int64_t i = 0; i < count; ++i)
      data()[i] = distribution(generator);
  }
  bool guardsAreIntact() const {
    for (int64_t i = 0; i < guard; ++i)
      if (memory.get()[i] != guardValue || data()[count + i] != guardValue)
        return false;
    return true;
  }

private:
  static constexpr int64_t guard = 16;
  static constexpr float guardValue = 12345.0f;
  int64_t count;
  std::unique_ptr<float, decltype(&std::free)> memory;
};

} // namespace sinter::cpu

#endif // SINTER_TEST_BACKEND_CPU_KERNELBUFFERS_H
