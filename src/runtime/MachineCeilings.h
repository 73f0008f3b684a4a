//===- MachineCeilings.h - what one thread of a machine can do at most ----===//

#ifndef SINTER_RUNTIME_MACHINECEILINGS_H
#define SINTER_RUNTIME_MACHINECEILINGS_H

#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

/// Arithmetic on numbers that are in registers.
struct ArithmeticCeiling {
  std::string name;        ///< "f32", "i8", "tiles-bf16"
  std::string instruction; ///< What it is done with, in a few words.
  double gops = 0;         ///< 10^9 multiplications and additions a second.
};

/// Reading of memory that was read before.
struct BandwidthCeiling {
  /// "L1", "L2", "L3", "DRAM"; "tiles": the second-level cache, by matrix units
  /// between products, which hide some of the time.
  std::string level;
  int64_t bytes = 0; ///< How much is read again and again.
  double gbPerSecond = 0;
};

struct MachineCeilings {
  std::vector<ArithmeticCeiling> arithmetic;
  std::vector<BandwidthCeiling> bandwidth;
};

} // namespace sinter

#endif // SINTER_RUNTIME_MACHINECEILINGS_H
