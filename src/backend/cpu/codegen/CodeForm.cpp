//===- CodeForm.cpp - code without its index constants --------------------===//

#include "backend/cpu/codegen/CodeForm.h"

#include "backend/cpu/kernels/common/IndexBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The table of sizes of \p function; null if it has none.
static Value tableOf(func::FuncOp function) {
  const auto argument = function->getAttrOfType<IntegerAttr>(sizesArgument);
  return argument ? function.getArgument(unsigned(argument.getInt())) : Value();
}

/// The value of \p op, if it is a constant of type index or i64.
static std::optional<int64_t> numberOf(Operation *op) {
  if (auto constant = dyn_cast_or_null<index::ConstantOp>(op))
    return constant.getValue().getSExtValue();
  auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
  if (!constant ||
      !(constant.getType().isIndex() || constant.getType().isInteger(64)))
    return std::nullopt;
  return cast<IntegerAttr>(constant.getValue()).getInt();
}
static std::optional<int64_t> numberOf(Value value) {
  return numberOf(value.getDefiningOp());
}

/// Whether \p operand is an index into \p table.
static bool isPlace(OpOperand &operand, Value table) {
  auto load = dyn_cast<memref::LoadOp>(operand.getOwner());
  return load && table && load.getMemRef() == table;
}

namespace {

/// Prints code with numbered values and without names and index constants.
class FormWriter {
public:
  /// \p functions: the indices of functions that may be called.
  FormWriter(CodeForm &form, const llvm::StringMap<size_t> &functions)
      : form(form), functions(functions), out(form.text) {}

  void write(func::FuncOp function) {
    table = tableOf(function);
    if (ArrayAttr facts = function.getArgAttrsAttr())
      text(facts);
    write(function.getBody());
  }

private:
  void write(Region &region) {
    for (Block &block : region) {
      out << '{';
      for (BlockArgument argument : block.getArguments())
        define(argument);
      for (Operation &op : block)
        write(op);
      out << '}';
    }
  }

  void write(Operation &op) {
    if (numberOf(&op))
      return;
    text(op.getName());
    if (auto sum = dyn_cast<arith::ArithFastMathInterface>(op))
      if (arith::FastMathFlagsAttr flags = sum.getFastMathFlagsAttr())
        form.leavesOrder |= arith::bitEnumContainsAny(
            flags.getValue(), arith::FastMathFlags::reassoc);
    for (OpOperand &operand : op.getOpOperands())
      if (const std::optional<int64_t> number = numberOf(operand.get())) {
        out << '#';
        form.numbers.push_back(isPlace(operand, table)
                                   ? FormNumber::entry(*number)
                                   : FormNumber(*number));
      } else {
        out << '%' << numbers.lookup(operand.get());
      }
    if (auto call = dyn_cast<func::CallOp>(op))
      out << '@' << functions.lookup(call.getCallee());
    else
      text(op.getAttrDictionary());
    for (Value result : op.getResults())
      define(result);
    for (Region &region : op.getRegions())
      write(region);
    out << '\n';
  }

  void define(Value value) {
    numbers[value] = unsigned(numbers.size()) + 1;
    text(value.getType());
  }

  /// Appends \p each, which is uniqued in its context, as text.
  template <typename T> void text(T each) {
    std::string &known = texts[each.getAsOpaquePointer()];
    if (known.empty()) {
      llvm::raw_string_ostream stream(known);
      stream << ' ' << each;
    }
    out << known;
  }

  CodeForm &form;
  const llvm::StringMap<size_t> &functions;
  llvm::raw_string_ostream out;
  Value table;
  llvm::DenseMap<Value, unsigned> numbers;
  llvm::DenseMap<const void *, std::string> texts;
};

} // namespace

void CodeForm::keepNumbers() {
  llvm::raw_string_ostream out(text);
  for (const FormNumber &each : numbers)
    if (!each.isEntry)
      out << each.number << ' ';
}

CodeForm cpu::formOf(ModuleOp module) {
  CodeForm form;
  llvm::StringMap<size_t> functions;
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    functions.try_emplace(function.getName(), functions.size());
  FormWriter writer(form, functions);
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    writer.write(function);
  return form;
}

/// The number at \p place of \p table, of that \p type.
static Value readAt(OpBuilder &builder, Location location, Value table,
                    uint32_t place, Type type) {
  Value at = builder.create<arith::ConstantIndexOp>(location, place);
  Value number = builder.create<memref::LoadOp>(location, table, at);
  return type.isIndex()
             ? builder.create<arith::IndexCastOp>(location, type, number)
             : number;
}

void cpu::readFromTable(ModuleOp module,
                        ArrayRef<std::optional<uint32_t>> places) {
  size_t next = 0;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    const Value table = tableOf(function);
    SmallVector<std::pair<OpOperand *, uint32_t>> uses;
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (numberOf(operand.get())) {
          if (next < places.size() && places[next])
            uses.push_back({&operand, *places[next]});
          ++next;
        }
    });
    llvm::DenseMap<std::pair<uint32_t, Type>, Value> read;
    OpBuilder builder(function.getContext());
    for (auto [operand, place] : uses) {
      builder.setInsertionPointToStart(&function.getBody().front());
      const Location location = operand->getOwner()->getLoc();
      if (isPlace(*operand, table)) {
        operand->set(builder.create<arith::ConstantIndexOp>(location, place));
        continue;
      }
      const Type type = operand->get().getType();
      Value &number = read[{place, type}];
      if (!number)
        number = readAt(builder, location, table, place, type);
      operand->set(number);
    }
    function->removeAttr(sizesArgument);
  }
}
