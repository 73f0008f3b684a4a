//===- workflow.cpp - a model's whole way ---------------------------------===//
//
//     workflow glyphs.onnx FOLDER
//
// Loads, compiles, runs, simplifies, quantises, trains and saves a model. It
// takes images 1x32x32 and gives a probability for each of 36 classes. FOLDER
// gets simple.onnx, int8.onnx and trained.onnx.
//
//===----------------------------------------------------------------------===//

#include <sinter.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int64_t batchSize = 8, pixels = 32 * 32, classCount = 36;

/// Ends the program if \p result is an error.
template <typename T> T orExit(sinter::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message());
    std::exit(result.error().status());
  }
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

/// Images and their classes. The top bits of a linear congruential generator
/// stand for data.
struct Batch {
  std::vector<float> images;
  std::vector<int64_t> classes;

  explicit Batch(size_t index) {
    uint32_t state = static_cast<uint32_t>(index) + 1;
    for (int64_t i = 0; i < batchSize * pixels; ++i) {
      state = state * 1664525u + 1013904223u;
      images.push_back(static_cast<float>(state >> 8) * 0x1p-24f);
    }
    for (int64_t i = 0; i < batchSize; ++i)
      classes.push_back((i + static_cast<int64_t>(index)) % classCount);
  }

  sinter::TensorView imageView() {
    return sinter::view(images, {batchSize, 1, 32, 32});
  }
  sinter::TensorView classView() { return sinter::view(classes, {batchSize}); }
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: workflow glyphs.onnx FOLDER\n");
    return 2;
  }
  const std::string folder = argv[2];
  const sinter::Model model = orExit(sinter::Model::open(argv[1]));
  sinter::Session session = orExit(model.compile({{"threads", "2"}}));
  Batch first(0);
  const auto results = orExit(session.run({first.imageView()}));
  std::printf("%.8g\n", results.front().values<float>()[0]);

  orExit(orExit(model.optimize()).save(folder + "/simple.onnx"));

  std::vector<Batch> samples;
  for (size_t i = 0; i < 4; ++i)
    samples.emplace_back(i);
  const auto sample = [&](size_t index) {
    return std::vector{samples[index].imageView()};
  };
  orExit(orExit(model.quantize(samples.size(), sample))
             .save(folder + "/int8.onnx"));

  sinter::Trainer trainer = orExit(model.train(
      {{"loss", "cross-entropy"}, {"optimizer", "adamw"}, {"lr", "1e-3"}}));
  double loss = 0;
  for (size_t step = 0; step < 10; ++step) {
    Batch batch(step);
    loss = orExit(trainer.step({batch.imageView(), batch.classView()}));
  }
  std::printf("%.8g\n", loss);
  orExit(orExit(trainer.model()).save(folder + "/trained.onnx"));
}
