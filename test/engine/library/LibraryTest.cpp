//===- LibraryTest.cpp - a process that loads Sinter's libraries ----------===//
//
// With the compiler itself, which is loaded as the command does it.
//
//===----------------------------------------------------------------------===//
//
// Covers: engine CompilerLibrary LibraryFiles

#include "TemporaryFolder.h"
#include "engine/CompilerLibrary.h"
#include "engine/LibraryFiles.h"
#include "engine/Session.h"
#include "runtime/HostFunctions.h"
#include "runtime/LibraryContract.h"

#include <gtest/gtest.h>
#include <pthread.h>

namespace sinter {
namespace {

namespace fs = std::filesystem;

class LibraryTest : public testing::Test {
protected:
  std::string write(const std::string &text) {
    folder.write("model.mlir", text);
    return folder.file("model.mlir");
  }

  test::TemporaryFolder folder;
};

constexpr const char *products =
    R"(func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
)";

// The first one: afterwards the process has a compiler.
TEST_F(LibraryTest, AnotherFileIsTheCompilerUntilItIsLoaded) {
  const std::string own = besideRuntime("libsinter-compiler.so");
  const Result<std::string> identity = compilerIdentity();
  ASSERT_TRUE(identity) << identity.error().message();
  EXPECT_FALSE(identity->empty());

  // What is missing is no build of the compiler, and nothing is opened.
  const std::string missing = folder.file("missing.so");
  ASSERT_TRUE(setCompilerLibrary(missing));
  const Result<std::string> none = compilerIdentity();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::System);
  EXPECT_NE(none.error().message().find(missing), std::string::npos);
  EXPECT_FALSE(loadCompiler());
  EXPECT_FALSE(Session::open(write(products), {}));

  // What is there and is none, neither.
  folder.write("text.so", "not a library");
  ASSERT_TRUE(setCompilerLibrary(folder.file("text.so")));
  EXPECT_NE(compilerIdentity()->size(), 0u);
  EXPECT_NE(*compilerIdentity(), *identity);
  EXPECT_FALSE(loadCompiler());

  ASSERT_TRUE(setCompilerLibrary(""));
  EXPECT_EQ(*compilerIdentity(), *identity);
  ASSERT_TRUE(loadCompiler());
  EXPECT_TRUE(setCompilerLibrary(own));
  EXPECT_TRUE(setCompilerLibrary(""));
  const Result<void> late = setCompilerLibrary(missing);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::Usage);
  EXPECT_EQ(*compilerIdentity(), *identity);
}

/// Calls \p work on a thread with a stack of 256 KB.
void onSmallStack(const std::function<void()> &work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t(256) << 10), 0);
  pthread_t thread;
  const auto enter = [](void *work) -> void * {
    (*static_cast<const std::function<void()> *>(work))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, enter,
                           const_cast<std::function<void()> *>(&work)),
            0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}

/// Branches in each other, \p depth deep: x + 1 where that is greater than all
/// of 0, 1, ..., else x.
std::string nestedModel(int depth) {
  std::string begin, end;
  for (int i = 0; i < depth; ++i) {
    const std::string n = std::to_string(i);
    begin += "%k" + n + " = stablehlo.constant dense<" + n +
             ".0> : tensor<f32>\n%p" + n + " = stablehlo.compare GT, %x, %k" +
             n + " : (tensor<f32>, tensor<f32>) -> tensor<i1>\n%r" + n +
             " = \"stablehlo.if\"(%p" + n + ") ({\n";
    end = "stablehlo.return %r" + std::to_string(i + 1) +
          " : tensor<f32>\n}, {\nstablehlo.return %x : tensor<f32>\n}) : "
          "(tensor<i1>) -> tensor<f32>\n" +
          end;
  }
  return "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n" + begin +
         "%one = stablehlo.constant dense<1.0> : tensor<f32>\n%r" +
         std::to_string(depth) + " = stablehlo.add %x, %one : tensor<f32>\n" +
         end + "return %r0 : tensor<f32>\n}\n";
}

