//===- MachineCeilings.h - peak rates of one thread of a machine ----------===//

#ifndef SINTER_RUNTIME_MACHINECEILINGS_H
#define SINTER_RUNTIME_MACHINECEILINGS_H

#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

/// Arithmetic on values in registers.
struct ArithmeticCeiling {
  std::string name;        ///< "f32", "i8", "tiles-bf16"
  std::string instruction; ///< What it is done with, in a few words.
  double gops = 0;         ///< 10^9 multiplications and additions a second.
};

/// Repeated reads of a buffer.
struct BandwidthCeiling {
  /// "L1", "L2", "L3", "DRAM"; "tiles": the second-level cache, by tile loads
  /// between AMX multiplications, which hide some of the time.
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
