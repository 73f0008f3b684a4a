//===- PortableArtifactTest.cpp - artifacts, there and back ---------------===//
//
// Covers: formats/stablehlo/vhlo ArtifactReader ArtifactWriter
// Covers: formats/stablehlo/vhlo AttributeConversion BuiltinEntries
// Covers: formats/stablehlo/vhlo BytecodeFile Codes Dialect EntryReader
// Covers: formats/stablehlo/vhlo Expansion ForeignProperties
// Covers: formats/stablehlo/vhlo OperationAttributes OperationModel
// Covers: formats/stablehlo/vhlo OperationReader Operations ShardyEntries Steps
// Covers: formats/stablehlo/vhlo Structures TensorBytes TypeConversion Version

#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/vhlo/ArtifactReader.h"
#include "formats/stablehlo/vhlo/ArtifactWriter.h"
#include "formats/stablehlo/vhlo/Operations.h"
#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace sinter;

namespace {

class PortableArtifact : public testing::Test {
protected:
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, context.get());
  }
  Result<std::string> write(const std::string &text,
                            vhlo::Version version = vhlo::currentVersion) {
    OwningOpRef<ModuleOp> module = parse(text);
    if (!module)
      return invalidModel("the test's text is wrong");
    return vhlo::writeArtifact(*module, version);
  }
  Result<OwningOpRef<ModuleOp>> read(std::string_view bytes) {
    return vhlo::readArtifact(std::as_bytes(std::span(bytes)), nullptr,
                              "a.stablehlo", context.get());
  }
  static std::string textOf(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }
  /// Writes and reads \p text, which should come back as it is.
  void roundTrip(const std::string &text,
                 vhlo::Version version = vhlo::currentVersion) {
    OwningOpRef<ModuleOp> module = parse(text);
    ASSERT_TRUE(module);
    const std::string before = textOf(*module);
    Result<std::string> written = vhlo::writeArtifact(*module, version);
    ASSERT_TRUE(written) << written.error().message();
    auto again = read(*written);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(textOf(**again), before);
  }
  /// Expects that \p version cannot say \p text, for a reason that has \p why.
  void refuses(const std::string &text, vhlo::Version version,
               const std::string &why) {
    Result<std::string> written = write(text, version);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::Unsupported);
    EXPECT_NE(written.error().message().find(why), std::string::npos)
        << written.error().message();
  }

  std::shared_ptr<MLIRContext> context = makeContext();
};

const char *const portableProgram = R"(
module @net attributes {mhlo.num_partitions = 1 : i32} {
  func.func @main(%x: tensor<2x3xf32> {jax.arg = "x"}) -> tensor<2xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %w = stablehlo.constant {sinter.name = "w"} dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %0 = stablehlo.multiply %x, %w : tensor<2x3xf32>
    %1 = stablehlo.exponential %0 : tensor<2x3xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return %2 : tensor<2xf32>
  }
})";

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

TEST(VersionedOperations, AreThoseOfTheNewestVersion) {
  EXPECT_EQ(vhlo::operationRows().size(), 145u);
}

TEST(VersionedOperations, FollowEachOtherWithoutGaps) {
  for (const vhlo::OperationRow &row : vhlo::operationRows()) {
    EXPECT_LE(row.since, row.until) << row.versionedName();
    if (const vhlo::OperationRow *old = vhlo::older(&row)) {
      EXPECT_EQ(old->version + 1, row.version) << row.versionedName();
      EXPECT_EQ(std::pair(old->until.major, old->until.minor + 1),
                row.since.minor == 0
                    ? std::pair(old->until.major, old->until.minor + 1)
                    : std::pair(row.since.major, row.since.minor))
          << row.versionedName();
    } else {
      EXPECT_EQ(row.version, 1) << row.versionedName();
    }
    for (const vhlo::AttributeRow &attribute : row.missing)
      EXPECT_NE(attribute.value, vhlo::Default::None) << row.versionedName();
  }
}

TEST(TargetVersion, IsThreeNumbersBetweenOldestAndNewest) {
  EXPECT_TRUE(vhlo::parseTargetVersion("0.9.0"));
  EXPECT_TRUE(vhlo::parseTargetVersion("1.16.2"));
  for (const char *wrong :
       {"", "1", "1.2", "1.2.3.4", "1.2.x", " 1.2.3", "-1.2.3", "0.8.9",
        "1.20.1", "2.0.0", "99999999999.0.0"}) {
    auto version = vhlo::parseTargetVersion(wrong);
    ASSERT_FALSE(version) << wrong;
    EXPECT_EQ(version.error().kind, ErrorKind::Usage);
  }
}

