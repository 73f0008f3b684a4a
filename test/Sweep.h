//===- Sweep.h - the part of a sweep that a test takes --------------------===//

#ifndef SINTER_TEST_SWEEP_H
#define SINTER_TEST_SWEEP_H

#include <cstdint>
#include <cstdlib>

namespace sinter::test {

/// The cells of a sweep that a test goes through: all of them, or one in so
/// many, times $SINTER_SWEEP_EVERY where the same code is tested again by a
/// slower build.
/// Those are spread evenly over the sweep, and over each of the loops that it
/// consists of: multiples of the golden ratio have no period.
class Sweep {
public:
  explicit Sweep(uint32_t oneIn = 1) : every(oneIn) {
    if (const char *asked = std::getenv("SINTER_SWEEP_EVERY"))
      if (const int number = std::atoi(asked); number > 1)
        every *= static_cast<uint32_t>(number);
  }

  /// Whether the next cell is one of them; the first is.
  bool takesNext() {
    const uint32_t place = count++ * goldenRatio;
    return place <= UINT32_MAX / every;
  }

private:
  /// 2^32 divided by it.
  static constexpr uint32_t goldenRatio = 2654435769;
  uint32_t every, count = 0;
};

} // namespace sinter::test

#endif // SINTER_TEST_SWEEP_H
