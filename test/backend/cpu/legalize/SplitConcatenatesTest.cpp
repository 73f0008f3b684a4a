//===- SplitConcatenatesTest.cpp - concatenates of very many pieces -------===//

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

/// Slices of %x and %y, `type` each, and the concatenate of them along \p dim.
struct Concatenate {
  std::string type = "f32";
  int64_t rows = 200, columns = 3;
  int dim = 0;
  /// Of a piece along dim: from and to which place, and every which.
  struct Piece {
    int64_t begin, end, stride = 1;
    bool isOfOther = false;
  };
  std::vector<Piece> pieces;

  std::string tensor(int64_t size) const {
    const int64_t shape[] = {dim == 0 ? size : rows, dim == 1 ? size : columns};
    return "tensor<" + std::to_string(shape[0]) + "x" +
           std::to_string(shape[1]) + "x" + type + ">";
  }
  std::string text() const {
    const std::string whole = tensor(dim == 0 ? rows : columns);
    std::string body, names, types;
    int64_t size = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const Piece &piece = pieces[i];
      const int64_t count =
          (piece.end - piece.begin + piece.stride - 1) / piece.stride;
      const std::string along = std::to_string(piece.begin) + ":" +
                                std::to_string(piece.end) + ":" +
                                std::to_string(piece.stride),
                        name = "%s" + std::to_string(i);
      body += "  " + name + " = stablehlo.slice " +
              (piece.isOfOther ? "%y" : "%x") + " [" +
              (dim == 0 ? along + ", 0:" + std::to_string(columns)
                        : "0:" + std::to_string(rows) + ", " + along) +
              "] : (" + whole + ") -> " + tensor(count) + "\n";
      names += (i ? ", " : "") + name;
      types += (i ? ", " : "") + tensor(count);
      size += count;
    }
    return "(%x: " + whole + ", %y: " + whole + ") -> " + tensor(size) +
           " {\n" + body + "  %j = stablehlo.concatenate " + names +
           ", dim = " + std::to_string(dim) + " : (" + types + ") -> " +
           tensor(size) + "\n  return %j : " + tensor(size) + "\n}";
  }
};

size_t kernelsOf(const Concatenate &concatenate) {
  std::shared_ptr<Program> program;
  EXPECT_EQ(differs(concatenate.text(), {}, &program), "");
  return program ? program->kernels.size() : 0;
}

} // namespace

TEST(SplitConcatenates, TakesShortSlicesOfOneTensor) {
  for (const char *type : {"f32", "f16", "i8", "i64"})
    for (int dim : {0, 1}) {
      Concatenate concatenate;
      concatenate.type = type;
      concatenate.dim = dim;
      if (dim == 1)
        std::swap(concatenate.rows, concatenate.columns);
      for (int64_t i = 0; i < 150; ++i) {
        const int64_t at = i * 37 % 190;
        concatenate.pieces.push_back({at, at + 1 + i % 7, 1 + i % 3});
      }
      EXPECT_EQ(kernelsOf(concatenate), 1u) << type << " " << dim;
    }
}

/// Few pieces, long ones, and those of two tensors.
TEST(SplitConcatenates, JoinsABoundedNumberOfAnythingElse) {
  Concatenate few;
  for (int64_t i = 0; i < 64; ++i)
    few.pieces.push_back({i * 3, i * 3 + 2});
  EXPECT_EQ(kernelsOf(few), 1u);
  Concatenate ofTwo;
  for (int64_t i = 0; i < 65; ++i)
    ofTwo.pieces.push_back({i, i + 2, 1, i % 2 == 1});
  // 64 pieces, and the concatenate of them with the last.
  EXPECT_EQ(kernelsOf(ofTwo), 2u);
  Concatenate ofLong;
  for (int64_t i = 0; i < 65; ++i)
    ofLong.pieces.push_back({i, i + 17 + i % 3});
  EXPECT_EQ(kernelsOf(ofLong), 2u);
}
