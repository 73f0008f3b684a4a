#include "engine/toyformat/ToyFormat.h"

#include "TemporaryFolder.h"
#include "engine/compiler/MlirCompiler.h"
#include "runtime/MappedFile.h"
#include "runtime/ProgramExecutor.h"
#include <gtest/gtest.h>

namespace sinter {
namespace {

constexpr const char *small = "toy 1\n"
                              "input x f32 N 3\n"
                              "weight w 3 = 1 2 0.5\n"
                              "add s x w\n"
                              "mean m s\n"
                              "relu y m\n"
                              "output y\n";

/// The compiler as the command knows it, with one row more in the table of
/// formats.
class ToyFormatTest : public testing::Test {
protected:
  static void SetUpTestSuite() { addFormat(toy::toyFormat); }

  std::string write(const std::string &name, const std::string &text) {
    folder.write(name, text);
    return folder.file(name);
  }
  static std::string textOf(const std::string &path) {
    auto file = MappedFile::open(path);
    return file ? std::string((*file)->text()) : "";
  }
  Result<void> convert(const std::string &from, const std::string &to) {
    ConvertRequest request;
    request.input.path = from;
    request.output = to;
    return compiler.convert(request);
  }
  /// What the model at \p path gives for one row, on both backends.
  std::vector<float> run(const std::string &path, bool interpreted) {
    ModelRequest request;
    request.path = path;
    auto model = compiler.open(request);
    if (!model) {
      ADD_FAILURE() << model.error().message();
      return {};
    }
    CompileRequest compile;
    compile.shapes = {{2, 3}};
    compile.values.resize(1);
    const Tensor x = Tensor::of<float>(ElementType::F32, {2, 3},
                                       std::vector<float>{1, 2, 3, -9, -9, -9});
    std::unique_ptr<Executor> executor;
    if (interpreted) {
      auto made = (*model)->interpret(compile);
      EXPECT_TRUE(made) << made.error().message();
      executor = std::move(*made);
    } else {
      auto program = (*model)->compile(compile);
      EXPECT_TRUE(program) << program.error().message();
      auto made =
          ProgramExecutor::create(*program, std::make_shared<ThreadPool>(1));
      EXPECT_TRUE(made) << made.error().message();
      executor = std::move(*made);
    }
    auto results = executor->run({&x, 1});
    if (!results) {
      ADD_FAILURE() << results.error().message();
      return {};
    }
    const Tensor &y = results->front();
    std::vector<float> numbers;
    for (int64_t i = 0; i < y.size(); ++i)
      numbers.push_back(static_cast<float>(y.toDouble(i)));
    return numbers;
  }
  void isRefused(const std::string &text, ErrorKind kind,
                 const std::string &part) {
    ModelRequest request;
    request.path = write("bad.toy", text);
    auto model = compiler.open(request);
    ASSERT_FALSE(model) << text;
    EXPECT_EQ(model.error().kind, kind) << model.error().message();
    EXPECT_NE(model.error().message().find(part), std::string::npos)
        << model.error().message();
    EXPECT_NE(model.error().message().find("bad.toy"), std::string::npos);
  }

