//===- Subroutine.cpp - functions that many kernels share -----------------===//

#include "backend/cpu/codegen/Subroutine.h"

#include "backend/cpu/codegen/Optimizer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace sinter;

static constexpr llvm::StringLiteral mark = "sinter.subroutine";
static constexpr llvm::StringLiteral linkage = "llvm.linkage";

/// The subroutines of \p module, in its order.
static SmallVector<func::FuncOp> subroutinesOf(ModuleOp module) {
  SmallVector<func::FuncOp> found;
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (function->hasAttr(mark))
      found.push_back(function);
  return found;
}

static bool areAlike(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

/// Casts flat memory to a type of one arbitrary size, so that the code is the
/// same for all sizes.
static Value ofAnySize(OpBuilder &builder, Location location, Value value) {
  constexpr int64_t size = int64_t(1) << 40;
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type || type.getRank() != 1 || !type.getLayout().isIdentity())
    return value;
  return builder.create<memref::ReinterpretCastOp>(
      location, MemRefType::get({size}, type.getElementType()), value,
      /*offset=*/0, ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
}

void cpu::callSubroutine(
    OpBuilder &builder, Location location, ValueRange arguments,
    ArrayRef<Value> written,
    llvm::function_ref<void(OpBuilder &, ValueRange)> write) {
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  MLIRContext *context = module.getContext();
  const SmallVector<func::FuncOp> before = subroutinesOf(module);
  SmallVector<DictionaryAttr> facts;
  SmallVector<Value> given;
  for (Value argument : arguments) {
    given.push_back(ofAnySize(builder, location, argument));
    NamedAttrList known;
    if (isa<MemRefType>(argument.getType())) {
      known.set(LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
      if (!llvm::is_contained(written, argument))
        known.set(LLVM::LLVMDialect::getReadonlyAttrName(),
                  builder.getUnitAttr());
    }
    facts.push_back(known.getDictionary(context));
  }
  auto inner = OpBuilder::atBlockEnd(module.getBody());
  auto function = inner.create<func::FuncOp>(
      location, "subroutine" + std::to_string(before.size()),
      inner.getFunctionType(ValueRange(given).getTypes(), {}));
  function.setPrivate();
  function->setAttr(linkage,
                    LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  function->setAttr("passthrough",
                    inner.getStrArrayAttr({"noinline", subroutineAttribute}));
  function->setAttr(mark, inner.getUnitAttr());
  function.setAllArgAttrs(facts);
  inner.setInsertionPointToStart(function.addEntryBlock());
  inner.create<func::ReturnOp>(location);
  inner.setInsertionPointToStart(&function.getBody().front());
  write(inner, function.getArguments());
  for (func::FuncOp other : before)
    if (areAlike(function, other)) {
      function.erase();
      function = other;
      break;
    }
  builder.create<func::CallOp>(location, function, given);
}

SmallVector<OwningOpRef<ModuleOp>> cpu::takeSubroutines(ModuleOp module) {
  SmallVector<OwningOpRef<ModuleOp>> taken;
  for (func::FuncOp function : subroutinesOf(module)) {
    OwningOpRef<ModuleOp> own = ModuleOp::create(module.getLoc());
    (*own)->setAttrs(module->getAttrDictionary());
    func::FuncOp moved = function.clone();
    function.eraseBody();
    function->removeAttr(linkage);
    moved.setPublic();
    moved->removeAttr(linkage);
    moved->removeAttr(mark);
    own->push_back(moved);
    taken.push_back(std::move(own));
  }
  return taken;
}

void cpu::nameSubroutine(ModuleOp module, StringRef name) {
  (*module.getOps<func::FuncOp>().begin()).setName(name);
}

/// Renames functions of \p module by \p names, in their calls, too. Only calls
/// refer to functions.
static void rename(ModuleOp module, const llvm::StringMap<std::string> &names) {
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    function.walk([&](func::CallOp call) {
      if (auto named = names.find(call.getCallee()); named != names.end())
        call.setCallee(named->second);
    });
    if (auto named = names.find(function.getName()); named != names.end())
      function.setName(named->second);
  }
}

void cpu::rename(ModuleOp module, StringRef from, StringRef name) {
  llvm::StringMap<std::string> names;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    StringRef rest = function.getName();
    if (rest.consume_front(from))
      names[function.getName()] = (name + rest).str();
  }
  ::rename(module, names);
}

void cpu::putBack(ModuleOp module, size_t number, ModuleOp subroutine) {
  func::FuncOp function = subroutinesOf(module)[number];
  func::FuncOp taken = *subroutine.getOps<func::FuncOp>().begin();
  function.getBody().takeBody(taken.getBody());
  function->setAttr(linkage, LLVM::LinkageAttr::get(module.getContext(),
                                                    LLVM::Linkage::Internal));
}

void cpu::callByNames(ModuleOp module, ArrayRef<std::string> names) {
  llvm::StringSet<> declared;
  const SmallVector<func::FuncOp> functions = subroutinesOf(module);
  llvm::StringMap<std::string> known;
  for (auto [function, name] : llvm::zip_equal(functions, names))
    if (!name.empty())
      known[func::FuncOp(function).getName()] = name;
  ::rename(module, known);
  for (auto [each, name] : llvm::zip_equal(functions, names)) {
    func::FuncOp function = each;
    function->removeAttr(mark);
    if (!name.empty() && !declared.insert(name).second)
      function.erase();
  }
}