//===----------------------------------------------------------------------===//
// There and back
//===----------------------------------------------------------------------===//

TEST_F(PortableArtifact, ComesBackFromEveryVersion) {
  for (vhlo::Version version :
       {vhlo::Version{0, 9}, vhlo::Version{0, 10}, vhlo::Version{0, 12},
        vhlo::Version{0, 14}, vhlo::Version{0, 15}, vhlo::Version{1, 0},
        vhlo::Version{1, 9}, vhlo::currentVersion}) {
    SCOPED_TRACE(version.str());
    roundTrip(portableProgram, version);
  }
}

TEST_F(PortableArtifact, IsTheSameBytesEveryTime) {
  auto first = write(portableProgram);
  context = makeContext();
  auto second = write(portableProgram);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST_F(PortableArtifact, NamesItsVersion) {
  auto written = write(portableProgram, {1, 2, 3});
  ASSERT_TRUE(written);
  EXPECT_NE(written->find(std::string("StableHLO_v1.2.3\0", 17)),
            std::string::npos);
}

TEST_F(PortableArtifact, KeepsValuesOfEveryElementType) {
  for (const char *constant :
       {"dense<[true, false, true, true, false, false, true, false, true]> : "
        "tensor<9xi1>",
        "dense<true> : tensor<9xi1>",
        "dense<false> : tensor<3xi1>",
        "dense<true> : tensor<1xi1>",
        "dense<true> : tensor<i1>",
        "dense<[true, true]> : tensor<2xi1>",
        "dense<> : tensor<0xi1>",
        "dense<[1, -2, 1]> : tensor<3xi2>",
        "dense<[1, 3]> : tensor<2xui2>",
        "dense<[-8, 7]> : tensor<2xi4>",
        "dense<[15, 0]> : tensor<2xui4>",
        "dense<[-128, 127]> : tensor<2xi8>",
        "dense<255> : tensor<2xui8>",
        "dense<[-1, 2]> : tensor<2xi16>",
        "dense<[1, 2]> : tensor<2xui32>",
        "dense<[-1, 9223372036854775807]> : tensor<2xi64>",
        "dense<18446744073709551615> : tensor<ui64>",
        "dense<[1.5, -2.0]> : tensor<2xbf16>",
        "dense<[1.5, -2.0]> : tensor<2xf16>",
        "dense<[0x7FC00001, 0x80000000]> : tensor<2xf32>",
        "dense<[1.0e300, -0.0]> : tensor<2xf64>",
        "dense<[1.0, -2.0]> : tensor<2xf8E4M3FN>",
        "dense<[1.0, -2.0]> : tensor<2xf8E5M2>",
        "dense<[1.0, -2.0]> : tensor<2xf8E4M3>",
        "dense<[1.0, -2.0]> : tensor<2xf8E4M3FNUZ>",
        "dense<[1.0, -2.0]> : tensor<2xf8E5M2FNUZ>",
        "dense<[1.0, -2.0]> : tensor<2xf8E4M3B11FNUZ>",
        "dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>",
        "dense<(1.0, 2.0)> : tensor<2x2xcomplex<f64>>",
        "dense<> : tensor<0x3xf32>"}) {
    SCOPED_TRACE(constant);
    const std::string type =
        std::string(constant).substr(std::string(constant).find(" : ") + 3);
    roundTrip("func.func @main() -> " + type +
              " {\n  %0 = stablehlo.constant " + constant +
              "\n  return %0 : " + type + "\n}");
  }
}

TEST_F(PortableArtifact, KeepsTypes) {
  for (const char *type :
       {"tensor<?x3xf32>", "tensor<?x3xf32, #stablehlo.bounds<4, ?>>",
        "!stablehlo.token", "tuple<tensor<f32>, tuple<tensor<i1>>>",
        "tensor<2x!quant.uniform<i8:f32, 5.000000e-01:1>>",
        "tensor<2x!quant.uniform<u8:f32, 5.000000e-01:1>>",
        "tensor<2x!quant.uniform<i8<-100:100>:f32, 5.000000e-01>>",
        "tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01:1, "
        "2.500000e-01:-1}>>",
        "tensor<2xindex>"}) {
    SCOPED_TRACE(type);
    roundTrip(std::string("func.func @main(%arg0: ") + type + ") -> " + type +
              " {\n  return %arg0 : " + type + "\n}");
  }
}

TEST_F(PortableArtifact, KeepsEmptyTensors) {
  roundTrip(R"(
module {
  func.func @main() -> (tensor<0x2xi64>, tensor<0xi1>, tensor<0xi1>, tensor<0xf32>) {
    %0 = stablehlo.constant dense<1> : tensor<0x2xi64>
    %1 = stablehlo.constant dense<true> : tensor<0xi1>
    %2 = stablehlo.constant dense<> : tensor<0xi1>
    %3 = stablehlo.constant dense<> : tensor<0xf32>
    return %0, %1, %2, %3 : tensor<0x2xi64>, tensor<0xi1>, tensor<0xi1>, tensor<0xf32>
  }
})");
}

TEST_F(PortableArtifact, KeepsAnnotationsThatVhloHasNoWordFor) {
  const char *annotated = R"(
module attributes {a.unit, a.list = [unit, 1 : i32]} {
  func.func @main(%x: tensor<f32>) -> tensor<f32> attributes {no_inline} {
    %0 = stablehlo.negate %x {a.bytes = array<i8: 1, 2>, a.numbers = array<i32: 3>, a.floats = array<f32: 0.5>} : tensor<f32>
    return %0 : tensor<f32>
  }
})";
  roundTrip(annotated);
  refuses(annotated, {1, 10, 0}, "needs version 1.11");
}

