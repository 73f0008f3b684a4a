// Covers: runtime OptionNames Utf8

#include "runtime/Result.h"
#include "runtime/OptionNames.h"

#include <gtest/gtest.h>

using namespace sinter;

TEST(Error, IsOneLine) {
  EXPECT_EQ(
      invalidModel("block with no terminator, has \n  %0 = f()\n").message(),
      "block with no terminator, has %0 = f()");
  EXPECT_EQ(unsupported("a\n\n  b\nc").message(), "a b c");
  EXPECT_EQ(usageError("\nname 'a\tb\x7f'").message(), "name 'a?b?'");
  EXPECT_EQ(systemError("  kept as  it is").message(), "  kept as  it is");
}

/// What a terminal takes for a command, or for a change of direction.
TEST(Error, HasNoControlCharacters) {
  EXPECT_EQ(oneLine("\x1b[31m\x07"), "?[31m?");
  EXPECT_EQ(oneLine("a\xc2\x80"
                    "b\xc2\x9b"
                    "c\xc2\x9f"),
            "a?b?c?");
  EXPECT_EQ(oneLine("a\xe2\x80\xae"
                    "b\xe2\x81\xa6"
                    "c\xd8\x9c"
                    "d\xe2\x80\xa8"
                    "e\xe2\x80\x8f"),
            "a?b?c?d?e?");
  // Other characters stay: no-break space, dash, Arabic, quotation marks.
  const std::string plain = "\xc2\xa0 \xe2\x80\x93 \xd8\xa7 \xe2\x80\x9c";
  EXPECT_EQ(oneLine(plain), plain);
  // What is no UTF-8 has no meaning but for old terminals.
  EXPECT_EQ(oneLine("a\x9b"
                    "b\xff\xc3"),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Error, NamesWhereAndWhatWouldHelp) {
  Error error = withHint("try b", unsupported("it is bad"));
  error = atNode("node 'n' (Conv)", "n", "Conv", std::move(error));
  error = inFile(inside("in branch 0", std::move(error)), "m.onnx");
  EXPECT_EQ(error.message(),
            "m.onnx: in branch 0: node 'n' (Conv): it is bad; try b");
  EXPECT_EQ(error.what, "it is bad");
  EXPECT_EQ(error.file, "m.onnx");
  EXPECT_EQ(error.node, "n");
  EXPECT_EQ(error.op, "Conv");
  EXPECT_EQ(error.hint, "try b");
  // What is known already stays: it is more exact.
  error = inFile(atNode("call", "outer", "func.call", std::move(error)), "x");
  EXPECT_EQ(error.node, "n");
  EXPECT_EQ(error.file, "m.onnx");
}

TEST(Error, NamesAFileOnce) {
  EXPECT_EQ(
      inFile(systemError("cannot open 'a.npy': denied"), "a.npy").message(),
      "cannot open 'a.npy': denied");
  // A short name may be within a word.
  EXPECT_EQ(inFile(invalidModel("empty"), "m").message(), "m: empty");
  Error error = inFile(invalidModel("no such value"), "a.mlir");
  error.position = "3:7";
  EXPECT_EQ(error.message(), "a.mlir:3:7: no such value");
}

TEST(OptionNames, AreThoseOfALibrary) {
  // Those of a command line are for the command alone: test/driver sees them.
  EXPECT_EQ(optionText("shape"), "shape");
}