TEST_F(LibraryTest, NestedModelsNeedNoStackOfTheCaller) {
  constexpr int depth = 150;
  const std::string path = write(nestedModel(depth));
  onSmallStack([&] {
    Result<Compiler *> compiler = loadCompiler();
    ASSERT_TRUE(compiler) << compiler.error().message();
    ModelRequest request;
    request.path = path;
    auto model = (*compiler)->open(request);
    ASSERT_TRUE(model) << model.error().message();
    const auto facts = (*model)->facts();
    ASSERT_TRUE(facts) << facts.error().message();
    CompileRequest how;
    how.shapes = {{}};
    how.values.resize(1);
    how.threads = 1;
    const auto program = (*model)->compile(how);
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_FALSE((*program)->steps.empty());
    auto interpreted = (*model)->interpret(how);
    ASSERT_TRUE(interpreted) << interpreted.error().message();
    for (const float value : {float(depth), 7.5f}) {
      const Tensor x =
          Tensor::of<float>(ElementType::F32, {}, std::vector<float>{value});
      const auto results = (*interpreted)->run(std::span(&x, 1));
      ASSERT_TRUE(results) << results.error().message();
      EXPECT_EQ((*results)[0].at<float>(0), value == 7.5f ? value : value + 1);
    }
  });
}

TEST_F(LibraryTest, NestedModelsAreRewrittenFromAnyThread) {
  const std::string path = write(nestedModel(150));
  onSmallStack([&] {
    Result<Compiler *> compiler = loadCompiler();
    ASSERT_TRUE(compiler) << compiler.error().message();
    ConvertRequest convert;
    convert.input.path = path;
    convert.output = folder.file("converted.mlir");
    const Result<void> converted = (*compiler)->convert(convert);
    EXPECT_TRUE(converted) << converted.error().message();
    OptimizeRequest optimize;
    optimize.input.path = path;
    optimize.output = folder.file("optimized.mlir");
    const auto optimized = (*compiler)->optimize(optimize);
    EXPECT_TRUE(optimized) << optimized.error().message();
  });
}

size_t threadsOfProcess() {
  return std::distance(fs::directory_iterator("/proc/self/task"),
                       fs::directory_iterator());
}

TEST_F(LibraryTest, SessionsShareOnePool) {
  const std::string path = write(products);
  SessionOptions options;
  options.threads = 3;
  const Tensor x(ElementType::F32, {256, 256});
  std::vector<std::unique_ptr<Session>> sessions;
  size_t before = 0;
  for (int i = 0; i < 2; ++i) {
    auto session = Session::open(path, options);
    ASSERT_TRUE(session) << session.error().message();
    const Result<void> prepared = (*session)->prepare(std::span(&x, 1));
    ASSERT_TRUE(prepared) << prepared.error().message();
    ASSERT_TRUE((*session)->executor().run(std::span(&x, 1)));
    sessions.push_back(std::move(*session));
    if (i == 0)
      before = threadsOfProcess();
  }
  // The caller's, and two of the pool.
  EXPECT_EQ(before, 3u);
  EXPECT_EQ(threadsOfProcess(), before);
}

TEST_F(LibraryTest, TheCompilerKnowsTheProcesssHostFunctions) {
  registerHostFunction("test.thrice", [](const HostCall &call) -> Result<void> {
    for (int64_t i = 0; i < call.inputs[0].size(); ++i)
      call.outputs[0].set<float>(i, 3 * call.inputs[0].at<float>(i));
    return {};
  });
  const std::string path = write(
      "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "  %0 = stablehlo.custom_call @test.thrice(%x) : (tensor<2xf32>) -> "
      "tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n");
  const Tensor x =
      Tensor::of<float>(ElementType::F32, {2}, std::vector<float>{1, -2});
  for (const Backend backend : {Backend::Interpreter, Backend::Cpu}) {
    SessionOptions options;
    options.backend = backend;
    auto session = Session::open(path, options);
    ASSERT_TRUE(session) << session.error().message();
    const Result<void> prepared = (*session)->prepare(std::span(&x, 1));
    ASSERT_TRUE(prepared) << prepared.error().message();
    const auto results = (*session)->executor().run(std::span(&x, 1));
    ASSERT_TRUE(results) << results.error().message();
    EXPECT_EQ((*results)[0].at<float>(1), -6) << name(backend);
  }
}

TEST_F(LibraryTest, ContractsMustBeEqual) {
  EXPECT_STREQ(runtimeContract(), libraryContract);
  EXPECT_TRUE(checkContract("a", libraryContract));
  const Result<void> other = checkContract("a", "9.8.7+0123456789ab");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::System);
  for (const char *part : {"'a'", "9.8.7+0123456789ab", libraryContract})
    EXPECT_NE(other.error().message().find(part), std::string::npos) << part;
  EXPECT_FALSE(checkContract("a", nullptr));
}

} // namespace
} // namespace sinter