/// An artifact whose mesh and sharding are in Shardy's own encoding, as JAX
/// writes them: 8 and 9 of its attributes, which refer to the last four.
const char *const encodedShardings =
    "4d4cef520d537461626c65484c4f5f76312e31332e30000121070105090b01030f03"
    "05131705051b1f0347250701110b130b13131313130305131705090b0b0b0b03070f"
    "0f1701030b0507131707028905111701010105131701030317010503170105231701"
    "07111701090705031d010d23032101030123031d151d170319090919010b031f0007"
    "09052903090511030103010904550501500301070445030109034007030750090507"
    "042903050b03030b0005460d070301030109040f0303060301050100c51b05030b05"
    "0f1511290b0f0b09116275696c74696e007364790076686c6f006d6f64756c65006d"
    "657368007368617264696e675f636f6e73747261696e740066756e635f7631007265"
    "7475726e5f7631006d2e6d6c6972006d006d61696e00006100081f09050101051105"
    "0b151715191b0313";

TEST_F(PortableArtifact, ReadsEncodedShardings) {
  const std::string bytes = llvm::fromHex(encodedShardings);
  auto module = read(bytes);
  ASSERT_TRUE(module) << module.error().message();
  const std::string text = textOf(**module);
  EXPECT_NE(text.find("sdy.mesh @m = <[\"a\"=2]>"), std::string::npos) << text;
  EXPECT_NE(text.find("<@m, [{\"a\", ?}p1]>"), std::string::npos) << text;
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(read(bytes.substr(0, length)));
  // Whatever is wrong in them, nothing is read outside.
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    (void)read(flipped);
  }
}

TEST_F(PortableArtifact, SharesLargeConstants) {
  std::string numbers;
  for (int i = 0; i < 3000; ++i)
    numbers += (i ? ", " : "") + std::to_string(i) + ".0";
  auto written =
      write("func.func @main() -> tensor<3000xf32> {\n"
            "%0 = stablehlo.constant dense<[" +
            numbers + "]> : tensor<3000xf32>\nreturn %0 : tensor<3000xf32>\n}");
  ASSERT_TRUE(written) << written.error().message();
  auto bytes = std::make_shared<std::string>(*written);
  auto module = vhlo::readArtifact(std::as_bytes(std::span(*bytes)), bytes, "a",
                                   context.get());
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_GT(bytes.use_count(), 1);
  std::optional<Tensor> tensor;
  (*module)->walk([&](stablehlo::ConstantOp constant) {
    tensor = constantTensor(constant);
  });
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->at<float>(2999), 2999.0f);
  auto again = vhlo::writeArtifact(**module, vhlo::currentVersion);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(*again, *written);
}

