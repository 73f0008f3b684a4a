//===- TestCompiler.cpp - a compiler that knows one model -----------------===//
//
// Takes the place of libsinter-compiler.so, so that sessions can be tested
// without MLIR: under the thread sanitizer, say, which that is not built for.
// Every file is the model of TestProgram.h, whose input x may have from 1 to
// 1000 elements.
//
//===----------------------------------------------------------------------===//

#include "engine/Compiler.h"
#include "engine/Quantize.h"
#include "engine/Train.h"
#include "runtime/LibraryContract.h"
#include "runtime/TestKernels.h"
#include "runtime/TestProgram.h"

namespace sinter {
namespace {

class TestModel : public CompilerModel {
public:
  TestModel() {
    ModelInput input;
    input.spec = {"x", ElementType::I32, {-1}};
    input.symbols = {"N"};
    facts_.inputs = {input};
    const Program program = test::testProgram();
    for (const TensorSpec &output : program.outputs)
      facts_.outputs.emplace_back(output);
    facts_.outputs[0].shape = {-1};
  }

  const ModelDescription &description() const override { return facts_; }
  Result<GraphFacts> facts() override { return GraphFacts(); }
  Result<FileCounts> counts() override { return FileCounts(); }
  Result<SizedFacts> sizedFacts(const NamedShapes &) override {
    return SizedFacts();
  }

  Result<std::shared_ptr<const Program>>
  compile(const CompileRequest &request) override {
    const int64_t size = request.shapes[0][0];
    // A test may wait here.
    if (request.choice)
      request.choice(std::to_string(size));
    if (!request.dynamic.empty() && request.onStatic)
      request.onStatic("the test's compiler opens nothing");
    if (size < 1 || size > 1000)
      return unsupported("x has a size that the test's kernels do not take");
    auto program = std::make_shared<Program>(test::testProgram());
    program->inputs[0].shape = program->outputs[0].shape = {size};
    Step &addOne = program->steps[0];
    addOne.tasks = size;
    for (BufferReference &buffer : addOne.buffers)
      buffer.bytes = 4 * static_cast<uint64_t>(size);
    return std::shared_ptr<const Program>(std::move(program));
  }

  Result<Bundle> bundle(const BundleRequest &) override {
    return unsupported("the test's compiler writes no code");
  }
  Result<void> accepts(const CompileRequest &) override { return {}; }
  Result<RunFacts> runFacts(const CompileRequest &, bool) override {
    return RunFacts();
  }

  Result<ModelWeights> weights(const CompileRequest &, bool) override {
    return unsupported("the test's compiler has no graphs");
  }
  Result<ModelView> view(const CompileRequest &) override {
    return unsupported("the test's compiler has no graphs");
  }

  Result<std::unique_ptr<Executor>> interpret(const CompileRequest &) override {
    return unsupported("the test's compiler has no interpreter");
  }

private:
  ModelDescription facts_;
};

class TestCompiler : public Compiler {
public:
  Result<std::unique_ptr<CompilerModel>> open(const ModelRequest &) override {
    return std::unique_ptr<CompilerModel>(new TestModel);
  }
  Result<std::vector<FunctionDescription>>
  functions(const ModelRequest &) override {
    return std::vector<FunctionDescription>();
  }
  Result<OptimizeReport> optimize(const OptimizeRequest &) override {
    return unsupported("optimize");
  }
  Result<void> convert(const ConvertRequest &) override {
    return unsupported("convert");
  }
  Result<std::unique_ptr<TrainableModel>> train(const TrainRequest &) override {
    return unsupported("train");
  }
  Result<QuantizeReport> quantize(const QuantizeRequest &) override {
    return unsupported("quantize");
  }
  Result<void> test(const std::string &, size_t, const TestRequest &,
                    TestObserver &) override {
    return unsupported("test");
  }
  std::vector<PatternDescription> patterns() override { return {}; }
  std::vector<FormatDescription> formats() override { return {}; }
  std::string outputFor(const std::string &,
                        const std::string &output) override {
    return output;
  }
  bool isModelFolder(const std::string &) override { return false; }
  Result<ReduceOutcome> reduce(const ReduceRequest &) override {
    return unsupported("reduce");
  }
  Result<MachineCeilings> measureMachine(double) override {
    return unsupported("measureMachine");
  }
  Result<std::vector<TargetFacts>> targets(const std::string &) override {
    return unsupported("targets");
  }
};

} // namespace
} // namespace sinter

extern "C" [[gnu::visibility("default")]] sinter::Compiler *sinterCompiler() {
  static sinter::TestCompiler compiler;
  return &compiler;
}

extern "C" [[gnu::visibility("default")]] const char *sinterCompilerContract() {
  return sinter::libraryContract;
}
