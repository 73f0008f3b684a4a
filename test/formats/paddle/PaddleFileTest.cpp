//===- PaddleFileTest.cpp - programs with their parameters on a disk ------===//
//
// Covers: formats/paddle/file FindFiles PaddleFile RandomParameters WritePaddle

#include "formats/paddle/file/PaddleFile.h"
#include "TemporaryFolder.h"
#include "formats/paddle/PaddleMessages.h"
#include "formats/paddle/file/ProgramDesc.h"
#include "runtime/MappedFile.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::paddle;
using namespace sinter::test;

namespace fs = std::filesystem;

namespace {

/// y = x * weights + bias, named as given.
std::string linear(const std::string &weights = "fc_0.w_0",
                   const std::string &bias = "fc_0.b_0") {
  return programOf({blockOf(
      0, -1,
      {operatorOf("feed", {{"X", {"feed"}}}, {{"Out", {"x"}}}, intOf("col", 0)),
       operatorOf("mul", {{"X", {"x"}}, {"Y", {weights}}}, {{"Out", {"t"}}},
                  ""),
       operatorOf("elementwise_add", {{"X", {"t"}}, {"Y", {bias}}},
                  {{"Out", {"y"}}}, intOf("axis", 1)),
       operatorOf("fetch", {{"X", {"y"}}}, {{"Out", {"fetch"}}},
                  intOf("col", 0))},
      variableOf(weights, 7, 5, {3, 2}, true) + variableOf("x", 7, 5, {-1, 3}) +
          variableOf(bias, 7, 5, {2}, true) +
          fieldOf(3, fieldOf(1, "feed") + fieldOf(2, numberOf(1, 9)) +
                         numberOf(3, 1)))});
}

std::string floats(std::initializer_list<float> values) {
  std::string text;
  for (float each : values)
    text += rawOf(each);
  return text;
}

const std::string bias = savedTensor(5, {2}, floats({7, 8}));
const std::string weights = savedTensor(5, {3, 2}, floats({1, 2, 3, 4, 5, 6}));
/// By name: fc_0.b_0, fc_0.w_0.
const std::string combined = bias + weights;

void expectLinear(const Result<PaddleFile> &file) {
  ASSERT_TRUE(file) << file.error().message();
  Result<Tensor> w = file->parameter("fc_0.w_0");
  ASSERT_TRUE(w) << w.error().message();
  EXPECT_EQ(w->shape(), (Shape{3, 2}));
  EXPECT_EQ(w->at<float>(5), 6.0f);
  Result<Tensor> b = file->parameter("fc_0.b_0");
  ASSERT_TRUE(b) << b.error().message();
  EXPECT_EQ(b->at<float>(0), 7.0f);
}

std::string errorOf(const Result<PaddleFile> &file) {
  return file ? "" : file.error().message();
}

} // namespace

TEST(PaddleFile, FindsParametersByTheUsualNames) {
  const std::pair<const char *, const char *> names[] = {
      {"__model__", "__params__"},
      {"__model__", "params"},
      {"model", "params"},
      {"inference.pdmodel", "inference.pdiparams"},
      {"other.name.pdmodel", "other.name.pdiparams"}};
  for (const auto &[program, parameters] : names) {
    const TemporaryFolder folder;
    folder.write(program, linear());
    folder.write(parameters, combined);
    Result<PaddleFile> named = PaddleFile::open(folder.file(program));
    expectLinear(named);
    EXPECT_EQ(named->dataFiles(), std::vector<std::string>{parameters});
    if (program != std::string("model")) {
      EXPECT_TRUE(isPaddlePath(folder.path())) << program;
      Result<PaddleFile> file = PaddleFile::open(folder.path());
      expectLinear(file);
      EXPECT_EQ(file->name(), folder.file(program));
      EXPECT_TRUE(file->dataFiles().empty());
    }
  }
}

TEST(PaddleFile, ReadsAFileAParameter) {
  const TemporaryFolder folder;
  folder.write("__model__", linear("layer/w"));
  folder.write("fc_0.b_0", bias);
  fs::create_directory(folder.file("layer"));
  folder.write("layer/w", weights);
  Result<PaddleFile> file = PaddleFile::open(folder.file("__model__"));
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->parameter("layer/w")->at<float>(1), 2.0f);
  EXPECT_EQ(file->dataFiles(),
            (std::vector<std::string>{"fc_0.b_0", "layer/w"}));
  // One that is not there is missed when it is asked for.
  fs::remove(folder.file("layer/w"));
  file = PaddleFile::open(folder.path());
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_TRUE(file->parameter("fc_0.b_0"));
  EXPECT_EQ(file->parameter("layer/w").error().message(),
            folder.file("__model__") +
                ": parameter 'layer/w': external data 'layer/w': there is no "
                "such file in the model's folder");
  // One that is broken is an error at once.
  folder.write("layer/w", weights + "x");
  EXPECT_EQ(errorOf(PaddleFile::open(folder.path())),
            folder.file("__model__") +
                ": parameter 'layer/w': after its elements there are 1 more "
                "bytes");
}

