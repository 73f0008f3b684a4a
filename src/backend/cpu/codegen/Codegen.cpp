//===- Codegen.cpp - from kernels in MLIR to object code ------------------===//

#include "backend/cpu/codegen/Codegen.h"

#include "backend/cpu/codegen/Emitter.h"
#include "graph/Verification.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <array>

using namespace sinter;
using namespace sinter::cpu;

namespace {
/// Drops LLVM's remarks on loops that it could not vectorise, which no option
/// disables, and keeps errors, which would otherwise end the process.
struct KeepsErrors : llvm::DiagnosticHandler {
  explicit KeepsErrors(std::string &error) : error(error) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && error.empty()) {
      llvm::raw_string_ostream stream(error);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return info.getSeverity() == llvm::DS_Remark ||
           info.getSeverity() == llvm::DS_Error;
  }
  std::string &error;
};
} // namespace

/// Sets the functions' attributes for LLVM's optimiser.
static void setAttributes(llvm::Module &module, const Target &target,
                          const llvm::TargetMachine &machine) {
  for (llvm::Function &function : module) {
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (!function.isDeclaration())
      setCodeAttributes(function, target, machine);
  }
}

/// \p when: "after lowering", say.
static Result<void> verifyIfWanted(const llvm::Module &module,
                                   const char *when) {
  if (!verifiesEachStage())
    return {};
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(module, &stream))
    return systemError(std::string("the kernels' LLVM IR is not sound ") +
                       when + ": " + problems);
  return {};
}

static Result<void> dumpTexts(llvm::Module &module,
                              llvm::TargetMachine &machine, CodeKind kind,
                              const CodegenDumps &dumps) {
  if (dumps.llvmIr) {
    llvm::raw_string_ostream stream(*dumps.llvmIr);
    module.print(stream, nullptr);
  }
  if (!dumps.assembly)
    return {};
  // Emission changes the module, so the text comes from a copy.
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  Emitter emitter(machine, kind, llvm::CodeGenFileType::AssemblyFile);
  Result<llvm::ArrayRef<char>> text = emitter.emit(*copy);
  if (!text)
    return text.takeError();
  dumps.assembly->assign(text->begin(), text->end());
  return {};
}

/// The AMX features that the intrinsics in \p module need, by their name
/// prefixes (LLVM, IntrinsicsX86.td).
static std::vector<std::string> matrixFeaturesOf(const llvm::Module &module) {
  constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> needs[] = {
      {"ldtilecfg", "amx-tile"}, {"sttilecfg", "amx-tile"},
      {"tile", "amx-tile"},      {"tdp", "amx-tile"},
      {"tdpbf16", "amx-bf16"},   {"tdpbs", "amx-int8"},
      {"tdpbu", "amx-int8"},     {"tdpfp16", "amx-fp16"},
      {"tcmm", "amx-complex"},
  };
  llvm::StringSet<> found;
  for (const llvm::Function &function : module) {
    llvm::StringRef name = function.getName();
    if (!function.isIntrinsic() || !name.consume_front("llvm.x86."))
      continue;
    for (const auto &[start, feature] : needs)
      if (name.starts_with(start))
        found.insert(feature);
  }
  std::vector<std::string> features;
  for (const auto &entry : found)
    features.push_back(entry.first().str());
  llvm::sort(features);
  return features;
}

namespace {
/// A thread's last target machine, with or without AMX: creating it, LLVM's
/// target tables and the code generator's passes takes a millisecond or more,
/// of about ten for a small kernel.
struct KeptMachine {
  KeptMachine(const Target &target, CodeKind kind,
              std::unique_ptr<llvm::TargetMachine> made)
      : triple(target.triple), cpu(target.cpu), features(target.features),
        verifies(verifiesEachStage()), machine(std::move(made)),
        emitter(*machine, kind, llvm::CodeGenFileType::ObjectFile) {}

  bool isOf(const Target &target) const {
    return triple == target.triple && cpu == target.cpu &&
           features == target.features && verifies == verifiesEachStage();
  }

  std::string triple, cpu, features;
  bool verifies;
  std::unique_ptr<llvm::TargetMachine> machine;
  Emitter emitter;
};
} // namespace

/// This thread's machine for code that uses these AMX features. It is valid
/// until the thread requests another one.
static Result<KeptMachine *>
machineFor(const Target &target,
           const std::vector<std::string> &matrixFeatures) {
  const CodeKind kind =
      matrixFeatures.empty() ? CodeKind::Loops : CodeKind::Tiles;
  thread_local std::array<std::unique_ptr<KeptMachine>, 2> ofThread;
  std::unique_ptr<KeptMachine> &kept =
      ofThread[kind == CodeKind::Loops ? 0 : 1];
  if (!kept || !kept->isOf(target)) {
    Result<std::unique_ptr<llvm::TargetMachine>> machine =
        createMachine(target, kind);
    if (!machine)
      return machine.takeError();
    kept = std::make_unique<KeptMachine>(target, kind, std::move(*machine));
  }
  return kept.get();
}

Result<ObjectFile> cpu::compile(mlir::ModuleOp module, const Target &target,
                                const CodegenDumps &dumps,
                                std::vector<std::string> *matrixFeatures,
                                CompileStages *stages, CodeFormat format) {
  const auto ended = [&](const char *stage) {
    if (stages)
      stages->end(stage);
  };
  if (dumps.mlir) {
    llvm::raw_string_ostream stream(*dumps.mlir);
    module.print(stream);
  }
  if (Result<void> lowered = lowerToLLVM(module, target); !lowered)
    return lowered.takeError();
  ended("lower");

  std::string error;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<KeepsErrors>(error));
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(module, context);
  if (!code)
    return systemError("translation of the kernels to LLVM IR failed");
  const std::vector<std::string> needed = matrixFeaturesOf(*code);
  if (matrixFeatures)
    *matrixFeatures = needed;
  Result<KeptMachine *> kept = machineFor(target, needed);
  if (!kept)
    return kept.takeError();
  llvm::TargetMachine &machine = *(*kept)->machine;
  code->setTargetTriple(target.triple);
  code->setDataLayout(machine.createDataLayout());
  code->setPICLevel(llvm::PICLevel::BigPIC);
  setAttributes(*code, target, machine);
  if (Result<void> sound = verifyIfWanted(*code, "as lowered"); !sound)
    return sound.takeError();
  ended("translate");
  const CodeKind kind = needed.empty() ? CodeKind::Loops : CodeKind::Tiles;
  if (Result<void> optimized = optimize(*code, machine, target, kind);
      !optimized)
    return optimized.takeError();
  if (Result<void> sound = verifyIfWanted(*code, "as optimised"); !sound)
    return sound.takeError();
  ended("optimise");
  if (Result<void> dumped = dumpTexts(*code, machine, kind, dumps); !dumped)
    return dumped.takeError();

  if (format == CodeFormat::Bitcode) {
    llvm::SmallVector<char, 0> bitcode;
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(*code, stream);
    return ObjectFile(bitcode.begin(), bitcode.end());
  }
  Result<llvm::ArrayRef<char>> object = (*kept)->emitter.emit(*code);
  if (!object)
    return object.takeError();
  if (!error.empty())
    return unsupported("LLVM cannot compile it: " + error);
  ended("assemble");
  return ObjectFile(object->begin(), object->end());
}