  test::TemporaryFolder folder;
  MlirCompiler compiler;
};

TEST_F(ToyFormatTest, RunsOnBothBackends) {
  const std::string path = write("a.toy", small);
  const std::vector<float> expected = {9.5f / 3, 0};
  EXPECT_EQ(run(path, true), expected);
  EXPECT_EQ(run(path, false), expected);
}

TEST_F(ToyFormatTest, IsKnownByItsContents) {
  EXPECT_EQ(formatOf("model", std::as_bytes(std::span(small, 20)))->title,
            "Toy");
  EXPECT_EQ(formatOf("a.onnx", std::as_bytes(std::span("x")))->title, "ONNX");
  EXPECT_EQ(run(write("model", small), true).size(), 2u);
}

/// A format of files that are known as another tool's as long as nothing reads
/// them.
const Format foreignFormat = {
    .name = "foreign",
    .title = "Foreign",
    .extensions = {},
    .recognises =
        [](const std::string &, std::span<const std::byte> contents) {
          const llvm::StringRef text(
              reinterpret_cast<const char *>(contents.data()), contents.size());
          return text.starts_with("GGUF toy") ? Likeness::Yes : Likeness::No;
        },
    .open = [](const std::string &path,
               const OpenOptions &) -> Result<std::unique_ptr<ModelFile>> {
      return unsupported(path + ": opened as foreign");
    },
    .write = toy::toyFormat.write,
};

TEST_F(ToyFormatTest, TakesWhatWasForeignBefore) {
  for (bool isKnown : {false, true}) {
    if (isKnown)
      addFormat(foreignFormat);
    for (const char *name : {"a.gguf", "a.toy.gguf"}) {
      ModelRequest request;
      request.path = write(name, "GGUF toy");
      auto model = compiler.open(request);
      ASSERT_FALSE(model);
      EXPECT_NE(model.error().message().find(isKnown ? "opened as foreign"
                                                     : "no model that"),
                std::string::npos)
          << model.error().message();
    }
  }
}

TEST_F(ToyFormatTest, IsWrittenAsItWas) {
  const std::string path = write("a.toy", small);
  OptimizeRequest request;
  request.input.path = path;
  request.output = folder.file("b.toy");
  auto report = compiler.optimize(request);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(textOf(request.output),
            "toy 1\ninput x f32 N 3\nweight w 3 = 1 2 0.5\nadd s x w\nmean m "
            "s\nrelu y m\noutput y\n");
}

TEST_F(ToyFormatTest, IsSimplifiedLikeAnyOther) {
  const std::string path =
      write("a.toy", "toy 1\ninput x f32 2\nweight one 2 = 1 1\nmultiply a x "
                     "one\nrelu b a\nrelu c b\noutput c\n");
  OptimizeRequest request;
  request.input.path = path;
  request.output = folder.file("b.toy");
  auto report = compiler.optimize(request);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(textOf(request.output),
            "toy 1\ninput x f32 2\nrelu c x\noutput c\n");
}

TEST_F(ToyFormatTest, BecomesOtherFormatsAndComesBack) {
  const std::string path = write("a.toy", small);
  const std::vector<float> expected = run(path, true);
  for (const char *name : {"a.onnx", "a.mlir", "a.mlir.bc"}) {
    const std::string to = folder.file(name);
    auto done = convert(path, to);
    ASSERT_TRUE(done) << name << ": " << done.error().message();
    EXPECT_EQ(run(to, true), expected) << name;
    EXPECT_EQ(run(to, false), expected) << name;
  }
  // What has no form is listed, and there is no file.
  auto back = convert(folder.file("a.mlir"), folder.file("back.toy"));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(textOf(folder.file("back.toy")), "");
  // Another format's records are none of its own.
  const std::string plain =
      write("b.toy", "toy 1\ninput x f32 2 3\nrelu r x\nadd y r x\noutput y\n");
  ASSERT_TRUE(convert(plain, folder.file("b.onnx")));
  ASSERT_TRUE(convert(folder.file("b.onnx"), folder.file("c.toy")));
  EXPECT_EQ(textOf(folder.file("c.toy")), textOf(plain));
}

TEST_F(ToyFormatTest, KeepsToTheRulesOfFormats) {
  const std::string path = write("a.toy", small);
  OptimizeRequest optimize;
  optimize.input.path = path;
  optimize.output = folder.file("b.onnx");
  auto report = compiler.optimize(optimize);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::Usage);
  ConvertRequest versioned;
  versioned.input.path = path;
  versioned.output = folder.file("b.toy");
  versioned.targetVersion = "1.0.0";
  auto done = compiler.convert(versioned);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::Usage);
  ModelRequest function;
  function.path = path;
  function.function = "main";
  auto model = compiler.open(function);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::Usage);
  auto unknown = convert(path, folder.file("a.what"));
  ASSERT_FALSE(unknown);
  const llvm::StringRef listed = unknown.error().message();
  EXPECT_TRUE(listed.contains(".onnx, .mlir (text), .mlir.bc or .stablehlo "
                              "(portable artifact), "))
      << listed.str();
  EXPECT_TRUE(listed.ends_with(".toy (lines of words)")) << listed.str();
}

TEST_F(ToyFormatTest, SaysWhatIsWrong) {
  const ErrorKind invalid = ErrorKind::InvalidModel;
  isRefused("toy 2\n", invalid, "first line");
  isRefused("toy 1\ninput x f32 -2\noutput x\n", invalid, "'-2' is no size");
  isRefused("toy 1\ninput x f32 9999999999 9999999999\noutput x\n", invalid,
            "too large");
  isRefused("toy 1\ninput x i8 2\noutput x\n", invalid, "line 2");
  isRefused("toy 1\nweight w 2 = 1\noutput w\n", invalid, "1 numbers");
  isRefused("toy 1\nweight w 1 = one\noutput w\n", invalid, "'one'");
  isRefused("toy 1\nweight w\n", invalid, "SIZES");
  isRefused("toy 1\ninput x f32 2\nrelu y z\noutput y\n", invalid, "'z'");
  isRefused("toy 1\ninput x f32 2\nrelu x x\noutput x\n", invalid, "twice");
  isRefused("toy 1\ninput x f32 2\nadd y x\noutput y\n", invalid, "operands");
  isRefused("toy 1\ninput x f32 2\ninput z f32 3\nadd y x z\noutput y\n",
            invalid, "broadcast");
  isRefused("toy 1\ninput x f32\nmean y x\noutput y\n", invalid, "scalar");
  isRefused("toy 1\ninput x f32 2\noutput q\n", invalid, "'q'");
  isRefused("toy 1\ninput x f32 2\nfoo y x\nfoo z y\nbar v z\noutput v\n",
            ErrorKind::Unsupported, "1 x bar; 2 x foo");
}

} // namespace
} // namespace sinter