TEST(PaddleFile, OpensNothingOutsideOfItsFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("model"));
  folder.write("secret", weights);
  folder.write("model/fc_0.b_0", bias);
  fs::create_symlink("../secret", folder.file("model/link"));
  for (const std::string &name :
       {std::string("../secret"), folder.file("secret"), std::string("link"),
        std::string("a/../../secret"), std::string("nul\0l", 5),
        std::string("")}) {
    folder.write("model/__model__", linear(name));
    Result<PaddleFile> file = PaddleFile::open(folder.file("model"));
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_TRUE(file->parameter("fc_0.b_0"));
    Result<Tensor> outside = file->parameter(name);
    ASSERT_FALSE(outside) << name;
    EXPECT_EQ(outside.error().kind, ErrorKind::InvalidModel);
  }
}

TEST(PaddleFile, TakesParametersFromWhereItIsTold) {
  const TemporaryFolder folder;
  folder.write("a.pdmodel", linear());
  Result<PaddleFile> file = PaddleFile::open(folder.path());
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->parameter("fc_0.w_0").error().message(),
            folder.file("a.pdmodel") +
                ": its parameters are missing: there is no 'a.pdiparams' "
                "beside the program; params FILE says where they are, "
                "random-parameters draws some");
  folder.write("elsewhere", combined);
  expectLinear(PaddleFile::open(folder.path(), {folder.file("elsewhere"), {}}));
  fs::create_directory(folder.file("many"));
  folder.write("many/fc_0.w_0", weights);
  folder.write("many/fc_0.b_0", bias);
  expectLinear(PaddleFile::open(folder.path(), {folder.file("many"), {}}));
  EXPECT_FALSE(PaddleFile::open(folder.path(), {folder.file("nowhere"), {}}));
}

TEST(PaddleFile, DrawsParameters) {
  Result<PaddleFile> file = PaddleFile::fromMemory(linear(), "", "m");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->parameter("fc_0.w_0"));
  const TemporaryFolder folder;
  folder.write("a.pdmodel", linear());
  const auto draw = [&](uint64_t seed) {
    Result<PaddleFile> drawn = PaddleFile::open(folder.path(), {"", seed});
    return *drawn->parameter("fc_0.w_0");
  };
  const Tensor one = draw(1), again = draw(1), other = draw(2);
  ASSERT_EQ(one.shape(), (Shape{3, 2}));
  EXPECT_EQ(std::memcmp(one.data(), again.data(), one.bytes()), 0);
  EXPECT_NE(std::memcmp(one.data(), other.data(), one.bytes()), 0);
  for (int64_t i = 0; i < one.size(); ++i)
    EXPECT_LE(std::abs(one.at<float>(i)), 1.0f);
}

TEST(PaddleFile, DrawsWhatIsMissingForThoseWhoOnlyLook) {
  const TemporaryFolder folder;
  folder.write("a.pdmodel", linear());
  Result<PaddleFile> file =
      PaddleFile::open(folder.path(), {"", std::nullopt, true});
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_TRUE(file->missing().starts_with("its parameters are missing"));
  EXPECT_EQ(file->parameter("fc_0.w_0")->shape(), (Shape{3, 2}));
  folder.write("a.pdiparams", combined);
  file = PaddleFile::open(folder.path(), {"", std::nullopt, true});
  expectLinear(file);
  EXPECT_EQ(file->missing(), "");
}

TEST(PaddleFile, SaysWhichParametersAreOfAnotherProgram) {
  const TemporaryFolder folder;
  folder.write("a.pdmodel", linear());
  folder.write("a.pdiparams", weights + bias);
  EXPECT_EQ(errorOf(PaddleFile::open(folder.path())),
            folder.file("a.pdiparams") + ": not the parameters of '" +
                folder.file("a.pdmodel") +
                "': parameter 1 of 2, 'fc_0.b_0', at byte 0: it is 3x2xf32, "
                "and the program declares 2xf32");
}

