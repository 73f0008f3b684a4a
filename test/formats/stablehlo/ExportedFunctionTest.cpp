//===- ExportedFunctionTest.cpp - what jax.export serialises --------------===//

#include "formats/stablehlo/ExportedFunction.h"
#include "runtime/ByteStream.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>

using namespace sinter;

namespace {

template <typename T> void append(std::string &text, T value) {
  text.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

/// A FlatBuffer with a table whose field 13 is a vector of \p content.
std::string exported(const std::string &content) {
  constexpr uint16_t fields = 14, tableSize = 8;
  const uint32_t description = 4;
  const uint32_t table = description + 4 + 2 * fields;
  std::string text;
  append<uint32_t>(text, table);
  append<uint16_t>(text, 4 + 2 * fields);
  append<uint16_t>(text, tableSize);
  for (int field = 0; field < fields; ++field)
    append<uint16_t>(text, field == 13 ? 4 : 0);
  append<int32_t>(text, table - description);
  append<uint32_t>(text, 4);
  append<uint32_t>(text, content.size());
  return text + content;
}

const std::string artifact = std::string("ML\xefR\x0dStableHLO_v1.0.0") + '\0';

TEST(ExportedFunction, HoldsAnArtifact) {
  const std::string file = exported(artifact);
  auto found = artifactInExported(bytesOf(file));
  ASSERT_TRUE(found);
  EXPECT_EQ(
      std::string(reinterpret_cast<const char *>(found->data()), found->size()),
      artifact);
}

TEST(ExportedFunction, IsToldByTheArtifact) {
  EXPECT_FALSE(artifactInExported(bytesOf(exported("no bytecode"))));
  EXPECT_FALSE(artifactInExported(bytesOf("module {}")));
  EXPECT_FALSE(artifactInExported({}));
}

TEST(ExportedFunction, SurvivesTruncationAndFlippedBits) {
  const std::string file = exported(artifact);
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(artifactInExported(bytesOf(file.substr(0, size))));
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    // On the heap and of the exact size, for the sanitizer to see.
    std::string flipped = file;
    flipped[bit / 8] ^= 1 << (bit % 8);
    if (auto found = artifactInExported(bytesOf(flipped)))
      EXPECT_LE(found->size(), flipped.size());
  }
}

} // namespace
