#include "formats/onnx/KnownForms.h"

#include "graph/nn/NnDropout.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sinter::onnx {

bool comesApart(StringRef opType) {
  static const llvm::StringSet<> names = {
      // Matmuls and convolutions: neighbouring ops fold into their weights and
      // biases.
      "BatchNormalization", "Conv", "ConvTranspose", "Gemm", "MatMul",
      // Chains of one binary operation.
      "Max", "Min", "Sum",
      // Conversions around one operation.
      "Pow",
      // Element movement, and the arithmetic of sizes.
      "Concat", "Gather", "Shape", "Size", "Slice", "Split", "Transpose",
      // One operation, besides the arithmetic of dynamic sizes.
      "Unsqueeze"};
  return names.contains(opType);
}

namespace {

/// The grammar of a form:
///
///   Add(a, b)   a node; Add and Mul match in either order
///   a | b       a or else b
///   a:x         a, named x from here on
///   x           any value; the same one at each occurrence
///   #           a constant
///   _           any value
///   $name       a named sub-form
///
/// A form that is contained in a longer one comes after that one.
struct Part {
  StringRef name, text;
};

constexpr Part formParts[] = {
    {"square", "Pow(d, #) | Mul(d, d)"},
    {"deviation", "Sqrt(Add(ReduceMean($square), #))"},
    {"centred", "Sub(x, ReduceMean(x)):d | Cast(Sub(x, ReduceMean(x))):d"},
    {"norm", "Div($centred, $deviation) | "
             "Mul($centred, Reciprocal($deviation)) | "
             "Cast(Div($centred, $deviation))"},
    {"rms", "Div(_:d, $deviation) | Mul(_:d, Reciprocal($deviation)) | "
            "Mul(_:d, Div(#, $deviation)) | "
            "Cast(Mul(_:d, Reciprocal($deviation))) | "
            "Cast(Mul(_:d, Div(#, $deviation)))"},
    {"cube", "Pow(x, #) | Mul(x, Mul(x, x))"},
    {"erf", "Add(Erf(Div(x, #) | Mul(x, #)), #)"},
    {"tanh", "Add(Tanh(Mul(Add(x, Mul($cube, #)), #) | "
             "Mul(Mul(x, #), Add(Mul(Mul(x, #), x), #))), #)"},
    {"gate", "$erf | $tanh"},
    {"product", "MatMul(_, _)"},
    {"scaled", "Div($product, #) | Mul($product, #) | $product"},
    {"scores", "Add($scaled, _) | Where(_, $scaled, _) | "
               "Where(_, _, $scaled) | $scaled"},
};

constexpr StringLiteral forms[] = {
    "Add(Mul($norm, _), _)",
    "Mul($norm, _)",
    "$norm",
    "Mul(_, $rms)",
    "Mul(Mul(x, $gate), #)",
    "Mul(x, Mul($gate, #))",
    "Mul(Mul(x, #), $gate)",
    "Mul(x, Sigmoid(Mul(x, #)))",
    "Mul(x, Sigmoid(x))",
    "MatMul(Softmax($scores), _)",
};

/// A term of a form.
struct Term {
  enum Kind : uint8_t { Any, Constant, Named, Node, Either } kind = Any;
  /// The name of a node, or the letter of a value.
  std::string name;
  /// The name that the value gets.
  std::string called;
  std::vector<Term> terms;
};

class TermParser {
public:
  explicit TermParser(StringRef text) : rest(text) {}

  Term parse() {
    Term first = parseOne();
    if (!eat('|'))
      return first;
    Term either;
    either.kind = Term::Either;
    either.terms.push_back(std::move(first));
    do
      either.terms.push_back(parseOne());
    while (eat('|'));
    return either;
  }

private:
  bool eat(char letter) {
    rest = rest.ltrim();
    return rest.consume_front(StringRef(&letter, 1));
  }