TEST(PaddleFile, SaysWhatIsNoProgram) {
  const TemporaryFolder folder;
  const auto errorIn = [&](const std::string &name,
                           const std::string &contents) {
    folder.write(name, contents);
    EXPECT_TRUE(isPaddlePath(folder.file(name))) << name;
    std::string error = errorOf(PaddleFile::open(folder.file(name)));
    fs::remove(folder.file(name));
    const std::string start = folder.file(name) + ": ";
    EXPECT_TRUE(error.starts_with(start)) << error;
    return error.substr(std::min(start.size(), error.size()));
  };
  EXPECT_EQ(errorIn("a.pdmodel", ""),
            "not a Paddle program: the file is empty");
  EXPECT_EQ(errorIn("__model__", "version https://git-lfs.github.com/spec/v1"),
            "not a Paddle program but a Git LFS pointer to one; get the file "
            "itself with 'git lfs pull'");
  EXPECT_TRUE(
      errorIn("a.pdmodel", "hello").starts_with("not a Paddle program"));
  EXPECT_TRUE(errorIn("a.pdmodel", linear().substr(0, 50))
                  .starts_with("broken Paddle program: "));
  EXPECT_EQ(errorIn("a.pdparams", "\x80\x02"),
            "this is no Paddle program but a checkpoint of PaddlePaddle (a "
            "Python pickle), which has no program; paddle.jit.save or "
            "paddle.static.save_inference_model writes one");
  EXPECT_TRUE(errorIn("a.nb", "x").find("Paddle-Lite") != std::string::npos);
  EXPECT_EQ(errorIn("a.pdiparams", combined),
            "this is no Paddle program but the parameters of a Paddle program; "
            "give the program (a.pdmodel or .json)");
  folder.write("b.pdmodel", linear());
  folder.write("c.pdmodel", linear());
  Result<PaddleFile> several = PaddleFile::open(folder.path());
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().kind, ErrorKind::Usage);
  EXPECT_EQ(several.error().message(),
            folder.path() + ": there are several Paddle programs in the folder "
                            "(b.pdmodel, c.pdmodel); name the file of one");
}

TEST(PaddleFile, SaysThatAProgramTrains) {
  Program program = *decodeProgramDesc(linear());
  Operator gradient;
  gradient.type = "mul_grad";
  Operator step;
  step.type = "sgd";
  step.inputs = {
      {"Param", {"fc_0.w_0"}}, {"Grad", {"g"}}, {"LearningRate", {"r"}}};
  auto &operators = program.blocks[0].operators;
  operators.insert(operators.end(), {gradient, gradient, step});
  Result<PaddleFile> file =
      PaddleFile::fromMemory(*encodeProgramDesc(program), "", "m");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(
      file.error().message(),
      "m: a program that trains (2 x mul_grad, 1 x sgd); "
      "paddle.static.save_inference_model (fluid.io.save_inference_model) "
      "or paddle.jit.save write a program that infers");
}

TEST(PaddleFile, IsNotConfusedByOtherFiles) {
  EXPECT_TRUE(isPaddleProgram(linear()));
  EXPECT_TRUE(isPaddleProgram(" {\n \"base_code\" : {\"magic\": \"pir\"}"));
  EXPECT_FALSE(isPaddleProgram(""));
  EXPECT_FALSE(isPaddleProgram("{\"magic\": \"other\"}"));
  // ModelProto: version 8 of the format, then who made it, or a graph alone.
  EXPECT_FALSE(isPaddleProgram(numberOf(1, 8) + fieldOf(2, "pytorch")));
  EXPECT_FALSE(isPaddleProgram(fieldOf(7, fieldOf(1, "node"))));
  // A message in field 1 that is no block.
  EXPECT_FALSE(isPaddleProgram(fieldOf(1, fieldOf(1, "input"))));
  EXPECT_FALSE(isPaddleProgram(fieldOf(1, numberOf(1, 0) + numberOf(2, 0))));
}

namespace {

/// What PaddleFile::open read, for writing.
std::vector<WrittenParameter> parametersOf(const PaddleFile &file) {
  std::vector<WrittenParameter> parameters;
  for (const Variable *each : file.program().parameters())
    parameters.insert(parameters.begin(),
                      {each->name, *file.parameter(each->name)});
  return parameters;
}

std::string contentsOf(const std::string &path) {
  Result<std::string> text = readFile(path);
  return text ? *text : text.error().message();
}

} // namespace

