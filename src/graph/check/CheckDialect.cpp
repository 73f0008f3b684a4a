#include "graph/check/CheckOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::check;

#include "graph/check/CheckDialect.cpp.inc"
#include "graph/check/InterpreterDialect.cpp.inc"

#define GET_OP_CLASSES
#include "graph/check/CheckOps.cpp.inc"
#define GET_OP_CLASSES
#include "graph/check/InterpreterOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "graph/check/CheckOps.cpp.inc"
      >();
}

void InterpreterDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "graph/check/InterpreterOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// run_parallel
//===----------------------------------------------------------------------===//

/// The function that \p symbol names; null, and an error, if there is none.
static func::FuncOp functionOf(RunParallelOp op, Attribute symbol) {
  auto name = dyn_cast<FlatSymbolRefAttr>(symbol);
  if (!name) {
    op.emitOpError("expects names of functions");
    return {};
  }
  auto function =
      SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name.getAttr());
  if (!function || function.isExternal()) {
    op.emitOpError("finds no function '") << name.getValue() << "'";
    return {};
  }
  return function;
}

/// The types of all processes' arguments and results, in process order.
static LogicalResult collectTypes(RunParallelOp op, SmallVector<Type> &inputs,
                                  SmallVector<Type> &results) {
  if (op.getPrograms().empty())
    return op.emitOpError("expects at least one replica in `programs`");
  size_t partitions = 0;
  for (Attribute replica : op.getPrograms()) {
    auto row = dyn_cast<ArrayAttr>(replica);
    if (!row || row.empty())
      return op.emitOpError("expects a list of functions for each replica");
    if (partitions == 0)
      partitions = row.size();
    if (row.size() != partitions)
      return op.emitOpError("expects as many partitions of every replica: ")
             << partitions << ", not " << row.size();
    for (Attribute program : row) {
      func::FuncOp function = functionOf(op, program);
      if (!function)
        return failure();
      llvm::append_range(inputs, function.getArgumentTypes());
      llvm::append_range(results, function.getResultTypes());
    }
  }
  return success();
}

LogicalResult RunParallelOp::verify() {
  SmallVector<Type> inputs, results;
  if (failed(collectTypes(*this, inputs, results)))
    return failure();
  if (TypeRange(inputs) != getInputs().getTypes())
    return emitOpError("expects the arguments of all programs as operands");
  if (TypeRange(results) != getResults().getTypes())
    return emitOpError("expects the results of all programs as results");
  const ArrayAttr infeed = getInfeedAttr();
  if (!infeed)
    return success();
  if (infeed.empty())
    return emitOpError("expects `infeed` to name at least one function");
  for (Attribute symbol : infeed) {
    func::FuncOp function = functionOf(*this, symbol);
    if (!function)
      return failure();
    if (function.getNumArguments() != 0 || function.getNumResults() == 0)
      return emitOpError("expects functions without arguments and with results "
                         "in `infeed`, not '")
             << function.getName() << "'";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

/// The check of a stablehlo.custom_call's target, with the tolerances that the
/// public test programs expect.
static std::optional<Check> checkOfTarget(StringRef target) {
  return llvm::StringSwitch<std::optional<Check>>(target)
      .Case("check.expect_eq", Check{Expectation::equal(), {}})
      .Case("check.expect_almost_eq", Check{Expectation::almost(1e-3), {}})
      .Case("check.expect_close", Check{Expectation::close(0, 3), {}})
      .Case("check.eq", Check{Expectation::almostOrEqual(1e-4), {}, true})
      .Default(std::nullopt);
}

std::optional<Check> check::checkOf(Operation *op) {
  if (op->getName().getStringRef() == "stablehlo.custom_call") {
    auto target = op->getAttrOfType<StringAttr>("call_target_name");
    if (!target || op->getNumOperands() != 2)
      return std::nullopt;
    return checkOfTarget(target.getValue());
  }
  return TypeSwitch<Operation *, std::optional<Check>>(op)
      .Case([](ExpectEqOp) { return Check{Expectation::equal(), {}}; })
      .Case([](ExpectEqConstOp op) {
        return Check{Expectation::equal(), op.getValue()};
      })
      .Case([](ExpectAlmostEqOp op) {
        return Check{Expectation::almost(op.getTolerance().convertToDouble()),
                     {}};
      })
      .Case([](ExpectAlmostEqConstOp op) {
        return Check{Expectation::almost(op.getTolerance().convertToDouble()),
                     op.getValue()};
      })
      .Case([](ExpectCloseOp op) {
        return Check{Expectation::close(op.getMinUlpDifference(),
                                        op.getMaxUlpDifference()),
                     {}};
      })
      .Default(std::optional<Check>());
}
