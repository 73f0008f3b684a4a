//===- FunctionCheck.h - special functions against references -------------===//

#ifndef SINTER_TEST_GRAPH_CHLO_FUNCTIONCHECK_H
#define SINTER_TEST_GRAPH_CHLO_FUNCTIONCHECK_H

#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/chlo/DecomposeChlo.h"
#include "graph/chlo/ExpandComplex.h"
#include "graph/nn/NnOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Comparison.h"

#include <cmath>
#include <complex>
#include <gtest/gtest.h>

namespace sinter::functioncheck {

using namespace mlir;
using namespace sinter;

using Long = long double;
using LongComplex = std::complex<Long>;

/// Replaces the complex functions of stablehlo.
inline void expandAll(ModuleOp module) {
  SmallVector<Operation *> all;
  module.walk([&](Operation *op) { all.push_back(op); });
  for (Operation *op : all) {
    OpBuilder builder(op);
    if (FailureOr<Value> value = expandComplex(op, builder); succeeded(value)) {
      op->getResult(0).replaceAllUsesWith(*value);
      op->erase();
    }
  }
}

/// Replaces what `chlo` becomes whole.
inline void decomposeNn(ModuleOp module) {
  SmallVector<DecomposableOpInterface> all;
  module.walk([&](DecomposableOpInterface op) {
    if (isa<nn::NnDialect>(op->getDialect()))
      all.push_back(op);
  });
  for (DecomposableOpInterface op : all) {
    OpBuilder builder(op);
    auto values = op.decompose(builder);
    ASSERT_TRUE(succeeded(values));
    op->replaceAllUsesWith(*values);
    op->erase();
  }
}

/// Runs OP (`chlo.erf`, `stablehlo.exponential`) on the arguments in the
/// operations that it is built from; its result.
inline Tensor run(const std::string &op, const std::vector<Tensor> &arguments,
                  const std::string &resultElement) {
  auto context = makeContext();
  std::string types, names, list;
  for (const Tensor &argument : arguments) {
    std::string type;
    llvm::raw_string_ostream stream(type);
    stream << tensorTypeOf(argument.type(), argument.shape(), context.get());
    const std::string name = "%" + std::to_string(types.size());
    list += (types.empty() ? "" : ", ") + name + ": " + type;
    names += (types.empty() ? "" : ", ") + name;
    types += (types.empty() ? "" : ", ") + type;
  }
  const std::string result = "tensor<" + std::to_string(arguments[0].size()) +
                             "x" + resultElement + ">";
  const std::string text = "func.func @main(" + list + ") -> " + result +
                           " {\n  %r = \"" + op + "\"(" + names + ") : (" +
                           types + ") -> " + result +
                           "\n  return %r : " + result + "\n}";
  auto module = parseSourceString<ModuleOp>(text, context.get());
  if (!module) {
    ADD_FAILURE() << text;
    return {};
  }
  decomposeChlo(*module);
  decomposeNn(*module);
  expandAll(*module);
  EXPECT_TRUE(succeeded(verify(*module)));
  auto results =
      interpret(module->lookupSymbol<func::FuncOp>("main"), arguments);
  if (!results) {
    ADD_FAILURE() << results.error().message();
    return {};
  }
  return std::move(results->front());
}

template <typename T> constexpr ElementType typeFor() {
  if constexpr (std::is_same_v<T, float>)
    return ElementType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return ElementType::F64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return ElementType::C64;
  else
    return ElementType::C128;
}
template <typename T> Tensor tensorOf(const std::vector<T> &values) {
  return Tensor::of<T>(typeFor<T>(), {static_cast<int64_t>(values.size())},
                       values);
}

/// Checks that each value is within \p ulps representable values of
/// \p reference, or within \p absolute of it.
template <typename T, typename Reference>
void check(const std::string &op, const std::vector<T> &values,
           Reference reference, uint64_t ulps, double absolute = 0) {
  std::string element = typeFor<T>() == ElementType::F32   ? "f32"
                        : typeFor<T>() == ElementType::F64 ? "f64"
                        : typeFor<T>() == ElementType::C64 ? "complex<f32>"
                                                           : "complex<f64>";
  Tensor got = run(op, {tensorOf(values)}, element);
  ASSERT_EQ(got.size(), static_cast<int64_t>(values.size()));
  std::vector<T> expected;
  for (T value : values)
    expected.push_back(static_cast<T>(reference(value)));
  Tensor wanted = tensorOf(expected);
  for (int64_t i = 0; i < got.size(); ++i) {
    const T value = got.template at<T>(i);
    if (ulpDistance(got, wanted, i) > ulps &&
        !(std::abs(value - expected[i]) <= absolute))
      FAIL() << op << " of " << element << " " << values[i] << ": got " << value
             << ", expected " << expected[i] << ", "
             << ulpDistance(got, wanted, i) << " apart";
  }
}

/// Parts of every magnitude that matters, with both signs.
template <typename T> std::vector<std::complex<T>> plane() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> parts = {T(0),
                          Limits::denorm_min(),
                          Limits::min(),
                          std::sqrt(Limits::min()),
                          Limits::epsilon(),
                          T(1e-3),
                          T(0.3),
                          T(0.7),
                          1 - Limits::epsilon() / 2,
                          T(1),
                          1 + Limits::epsilon(),
                          T(1.6),
                          T(5),
                          T(1000),
                          1 / Limits::epsilon(),
                          std::sqrt(Limits::max()),
                          Limits::max() / 3,
                          Limits::max()};
  std::vector<std::complex<T>> values;
  for (T re : parts)
    for (T im : parts)
      for (T a : {re, -re})
        for (T b : {im, -im})
          values.push_back({a, b});
  return values;
}

#define COMPLEX(expression)                                                    \
  [](LongComplex z) -> LongComplex { return expression; }
template <typename Reference>
void checkComplex(const std::string &op, Reference reference, uint64_t ulps) {
  check(op, plane<float>(), reference, ulps);
  check(op, plane<double>(), reference, ulps);
}

} // namespace sinter::functioncheck

#endif // SINTER_TEST_GRAPH_CHLO_FUNCTIONCHECK_H