TEST(PaddleFile, WritesFiles) {
  const TemporaryFolder folder;
  const PaddleFile file = *PaddleFile::fromMemory(linear(), combined, "m");
  const auto write = [&](const std::string &path) {
    return writePaddle(file.program(), parametersOf(file), folder.file(path));
  };
  ASSERT_TRUE(write("a.pdmodel"));
  EXPECT_EQ(contentsOf(folder.file("a.pdmodel")), linear());
  EXPECT_EQ(contentsOf(folder.file("a.pdiparams")), combined);
  ASSERT_TRUE(write("__model__"));
  EXPECT_EQ(contentsOf(folder.file("__params__")), combined);
  EXPECT_EQ(folder.entries(), 4u);
  EXPECT_EQ(write("b.json").error().kind, ErrorKind::Usage);
  EXPECT_EQ(write("a.pdiparams").error().kind, ErrorKind::Usage);
  EXPECT_EQ(write("nowhere/a.pdmodel").error().kind, ErrorKind::System);
  EXPECT_EQ(folder.entries(), 4u);
}

TEST(PaddleFile, WritesFoldersAsAWhole) {
  const TemporaryFolder folder;
  const PaddleFile file = *PaddleFile::fromMemory(linear(), combined, "m");
  const auto write = [&](const std::string &path) {
    return writePaddle(file.program(), parametersOf(file), folder.file(path));
  };
  ASSERT_TRUE(write("new/"));
  expectLinear(PaddleFile::open(folder.file("new")));
  EXPECT_EQ(contentsOf(folder.file("new/inference.pdmodel")), linear());
  // The program and its parameters are replaced, and nothing else.
  fs::create_directories(folder.file("old/data"));
  folder.write("old/data/notes", "text");
  folder.write("old/__model__", linear());
  folder.write("old/fc_0.w_0", weights);
  folder.write("old/fc_0.b_0", bias);
  const PaddleFile before = *PaddleFile::open(folder.file("old"));
  ASSERT_TRUE(
      writePaddle(before.program(), parametersOf(before), folder.file("old")));
  EXPECT_EQ(contentsOf(folder.file("old/__params__")), combined);
  EXPECT_EQ(contentsOf(folder.file("old/data/notes")), "text");
  EXPECT_FALSE(fs::exists(folder.file("old/fc_0.w_0")));
  // What was open still is what it was.
  expectLinear(before);
  expectLinear(PaddleFile::open(folder.file("old")));
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(PaddleFile, WritesNothingWhereItCannotWriteAll) {
  const TemporaryFolder folder;
  const PaddleFile file = *PaddleFile::fromMemory(linear(), combined, "m");
  Result<void> incomplete =
      writePaddle(file.program(), {{"fc_0.w_0", *file.parameter("fc_0.w_0")}},
                  folder.file("out"));
  ASSERT_FALSE(incomplete);
  EXPECT_EQ(incomplete.error().message(),
            folder.file("out") +
                ": parameter 'fc_0.b_0' of the program has no value");
  std::vector<WrittenParameter> more = parametersOf(file);
  more.push_back({"other", Tensor()});
  EXPECT_FALSE(writePaddle(file.program(), more, folder.file("out")));
  more.back() = {"fc_0.w_0", Tensor()};
  EXPECT_FALSE(writePaddle(file.program(), more, folder.file("out")));
  std::vector<WrittenParameter> odd = parametersOf(file);
  odd.back().tensor = Tensor(ElementType::I4, {1});
  Result<void> unknown = writePaddle(file.program(), odd, folder.file("out"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(folder.entries(), 0u);
}

/// Programs of PaddleOCR, where they are at hand.
TEST(PaddleFile, ReadsRealPrograms) {
  const fs::path models =
      fs::path(SINTER_SOURCE_DIR).parent_path() / "shared/data/paddle";
  if (!fs::exists(models))
    GTEST_SKIP() << models << " is not there";
  struct Expected {
    const char *folder;
    size_t operators, parameters;
    int64_t elements;
  };
  for (const Expected &each : {Expected{"ppocr_v3_det", 236, 288, 592625},
                               Expected{"ppocr_v2_rec_es", 185, 229, 455679}}) {
    Result<PaddleFile> file = PaddleFile::open(models / each.folder);
    ASSERT_TRUE(file) << file.error().message();
    const Program &program = file->program();
    EXPECT_EQ(program.blocks[0].operators.size(), each.operators);
    int64_t elements = 0;
    for (const Variable *parameter : program.parameters())
      elements += file->parameter(parameter->name)->size();
    EXPECT_EQ(program.parameters().size(), each.parameters);
    EXPECT_EQ(elements, each.elements);
    // What was written once is the same ever after, without call stacks.
    Result<std::string> bytes = encodeProgramDesc(program);
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(bytes->find(".py"), std::string::npos);
    EXPECT_EQ(*encodeProgramDesc(*decodeProgramDesc(*bytes)), *bytes);
  }
}
