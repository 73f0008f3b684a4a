//===- StablehloTextFuzzer.cpp - texts that are nearly programs -----------===//
//
// Reads the bytes as StableHLO text; what is read is written, and must be
// readable again. Nothing may crash, and every error is one line. Mutations
// change words, numbers and brackets rather than bytes, and move whole lines,
// so that most of what is tried gets past the parser to the verifiers.
//
//===----------------------------------------------------------------------===//

#include "MemoryErrors.h"
#include "formats/stablehlo/StablehloReader.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace sinter;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const AbortOnMemoryErrors atTheEnd;
  const std::string text(reinterpret_cast<const char *>(data), size);
  Result<Model> model = parseStablehlo(text, "fuzz.mlir");
  if (!model) {
    if (model.error().message().find('\n') != std::string::npos) {
      std::fprintf(stderr, "%s\n", model.error().message().c_str());
      std::abort();
    }
    return 0;
  }
  std::string written;
  llvm::raw_string_ostream stream(written);
  model->module().print(stream);
  if (Result<Model> again = parseStablehlo(written, "again.mlir"); !again) {
    std::fprintf(stderr, "%s\n%s\n", again.error().message().c_str(),
                 written.c_str());
    std::abort();
  }
  return 0;
}

namespace {

/// A text as the words it consists of: names, numbers, single signs, spaces.
std::vector<std::string> wordsOf(const std::string &text) {
  auto isWord = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' ||
           letter == '.' || letter == '%' || letter == '@';
  };
  std::vector<std::string> words;
  for (char letter : text)
    if (isWord(letter) && !words.empty() && isWord(words.back().back()))
      words.back() += letter;
    else
      words.emplace_back(1, letter);
  return words;
}

/// Moves or copies a line to where another begins: values are used before they
/// are defined, defined again, or outside of what holds them.
std::string withLineMoved(const std::string &text, std::mt19937 &random) {
  std::vector<size_t> starts = {0};
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    starts.push_back(++at);
  starts.push_back(text.size());
  const size_t lines = starts.size() - 1;
  const size_t from = random() % lines, to = random() % lines;
  const size_t count = std::min(lines - from, size_t(1 + random() % 3));
  const size_t begin = starts[from], size = starts[from + count] - begin;
  std::string moved = text.substr(begin, size);
  std::string result = text;
  result.insert(starts[to], moved);
  if (random() % 2)
    result.erase(starts[to] <= begin ? begin + size : begin, size);
  return result;
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  static constexpr const char *strange[] = {"0",
                                            "1",
                                            "-1",
                                            "2",
                                            "9223372036854775807",
                                            "?",
                                            "4294967296",
                                            "i1",
                                            "f32",
                                            "f8E4M3FN",
                                            "complex<f32>",
                                            "tensor<f32>",
                                            "tensor<0xi64>",
                                            "[",
                                            "]",
                                            "{",
                                            "}",
                                            "!stablehlo.token",
                                            "!quant.uniform<i8:f32, 0.5:3>",
                                            "dense<0>",
                                            "dense<[]>",
                                            "unit"};
  std::mt19937 random(seed);
  auto below = [&](size_t limit) { return random() % limit; };
  std::vector<std::string> words =
      wordsOf(std::string(reinterpret_cast<const char *>(data), size));
  if (words.empty())
    return 0;
  for (size_t edits = 1 + below(3); edits > 0; --edits) {
    std::string &word = words[below(words.size())];
    switch (below(5)) {
    case 0:
      word = strange[below(std::size(strange))];
      break;
    case 1:
      word.clear();
      break;
    case 2:
      word += word;
      break;
    default:
      // Another of the text's own words: other operands, types, operations.
      word = words[below(words.size())];
    }
    if (word.empty())
      word = " ";
  }
  std::string text;
  for (const std::string &word : words)
    text += word;
  if (below(4) == 0)
    text = withLineMoved(text, random);
  text.resize(std::min(text.size(), maxSize));
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
