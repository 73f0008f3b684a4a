//===- Codegen.cpp - from kernels in MLIR to object code ------------------===//

#include "backend/cpu/codegen/Codegen.h"

#include "backend/cpu/codegen/HalfComparisons.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace sinter;
using namespace sinter::cpu;

/// Tells LLVM's optimiser what the functions may be made of.
static void setAttributes(llvm::Module &module, const Target &target,
                          const llvm::TargetMachine &machine) {
  for (llvm::Function &function : module) {
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width",
                       std::to_string(target.vectorBytes() * 8));
    function.addFnAttr("no-trapping-math", "true");
  }
}

/// Leaves out passes of the default pipeline that take time and find nothing:
/// those that look across functions, of which a kernel has one, and instcombine
/// between inlining and vectorising, where the loops are as they were when it
/// ran before.
static void leaveOut(llvm::PassInstrumentationCallbacks &callbacks) {
  callbacks.registerShouldRunOptionalPassCallback(
      [isSimplifying = false](llvm::StringRef pass, llvm::Any) mutable {
        if (pass == "InlinerPass")
          isSimplifying = true;
        else if (pass == "LoopVectorizePass")
          isSimplifying = false;
        if (pass == "InstCombinePass")
          return !isSimplifying;
        return pass != "IPSCCPPass" && pass != "CalledValuePropagationPass" &&
               pass != "SCCPPass" && pass != "CorrelatedValuePropagationPass";
      });
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;

  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.LoopInterleaving = true;
  // The generators write vectors where straight-line code should have them; on
  // their register tiles the SLP vectoriser only costs time.
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  llvm::PassInstrumentationCallbacks callbacks;
  leaveOut(callbacks);
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  // Before the vectoriser counts what they cost, and after what takes the
  // extensions away for the last time.
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(WidenHalfComparisons());
      });
  builder.registerOptimizerLastEPCallback(
      [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(
            llvm::createModuleToFunctionPassAdaptor(WidenHalfComparisons()));
      });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

static Result<void> emit(llvm::Module &module, llvm::TargetMachine &machine,
                         llvm::CodeGenFileType type,
                         llvm::SmallVectorImpl<char> &output) {
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type,
                                  /*DisableVerify=*/true))
    return systemError("the target cannot emit this kind of file");
  passes.run(module);
  return {};
}

static Result<void> dumpTexts(llvm::Module &module,
                              llvm::TargetMachine &machine,
                              const CodegenDumps &dumps) {
  if (dumps.llvmIr) {
    llvm::raw_string_ostream stream(*dumps.llvmIr);
    module.print(stream, nullptr);
  }
  if (!dumps.assembly)
    return {};
  // Emission changes the module, so the text comes from a copy.
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::SmallString<0> text;
  Result<void> emitted =
      emit(*copy, machine, llvm::CodeGenFileType::AssemblyFile, text);
  dumps.assembly->assign(text.begin(), text.end());
  return emitted;
}

Result<ObjectFile> cpu::compile(mlir::ModuleOp module, const Target &target,
                                const CodegenDumps &dumps) {
  if (dumps.mlir) {
    llvm::raw_string_ostream stream(*dumps.mlir);
    module.print(stream);
  }
  Result<std::unique_ptr<llvm::TargetMachine>> machine = target.createMachine();
  if (!machine)
    return machine.takeError();
  if (Result<void> lowered = lowerToLLVM(module, target); !lowered)
    return lowered.takeError();

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(module, context);
  if (!code)
    return systemError("translation of the kernels to LLVM IR failed");
  code->setTargetTriple(target.triple);
  code->setDataLayout((*machine)->createDataLayout());
  code->setPICLevel(llvm::PICLevel::BigPIC);
  setAttributes(*code, target, **machine);
  optimize(*code, **machine);
  if (Result<void> dumped = dumpTexts(*code, **machine, dumps); !dumped)
    return dumped.takeError();

  llvm::SmallVector<char, 0> object;
  Result<void> emitted =
      emit(*code, **machine, llvm::CodeGenFileType::ObjectFile, object);
  if (!emitted)
    return emitted.takeError();
  return ObjectFile(object.begin(), object.end());
}
