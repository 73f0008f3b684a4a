//===- TestFile.h - a file of programs that check themselves --------------===//

#ifndef SINTER_ENGINE_TESTFILE_H
#define SINTER_ENGINE_TESTFILE_H

#include "engine/Compiler.h"
#include "runtime/FloatMode.h"

#include <functional>
#include <string>
#include <vector>

namespace sinter {

/// How test programs are to be run.
struct TestRequest : CodeOptions {
  bool interpret = false;
  /// For the compiler.
  PassOptions passes;
  unsigned threads = 1;
  /// Gets what programs print.
  std::function<void(const std::string &)> print;
};

/// What came of one program.
struct TestOutcome {
  enum class Status { Passed, Failed, Skipped };
  Status status = Status::Passed;
  /// Why it failed or was skipped.
  std::string reason;
  /// What was noted on the way.
  std::vector<std::string> notes;
};

/// Is told of each case, before and after.
class TestObserver {
public:
  virtual ~TestObserver() = default;
  /// Whether to run this one. \p name tells it from the others of its file;
  /// empty where there is but one.
  virtual bool begin(const std::string &name) = 0;
  virtual void end(const TestOutcome &outcome) = 0;
};

} // namespace sinter

#endif // SINTER_ENGINE_TESTFILE_H
