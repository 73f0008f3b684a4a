//===- Subroutine.cpp - functions that kernels of many layers call --------===//

#include "backend/cpu/codegen/Subroutine.h"

#include "backend/cpu/codegen/Optimizer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace sinter;

static constexpr llvm::StringLiteral mark = "sinter.subroutine";
static constexpr llvm::StringLiteral linkage = "llvm.linkage";

/// Those of \p module, in its order.
static SmallVector<func::FuncOp> subroutinesOf(ModuleOp module) {
  SmallVector<func::FuncOp> found;
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (function->hasAttr(mark))
      found.push_back(function);
  return found;
}

void cpu::callSubroutine(
    OpBuilder &builder, Location location, ValueRange arguments,
    ArrayRef<Value> written,
    llvm::function_ref<void(OpBuilder &, ValueRange)> write) {
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  MLIRContext *context = module.getContext();
  const size_t number = subroutinesOf(module).size();
  SmallVector<DictionaryAttr> facts;
  for (Value argument : arguments) {
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
      location, "subroutine" + std::to_string(number),
      inner.getFunctionType(arguments.getTypes(), {}));
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
  builder.create<func::CallOp>(location, function, arguments);
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

/// Lets functions of \p module have the names that \p names gives them, for
/// those who call them, too. Nobody but calls names a function.
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
