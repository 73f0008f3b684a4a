// This machine without its matrix units, if it has some: for tests that expect
// the plan, or the exactness, of other kernels.

#ifndef SINTER_TEST_BACKEND_CPU_WITHOUTMATRIXUNITS_H
#define SINTER_TEST_BACKEND_CPU_WITHOUTMATRIXUNITS_H

#include "backend/cpu/target/CpuOptions.h"

namespace sinter::test {

inline cpu::Target hostWithoutMatrixUnits() {
  return *cpu::Target::host("-amx-tile,-amx-bf16,-amx-int8");
}

/// Compiles for that.
inline cpu::CpuOptions optionsWithoutMatrixUnits() {
  cpu::CpuOptions options;
  options.target = hostWithoutMatrixUnits();
  return options;
}

} // namespace sinter::test

#endif // SINTER_TEST_BACKEND_CPU_WITHOUTMATRIXUNITS_H
