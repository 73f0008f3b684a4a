// Tests of kernels that machines with matrix units do not choose.

#ifndef SINTER_TEST_BACKEND_CPU_WITHOUTMATRIXUNITS_H
#define SINTER_TEST_BACKEND_CPU_WITHOUTMATRIXUNITS_H

#include "backend/cpu/target/Target.h"

#include <gtest/gtest.h>

/// Skips a test that expects the plan, or the exactness, of the kernels without
/// matrix units, where this machine has some.
#define SINTER_SKIP_WITH_MATRIX_UNITS()                                        \
  if (sinter::cpu::Target::host()->hasMatrixUnits)                             \
  GTEST_SKIP() << "this machine has matrix units, and takes other kernels"

#endif // SINTER_TEST_BACKEND_CPU_WITHOUTMATRIXUNITS_H
