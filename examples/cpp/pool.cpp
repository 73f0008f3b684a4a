//===- pool.cpp - a pool of workers that share a compiled model -----------===//
//
//     pool MODEL WORKERS FILE...
//
// Each FILE holds the elements of the model's input, as they are in memory; the
// elements of its output go to FILE.out. The model has one input and one output
// of f32; dynamic dimensions are 1. Every worker has a binding of the one
// session, with memory of its own, so workers do not wait for each other.
//
//===----------------------------------------------------------------------===//

#include <sinter.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

int fail(const sinter::Error &error) {
  std::fprintf(stderr, "%s\n", error.message());
  return error.status();
}

/// The sizes that \p describe says of an input or output of \p session.
template <typename Describe>
std::vector<int64_t> shapeOf(const sinter::Session &session,
                             Describe &&describe) {
  sinter_value_info info = {};
  info.struct_size = sizeof(info);
  if (describe(session.get(), 0, &info, nullptr) != SINTER_OK || info.rank < 0)
    return {};
  std::vector<int64_t> shape(info.shape, info.shape + info.rank);
  std::ranges::replace(shape, -1, 1);
  return shape;
}

size_t countOf(const std::vector<int64_t> &shape) {
  size_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<size_t>(size);
  return count;
}

/// A binding and the memory that is bound.
class Worker {
public:
  Worker(sinter::Session &session)
      : inputShape(shapeOf(session, sinter_session_input)),
        outputShape(shapeOf(session, sinter_session_output)),
        x(countOf(inputShape)), y(countOf(outputShape)),
        binding(session.bind()) {}

  /// Prints what fails.
  bool bind() {
    return good(binding) &&
           good(binding->setInput(0, sinter::view(x, inputShape))) &&
           good(binding->setOutput(0, sinter::view(y, outputShape)));
  }

  bool serve(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char *>(x.data()), bytesOf(x));
    if (!in)
      return std::fprintf(stderr, "%s: too short\n", path.c_str()), false;
    if (!good(binding->run()))
      return false;
    std::ofstream out(path + ".out", std::ios::binary);
    out.write(reinterpret_cast<const char *>(y.data()), bytesOf(y));
    return out.flush().good();
  }

private:
  template <typename Result> static bool good(const Result &result) {
    if (!result)
      fail(result.error());
    return bool(result);
  }
  static std::streamsize bytesOf(const std::vector<float> &values) {
    return static_cast<std::streamsize>(values.size() * sizeof(float));
  }

  std::vector<int64_t> inputShape, outputShape;
  std::vector<float> x, y;
  sinter::Result<sinter::Binding> binding;
};

} // namespace

int main(int argc, char **argv) {
  const int workers = argc > 3 ? std::atoi(argv[2]) : 0;
  if (workers < 1)
    return std::fprintf(stderr, "usage: pool MODEL WORKERS FILE...\n"), 2;
  auto model = sinter::Model::open(argv[1]);
  if (!model)
    return fail(model.error());
  // The workers are the threads.
  auto session = model->compile({{"threads", "1"}});
  if (!session)
    return fail(session.error());

  std::atomic<int> next = 3;
  std::atomic<bool> failed = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; ++i)
    threads.emplace_back([&] {
      Worker worker(*session);
      if (!worker.bind())
        failed = true;
      for (int file = 0; !failed && (file = next++) < argc;)
        if (!worker.serve(argv[file]))
          failed = true;
    });
  threads.clear();
  return failed ? 1 : 0;
}
