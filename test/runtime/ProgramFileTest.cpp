// Covers: runtime Arena CodeImage ExternalSymbols Program

#include "runtime/ProgramFile.h"
#include "TemporaryFolder.h"
#include "runtime/DynamicProgram.h"
#include "runtime/Hash.h"
#include "runtime/MappedFile.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/TestProgram.h"

#include <gtest/gtest.h>
#include <random>

#if defined(__x86_64__)

using namespace sinter;
using namespace sinter::test;

namespace {

constexpr size_t headerSize = 48;

/// The file of testProgram(), which tests then damage.
std::string savedProgram(const TemporaryFolder &folder) {
  EXPECT_TRUE(saveProgram(testProgram(), folder.file("p")));
  return *readFile(folder.file("p"));
}

TEST(ProgramFileTest, LoadsWhatWasSaved) {
  TemporaryFolder folder;
  savedProgram(folder);
  auto loaded = loadProgram(folder.file("p"));
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Program expected = testProgram();
  EXPECT_EQ((*loaded)->features, expected.features);
  EXPECT_EQ((*loaded)->inputs, expected.inputs);
  EXPECT_EQ((*loaded)->outputs, expected.outputs);
  ASSERT_EQ((*loaded)->constants.size(), 2u);
  EXPECT_TRUE(std::ranges::equal((*loaded)->constants[1].bytes,
                                 expected.constants[1].bytes));

  auto executor =
      ProgramExecutor::create(*loaded, std::make_shared<ThreadPool>(2));
  ASSERT_TRUE(executor);
  std::vector<Tensor> inputs = {Tensor(ElementType::I32, {1000})};
  auto results = (*executor)->run(inputs);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].at<int32_t>(999), 1);
  EXPECT_EQ((*results)[1].at<int32_t>(0), 10);
}

TEST(ProgramFileTest, EveryDamagedByteIsFound) {
  TemporaryFolder folder;
  const std::string good = savedProgram(folder);
  // The middle of the file is one long run of code padding.
  for (size_t i = 0; i < good.size(); ++i) {
    if (i > 600 && i + 1500 < good.size() && i % 397 != 0)
      continue;
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    folder.write("bad", bad);
    EXPECT_FALSE(loadProgram(folder.file("bad"))) << "byte " << i;
  }
}

/// A thousand files with some bytes changed anywhere: each is refused.
TEST(ProgramFileTest, NoDamageGoesUnseen) {
  TemporaryFolder folder;
  Program program = testProgram();
  // More than one hash of constants, some of them over a border.
  for (size_t bytes : {size_t(5) << 20, size_t(3) << 20, size_t(100)})
    program.constants.push_back(
        constantOf(std::vector<int32_t>(bytes / sizeof(int32_t), 7)));
  ASSERT_TRUE(saveProgram(program, folder.file("p")));
  ASSERT_TRUE(loadProgram(folder.file("p")));
  const auto size = std::filesystem::file_size(folder.file("p"));
  std::minstd_rand random(1);
  for (int round = 0; round < 1000; ++round) {
    std::fstream file(folder.file("p"),
                      std::ios::in | std::ios::out | std::ios::binary);
    // Places near the metadata as often as places among the constants.
    const uint64_t range = round % 2 == 0 ? size : uint64_t(100000);
    const uint64_t place = (uint64_t(random()) << 16 ^ random()) % range;
    const size_t count =
        std::min<size_t>(round % 3 == 0 ? 50 : 1, size - place);
    std::string before(count, 0);
    file.seekg(place).read(before.data(), count);
    std::string after = before;
    for (char &byte : after)
      byte ^= static_cast<char>(1 + random() % 255);
    file.seekp(place).write(after.data(), count).flush();
    EXPECT_FALSE(loadProgram(folder.file("p"))) << "at " << place;
    file.seekp(place).write(before.data(), count).flush();
  }
  EXPECT_TRUE(loadProgram(folder.file("p")));
}

TEST(ProgramFileTest, TruncatedFilesAreErrors) {
  TemporaryFolder folder;
  const std::string good = savedProgram(folder);
  for (size_t size : {size_t(0), size_t(7), size_t(47), size_t(48),
                      size_t(1000), good.size() - 100, good.size() - 1}) {
    folder.write("bad", std::string_view(good).substr(0, size));
    EXPECT_FALSE(loadProgram(folder.file("bad"))) << size;
  }
  folder.write("bad", good + "x");
  EXPECT_FALSE(loadProgram(folder.file("bad")));
}

/// Somebody's own file: what is damaged has the right checksum.
class ForgedFile {
public:
  explicit ForgedFile(const TemporaryFolder &folder)
      : folder(folder), good(savedProgram(folder)) {
    std::memcpy(&metadataSize, good.data() + 16, 8);
  }

  /// Loads the file with \p change made to its metadata. Names and numbers may
  /// change without harm; what loads has been verified, and can be made ready
  /// to run or not.
  template <typename Change> void check(Change &&change) const {
    std::string bad = good;
    const std::span<char> metadata(bad.data() + headerSize, metadataSize);
    change(metadata);
    const Hash128 hash = hashOf(std::as_bytes(metadata));
    std::memcpy(bad.data() + 24, &hash.low, 8);
    std::memcpy(bad.data() + 32, &hash.high, 8);
    folder.write("bad", bad);
    auto loaded = loadProgram(folder.file("bad"));
    if (!loaded)
      return;
    EXPECT_TRUE(verify(**loaded));
    static_cast<void>(
        ProgramExecutor::create(*loaded, std::make_shared<ThreadPool>(1)));
  }