  Term parseOne() {
    Term term;
    if (eat('#')) {
      term.kind = Term::Constant;
    } else if (eat('$')) {
      StringRef name = word();
      for (const Part &part : formParts)
        if (part.name == name)
          term = TermParser(part.text).parse();
    } else if (!eat('_')) {
      rest = rest.ltrim();
      term.name = word().str();
      term.kind = Term::Named;
      if (eat('(')) {
        term.kind = Term::Node;
        do
          term.terms.push_back(parse());
        while (eat(','));
        eat(')');
      }
    }
    if (eat(':'))
      term.called = word().str();
    return term;
  }

  StringRef word() {
    StringRef result = rest.take_while([](char c) { return llvm::isAlnum(c); });
    rest = rest.drop_front(result.size());
    return result;
  }

  StringRef rest;
};

/// The state of a match.
struct Match {
  llvm::SmallVector<std::pair<StringRef, Value>, 4> named;
  llvm::SmallVector<int64_t> nodes;
};

class Matcher {
public:
  explicit Matcher(ArrayRef<ReadNode> nodes) : nodes(nodes) {
    for (auto [number, node] : llvm::enumerate(nodes))
      for (Value output : node.outputs)
        if (output)
          makers.try_emplace(output, number);
  }

  bool matches(const Term &term, Value value, Match &match) const {
    if (!value)
      return false;
    // A dropout is the identity at inference.
    if (auto dropout = value.getDefiningOp<nn::DropoutOp>();
        dropout && !dropout.getMask())
      value = dropout.getOperand();
    const Match before = match;
    if (!matchesKind(term, value, match)) {
      match = before;
      return false;
    }
    if (!term.called.empty())
      match.named.push_back({term.called, value});
    return true;
  }

private:
  bool matchesKind(const Term &term, Value value, Match &match) const {
    switch (term.kind) {
    case Term::Any:
      return true;
    case Term::Constant:
      return value.getDefiningOp<stablehlo::ConstantOp>() != nullptr;
    case Term::Named:
      for (auto [name, known] : match.named)
        if (name == term.name)
          return known == value;
      match.named.push_back({term.name, value});
      return true;
    case Term::Either:
      return llvm::any_of(term.terms, [&](const Term &each) {
        return matches(each, value, match);
      });
    case Term::Node:
      return matchesNode(term, value, match);
    }
    return false;
  }

  bool matchesNode(const Term &term, Value value, Match &match) const {
    auto maker = makers.find(value);
    if (maker == makers.end())
      return false;
    const ReadNode &node = nodes[maker->second];
    // Inputs after those of a form (axes, a scalar) are ignored.
    if (node.opType != term.name || node.inputs.size() < term.terms.size())
      return false;
    match.nodes.push_back(maker->second);
    const Match before = match;
    auto inOrder = [&](ArrayRef<unsigned> order) {
      for (auto [i, each] : llvm::enumerate(term.terms))
        if (!matches(each, node.inputs[order.empty() ? i : order[i]], match)) {
          match = before;
          return false;
        }
      return true;
    };
    bool commutes = term.name == "Add" || term.name == "Mul";
    return inOrder({}) || (commutes && inOrder({1, 0}));
  }

  ArrayRef<ReadNode> nodes;
  llvm::DenseMap<Value, int64_t> makers;
};

} // namespace

std::vector<SmallVector<int64_t>> findKnownForms(ArrayRef<ReadNode> nodes) {
  static const std::vector<Term> terms = [] {
    std::vector<Term> all;
    for (StringRef text : forms)
      all.push_back(TermParser(text).parse());
    return all;
  }();
  const Matcher matcher(nodes);
  std::vector<SmallVector<int64_t>> found;
  llvm::SmallVector<bool> taken(nodes.size(), false);
  // Match longer forms first.
  for (const Term &term : terms)
    for (auto [number, node] : llvm::enumerate(nodes)) {
      // Check the root operator first, which is cheap.
      if (taken[number] || node.outputs.empty())
        continue;
      Match match;
      if (!matcher.matches(term, node.outputs.front(), match) ||
          llvm::any_of(match.nodes, [&](int64_t each) { return taken[each]; }))
        continue;
      llvm::sort(match.nodes);
      match.nodes.erase(llvm::unique(match.nodes), match.nodes.end());
      for (int64_t each : match.nodes)
        taken[each] = true;
      found.push_back(std::move(match.nodes));
    }
  return found;
}

} // namespace sinter::onnx
