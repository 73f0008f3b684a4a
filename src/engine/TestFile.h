//===- TestFile.h - a file of self-checking programs ----------------------===//

#ifndef SINTER_ENGINE_TESTFILE_H
#define SINTER_ENGINE_TESTFILE_H

#include "engine/Compiler.h"
#include "runtime/FloatMode.h"

#include <functional>
#include <string>
#include <vector>

namespace sinter {

/// Options of running test programs.
struct TestRequest : CodeOptions {
  bool interpret = false;
  /// For the compiler.
  PassOptions passes;
  unsigned threads = 1;
  /// Gets what programs print.
  std::function<void(const std::string &)> print;
};

/// The result of one program.
struct TestOutcome {
  enum class Status { Passed, Failed, Skipped };
  Status status = Status::Passed;
  /// Why it failed or was skipped.
  std::string reason;
  /// Notes.
  std::vector<std::string> notes;
};

/// Called before and after each case.
class TestObserver {
public:
  virtual ~TestObserver() = default;
  /// Whether to run this one. \p name identifies it in its file; empty if there
  /// is only one.
  virtual bool begin(const std::string &name) = 0;
  virtual void end(const TestOutcome &outcome) = 0;
};

} // namespace sinter

#endif // SINTER_ENGINE_TESTFILE_H
