//===- Evaluate.h - runs MLIR text in tests -------------------------------===//

#ifndef SINTER_TEST_INTERPRETER_EVALUATE_H
#define SINTER_TEST_INTERPRETER_EVALUATE_H

#include "graph/Model.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace sinter {

/// Tensors and the context that keeps what they may share.
struct Evaluated {
  std::shared_ptr<mlir::MLIRContext> context;
  std::vector<Tensor> tensors;
  std::string error;

  /// All elements of a result as doubles.
  std::vector<double> doubles(size_t index = 0) const {
    std::vector<double> values;
    if (index < tensors.size())
      for (int64_t i = 0; i < tensors[index].size(); ++i)
        values.push_back(tensors[index].toDouble(i));
    return values;
  }
  Shape shape(size_t index = 0) const {
    return index < tensors.size() ? tensors[index].shape() : Shape{-1};
  }
};

/// Runs function @main of the module \p text.
inline Evaluated evaluateModule(const std::string &text,
                                const std::vector<Tensor> &inputs = {}) {
  Evaluated result;
  result.context = makeContext();
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(text, result.context.get());
  if (!module) {
    result.error = "does not parse";
    return result;
  }
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  auto values = interpret(main, inputs);
  if (!values) {
    result.error = values.error().message();
    return result;
  }
  for (const Tensor &tensor : *values) {
    Tensor copy(tensor.type(), tensor.shape());
    std::memcpy(copy.mutableBytes(), tensor.data(), tensor.bytes());
    result.tensors.push_back(copy);
  }
  return result;
}

/// Runs \p body, which defines %r of type \p type from constants.
inline Evaluated evaluateBody(const std::string &body,
                              const std::string &type) {
  return evaluateModule("func.func @main() -> " + type + " {\n" + body +
                        "\nreturn %r : " + type + "\n}");
}

} // namespace sinter

#endif // SINTER_TEST_INTERPRETER_EVALUATE_H
