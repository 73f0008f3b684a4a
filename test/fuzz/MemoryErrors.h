//===- MemoryErrors.h - what valgrind finds belongs to an input -----------===//

#ifndef SINTER_TEST_FUZZ_MEMORYERRORS_H
#define SINTER_TEST_FUZZ_MEMORYERRORS_H

#include <cstdlib>
#include <valgrind/valgrind.h>

namespace sinter {

/// Stands for as long as an input is read. If the program runs under valgrind,
/// and that has found an error by the end, ends it, so that libFuzzer keeps the
/// input.
struct AbortOnMemoryErrors {
  ~AbortOnMemoryErrors() {
    if (VALGRIND_COUNT_ERRORS)
      std::abort();
  }
};

} // namespace sinter

#endif // SINTER_TEST_FUZZ_MEMORYERRORS_H
