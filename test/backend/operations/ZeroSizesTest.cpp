//===- ZeroSizesTest.cpp - every operation on tensors without elements ----===//
//
// Of each operation each dimension is 0 once, known or not. Where it is valid
// so, both backends give the same, or each an error; neither ends the process.
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"
#include "backend/operations/OperationSamples.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace sinter;
using namespace sinter::test;

namespace {

/// Whether a process would have ended.
bool isFatal(const Error &error) { return error.kind == ErrorKind::System; }

bool areSame(const std::vector<Tensor> &a, const std::vector<Tensor> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].shape() != b[i].shape() || a[i].type() != b[i].type())
      return false;
  return a.size() == b.size();
}

/// What is wrong with \p sample, or "".
std::string wrongWith(const OperationSample &sample, int &valid) {
  std::optional<Model> model = validModel(sample.text);
  if (!model)
    return "";
  ++valid;
  const std::vector<Tensor> inputs = sampleInputs(*model, /*unknown=*/0);
  Result<std::vector<Tensor>> expected = interpretGuarded(*model, inputs);
  if (!expected && isFatal(expected.error()))
    return "interpreter: " + expected.error().message();
  Result<std::unique_ptr<Executor>> executor = compiledExecutor(*model);
  if (!executor && isFatal(executor.error()))
    return "compiler: " + executor.error().message();
  Result<std::vector<Tensor>> got =
      executor ? (*executor)->run(inputs)
               : Result<std::vector<Tensor>>(executor.takeError());
  // With unknown sizes, what does not fit is for guards of the program to find,
  // and what is not compiled for them is for known ones.
  const bool isClosed = sample.text.find('?') == std::string::npos;
  // Results without elements are not computed at all.
  const bool isEmpty = got && llvm::all_of(*got, [](const Tensor &each) {
                         return each.size() == 0;
                       });
  if (got && !expected && isClosed && !isEmpty)
    return "only the interpreter refuses it: " + expected.error().message();
  // What is not compiled, the interpreter may run.
  if (!got && expected && isClosed &&
      got.error().kind != ErrorKind::Unsupported)
    return "only the compiled program refuses it: " + got.error().message();
  if (got && expected && !areSame(*got, *expected))
    return "other results";
  Result<Model> parts = decomposed(*model);
  if (!parts)
    return isFatal(parts.error()) ? "decomposition: " + parts.error().message()
                                  : "";
  Result<std::vector<Tensor>> ofParts = interpretGuarded(*parts, inputs);
  if (expected && !ofParts)
    return "only the decomposition refuses it: " + ofParts.error().message();
  if (expected && !areSame(*ofParts, *expected))
    return "other results of the decomposition";
  return "";
}

void walk(const std::string &size) {
  int valid = 0, taken = 0;
  Sweep sweep;
  for (const OperationSample &sample : samplesWithSize(size)) {
    if (!sweep.takesNext())
      continue;
    ++taken;
    const std::string wrong = wrongWith(sample, valid);
    EXPECT_EQ(wrong, "") << sample.name << "\n" << sample.text;
  }
  // Of a tenth the rest allows the size, too.
  EXPECT_GT(10 * valid, taken);
}

TEST(ZeroSizesTest, KnownSizes) { walk("0"); }

TEST(ZeroSizesTest, UnknownSizes) { walk("?"); }

} // namespace