//===----------------------------------------------------------------------===//
// Older versions
//===----------------------------------------------------------------------===//

const char *const tangent = R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tan %x : tensor<2xf32>
  return %0 : tensor<2xf32>
})";

TEST_F(PortableArtifact, SaysTanByWhatThereWas) {
  auto written = write(tangent, {1, 3});
  ASSERT_TRUE(written) << written.error().message();
  auto module = read(*written);
  ASSERT_TRUE(module) << module.error().message();
  const std::string text = textOf(**module);
  EXPECT_EQ(text.find("stablehlo.tan"), std::string::npos);
  EXPECT_NE(text.find("stablehlo.sine"), std::string::npos);
  roundTrip(tangent, {1, 4});
}

TEST_F(PortableArtifact, SaysBatchingDimensionsByIndices) {
  const std::string gather = R"(
func.func @main(%x: tensor<3x4x5xf32>, %i: tensor<3x2x1xi64>) -> tensor<3x2x5xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<3x2x1xi64>) -> tensor<3x2x5xf32>
  return %0 : tensor<3x2x5xf32>
})";
  roundTrip(gather, {1, 1});
  auto written = write(gather, {1, 0});
  ASSERT_TRUE(written) << written.error().message();
  auto module = read(*written);
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_NE(textOf(**module).find("stablehlo.iota dim = 0"), std::string::npos);
}

TEST_F(PortableArtifact, RefusesWhatAVersionLacks) {
  refuses("func.func @main(%x: tensor<2xi2>) -> tensor<2xi2> {\n"
          "return %x : tensor<2xi2>\n}",
          {1, 1}, "i2, which needs version 1.2");
  refuses(R"(func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @f(%x) {api_version = 4 : i32, backend_config = {a = 1 : i64}} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  })",
          {1, 2}, "custom_call");
  refuses(R"(func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  })",
          {0, 15}, "0.16");
}

TEST_F(PortableArtifact, RefusesWhatNoVersionHas) {
  refuses("func.func @main(%x: tensor<2xi3>) -> tensor<2xi3> {\n"
          "return %x : tensor<2xi3>\n}",
          vhlo::currentVersion, "i3");
}

//===----------------------------------------------------------------------===//
// Broken files
//===----------------------------------------------------------------------===//

TEST_F(PortableArtifact, TellsWhatIsNoArtifact) {
  auto text = read("module {}");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::InvalidModel);
  auto newer = read(std::string("ML\xefR\x55StableHLO_v9.0.0\0", 22));
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message().find("version 42"), std::string::npos)
      << newer.error().message();
}

TEST_F(PortableArtifact, TellsOfAFunctionWithoutAName) {
  // Old versions write attributes by name.
  Result<std::string> bytes =
      write(portableProgram, *vhlo::parseTargetVersion("0.9.0"));
  ASSERT_TRUE(bytes) << bytes.error().message();
  const size_t place = bytes->find("sym_name");
  ASSERT_NE(place, std::string::npos);
  bytes->replace(place, 8, "sym_nome");
  auto module = read(*bytes);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, ErrorKind::InvalidModel);
  EXPECT_NE(module.error().message().find("sym_name"), std::string::npos)
      << module.error().message();
}

TEST_F(PortableArtifact, SurvivesEveryTruncation) {
  auto written = write(portableProgram);
  ASSERT_TRUE(written);
  for (size_t size = 0; size < written->size(); ++size) {
    auto module = read(std::string_view(*written).substr(0, size));
    ASSERT_FALSE(module) << size;
    EXPECT_EQ(module.error().message().find('\n'), std::string::npos)
        << module.error().message();
  }
}

TEST_F(PortableArtifact, SurvivesFlippedBits) {
  for (vhlo::Version version : {vhlo::Version{0, 9}, vhlo::currentVersion}) {
    auto written = write(portableProgram, version);
    ASSERT_TRUE(written);
    for (size_t bit = 0; bit < 8 * written->size(); ++bit) {
      std::string flipped = *written;
      flipped[bit / 8] ^= 1 << (bit % 8);
      // Attributes stay in a context for good.
      if (bit % 1000 == 0)
        context = makeContext();
      auto module = read(flipped);
      if (!module) {
        EXPECT_EQ(module.error().message().find('\n'), std::string::npos)
            << module.error().message();
      }
    }
  }
}

} // namespace
