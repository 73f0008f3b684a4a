// TfIdfVectorizer.

#include "formats/import/Building.h"
#include "formats/import/TextBuilding.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

namespace {
struct Vocabulary {
  int64_t shortest = 1, longest = 1, skips = 0;
  /// All n-grams, sorted by length, and the offset at which each length starts.
  Ints pool, starts;
  /// Of strings: the words that the pool has the indices of.
  std::vector<std::string> words;
  /// Each n-gram's index in the result, and its weight.
  Ints columns;
  SmallVector<double> weights;
  /// Whether counts are clamped to 1.
  bool presence = false;

  int64_t end(int64_t length) const {
    return length < static_cast<int64_t>(starts.size())
               ? starts[length]
               : static_cast<int64_t>(pool.size());
  }
  int64_t count(int64_t length) const {
    return (end(length) - starts[length - 1]) / length;
  }
};
} // namespace

/// A pool of strings as the indices of its words.
static void readStrings(NodeContext &node, Vocabulary &words) {
  llvm::StringMap<int64_t> places;
  for (const std::string &word : node.getStrings("pool_strings")) {
    const auto [at, isNew] = places.try_emplace(word, words.words.size());
    if (isNew)
      words.words.push_back(word);
    words.pool.push_back(at->second);
  }
}

static std::optional<Vocabulary> readVocabulary(NodeContext &node) {
  Vocabulary words;
  words.shortest = node.getInt("min_gram_length", 1);
  words.longest = node.getInt("max_gram_length", 1);
  words.skips = node.getInt("max_skip_count", 0);
  words.pool = node.getInts("pool_int64s");
  words.starts = node.getInts("ngram_counts");
  words.columns = node.getInts("ngram_indexes");
  words.weights = node.getFloats("weights");
  std::string mode = node.getString("mode", "");
  if (node.hasAttribute("pool_strings")) {
    if (!words.pool.empty())
      return node.fail("has a pool of integers and one of strings");
    readStrings(node, words);
  }
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return node.fail("attribute 'mode' is not TF, IDF or TFIDF");
  words.presence = mode == "IDF";
  if (mode == "TF" || words.weights.empty())
    words.weights.assign(words.columns.size(), 1.0);
  if (words.weights.size() != words.columns.size() || words.columns.empty())
    return node.fail("'weights' and 'ngram_indexes' differ in length, or are "
                     "empty");
  int64_t lengths = words.starts.size();
  if (words.shortest < 1 || words.longest < words.shortest ||
      words.longest > lengths || words.longest > 64 || words.skips < 0 ||
      words.skips > 64)
    return node.fail("a length or the number of skips is out of range");
  int64_t grams = 0;
  for (int64_t n = 1; n <= lengths; ++n) {
    int64_t start = words.starts[n - 1];
    if (start < 0 || start > words.end(n) ||
        words.end(n) > static_cast<int64_t>(words.pool.size()) ||
        (words.end(n) - start) % n != 0)
      return node.fail("attribute 'ngram_counts' does not fit the pool");
    grams += words.count(n);
  }
  if (grams != static_cast<int64_t>(words.columns.size()))
    return node.fail("attribute 'ngram_indexes' needs one entry per n-gram");
  for (int64_t column : words.columns)
    if (column < 0 || column > (1 << 24))
      return node.fail("attribute 'ngram_indexes' is out of range");
  return words;
}

/// How often each n-gram of a length occurs in \p x [B, L] with every
/// \p stride-th element; [B, n-grams] in f32.
static Value countGrams(NodeContext &node, const Vocabulary &words, Value x,
                        int64_t n, int64_t stride) {
  int64_t span = (n - 1) * stride + 1;
  int64_t grams = words.count(n), positions = node.size(x, 1) - span + 1;
  Value match;
  for (int64_t k = 0; k < n && !node.failed(); ++k) {
    std::vector<int64_t> wanted;
    for (int64_t gram = 0; gram < grams; ++gram)
      wanted.push_back(words.pool[words.starts[n - 1] + gram * n + k]);
    Value here = node.unsqueeze(
        node.sliceAxis(x, 1, k * stride, k * stride + positions), {2});
    Value same = node.compare(here, integers(node, wanted, {1, 1, grams}),
                              ComparisonDirection::EQ);
    match = match ? node.op<stablehlo::AndOp>(match, same) : same;
  }
  return node.reduce<stablehlo::AddOp>(node.cast(match, node.f32()), {1}, 0,
                                       false);
}

/// The counts of all n-grams, [B, n-grams].
static Value countAll(NodeContext &node, const Vocabulary &words, Value x) {
  Values pieces;
  int64_t length = node.size(x, 1);
  for (int64_t n = 1; n <= static_cast<int64_t>(words.starts.size()); ++n) {
    Value sum = node.broadcastInDim(node.scalar(node.f32(), 0),
                                    Dims{node.dim(x, 0), words.count(n)}, {});
    bool counts =
        n >= words.shortest && n <= words.longest && words.count(n) > 0;
    int64_t strides = n == 1 ? 1 : words.skips + 1;
    for (int64_t stride = 1; counts && stride <= strides; ++stride)
      if ((n - 1) * stride + 1 <= length)
        sum = node.op<stablehlo::AddOp>(sum,
                                        countGrams(node, words, x, n, stride));
    pieces.push_back(sum);
  }
  return node.concatenate(pieces, 1);
}

static LogicalResult importTfIdfVectorizer(NodeContext &node) {
  Value x = node.operand(0);
  auto words = readVocabulary(node);
  if (!x || !words)
    return failure();
  int64_t rank = node.rank(x);
  if (rank != 1 && rank != 2)
    return node.fail("the input has neither one nor two dimensions");
  if (areStrings(node, x) == words->words.empty())
    return node.fail("the input and the pool are not both of strings or both "
                     "of integers");
  x = areStrings(node, x) ? findIn(node, x, words->words)
                          : node.cast(x, node.i64());
  if (rank == 1)
    x = node.unsqueeze(x, {0});
  if (!x)
    return failure();
  if (!node.isStatic(x))
    return node.unsupported("an input of unknown size");
  Value counts = countAll(node, *words, x);
  if (words->presence)
    counts = node.binary<stablehlo::MinOp>(counts, node.one(counts, 1));
  int64_t grams = words->columns.size();
  int64_t width = *llvm::max_element(words->columns) + 1;
  if (grams > (1 << 26) / width)
    return node.unsupported("a vocabulary of this size");
  std::vector<double> spread(grams * width, 0.0);
  for (int64_t i = 0; i < grams; ++i)
    spread[i * width + words->columns[i]] += words->weights[i];
  auto dimensions =
      stablehlo::DotDimensionNumbersAttr::get(node.context(), {}, {}, {1}, {0});
  Value result = node.typed<stablehlo::DotGeneralOp>(
      node.tensorType({node.size(x, 0), width}, node.f32()), counts,
      numbers(node, node.f32(), spread, {grams, width}), dimensions,
      ArrayAttr(), stablehlo::DotAlgorithmAttr());
  return node.result(rank == 1 ? node.squeeze(result, {0}) : result);
}

llvm::ArrayRef<Operator> nGramOperators() {
  static const Operator table[] = {
      {"TfIdfVectorizer", "", 9, importTfIdfVectorizer, 1, 1, false, true},
  };
  return table;
}

} // namespace sinter::onnx
