//===- BreakForTest.h - deliberate defects --------------------------------===//
//
// Programs that check others must find defects, which a correct compiler does
// not have. So the environment variable SINTER_BREAK_FOR_TEST introduces one of
// a few, in every build, and DynamicChecksTest.py (test/driver) asks every
// checker to find each. Programs compiled this way have cache keys of their
// own.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_BREAKFORTEST_H
#define SINTER_RUNTIME_BREAKFORTEST_H

#include <cstdlib>
#include <string_view>

namespace sinter {

/// "border": convolutions of 8-bit integers on blocks of channels pad dynamic
/// dimensions with another value than the zero point.
/// "guard": runs do not check the shape guards of a dynamic program.
/// Empty: no defect.
inline std::string_view brokenForTest() {
  const char *text = std::getenv("SINTER_BREAK_FOR_TEST");
  return text ? text : "";
}

} // namespace sinter

#endif // SINTER_RUNTIME_BREAKFORTEST_H