  uint64_t metadataSize = 0;

private:
  const TemporaryFolder &folder;
  std::string good;
};

TEST(ProgramFileTest, NonsenseWithARightChecksumDoesNotCrash) {
  TemporaryFolder folder;
  const ForgedFile file(folder);
  const size_t end = file.metadataSize;
  for (char value : {'\0', '\x01', '\x7f', '\xff'}) {
    for (size_t i = 0; i < 300; i += 3)
      file.check([&](std::span<char> metadata) { metadata[i] = value; });
    for (size_t i = end - 1400; i < end; i += 3)
      file.check([&](std::span<char> metadata) { metadata[i] = value; });
  }
}

TEST(ProgramFileTest, RandomNonsenseDoesNotCrash) {
  TemporaryFolder folder;
  const ForgedFile file(folder);
  std::minstd_rand random(2);
  // Where the numbers are: before the code, and behind it.
  const auto place = [&](size_t size) {
    return random() % 2 == 0
               ? random() % 300
               : size - 1 - random() % std::min<size_t>(size, 1400);
  };
  for (int round = 0; round < 1000; ++round)
    file.check([&](std::span<char> metadata) {
      for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
        const size_t at = place(metadata.size());
        switch (random() % 3) {
        case 0:
          metadata[at] = static_cast<char>(random());
          break;
        case 1: // A number of 8 bytes.
          for (size_t i = at; i < std::min(at + 8, metadata.size()); ++i)
            metadata[i] = static_cast<char>(random() % 3 == 0 ? random() : 0);
          break;
        default: // A piece from elsewhere.
          const size_t from = place(metadata.size());
          const size_t size =
              std::min<size_t>({8 + random() % 24, metadata.size() - at,
                                metadata.size() - from});
          std::memmove(metadata.data() + at, metadata.data() + from, size);
        }
      }
    });
}

/// Sizes that are known, as a dynamic program has them.
std::vector<DynamicStep> dynamicStepsOf(std::span<const Step> steps) {
  std::vector<DynamicStep> all;
  for (const Step &step : steps) {
    DynamicStep &dynamic = all.emplace_back();
    for (const TensorSpec &spec : step.tensors)
      dynamic.tensors.emplace_back(spec.shape.begin(), spec.shape.end());
    for (const std::vector<Step> &body : step.bodies)
      dynamic.bodies.push_back(dynamicStepsOf(body));
    if (step.kind == StepKind::If)
      dynamic.fits.resize(step.bodies.size());
  }
  return all;
}

/// The first of \p steps that is of \p kind, or of their bodies'.
DynamicStep *firstOf(std::span<const Step> steps,
                     std::vector<DynamicStep> &dynamic, StepKind kind) {
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == kind)
      return &dynamic[i];
    for (size_t body = 0; body < steps[i].bodies.size(); ++body)
      if (DynamicStep *inner =
              firstOf(steps[i].bodies[body], dynamic[i].bodies[body], kind))
        return inner;
  }
  return nullptr;
}

TEST(ProgramFileTest, DynamicSizesAreThoseOfTheProgram) {
  const Program program = testProgram();
  DynamicProgram sound;
  sound.parameters = {"n"};
  for (auto [specs, sizes] : {std::pair{&program.inputs, &sound.inputs},
                              std::pair{&program.outputs, &sound.outputs}})
    for (const TensorSpec &spec : *specs)
      sizes->emplace_back(spec.shape.begin(), spec.shape.end());
  sound.inputs[0][0] = SizeExpression::parameter(0);
  sound.steps = dynamicStepsOf(program.steps);
  TemporaryFolder folder;
  const auto load = [&](const DynamicProgram &dynamic) {
    Program changed = program;
    changed.dynamic = std::make_shared<DynamicProgram>(dynamic);
    EXPECT_TRUE(saveProgram(changed, folder.file("p")));
    return loadProgram(folder.file("p"));
  };
  EXPECT_TRUE(load(sound));
  const std::pair<const char *, void (*)(DynamicProgram &)> damages[] = {
      {"inputs", [](DynamicProgram &open) { open.inputs.pop_back(); }},
      {"rank", [](DynamicProgram &open) { open.inputs[0].pop_back(); }},
      {"parameter", [](DynamicProgram &open) { open.parameters.clear(); }},
      {"outputs", [](DynamicProgram &open) { open.outputs.clear(); }},
      {"steps", [](DynamicProgram &open) { open.steps.pop_back(); }},
      {"definition", [](DynamicProgram &dynamic) {
         dynamic.steps[0].defines.push_back({0, 0});
       }}};
  for (const auto &[name, damage] : damages) {
    DynamicProgram dynamic = sound;
    damage(dynamic);
    auto loaded = load(dynamic);
    ASSERT_FALSE(loaded) << name;
    EXPECT_NE(loaded.error().message().find("its dynamic sizes make no sense"),
              std::string::npos)
        << name << ": " << loaded.error().message();
  }
  for (StepKind kind : {StepKind::If, StepKind::While, StepKind::HostCall}) {
    DynamicProgram dynamic = sound;
    DynamicStep *step = firstOf(program.steps, dynamic.steps, kind);
    if (!step)
      continue;
    step->bodies.clear();
    step->tensors.clear();
    EXPECT_FALSE(load(dynamic)) << static_cast<int>(kind);
  }
}

TEST(ProgramFileTest, OtherVersionsAreUnsupported) {
  TemporaryFolder folder;
  std::string other = savedProgram(folder);
  other[8] = 99;
  folder.write("p", other);
  auto loaded = loadProgram(folder.file("p"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::Unsupported);
}

} // namespace

#endif // __x86_64__
