//===- StepLines.cpp - debug information of a bundle ----------------------===//

#include "backend/cpu/ahead/StepLines.h"

#include "runtime/Result.h"
#include "runtime/Utf8.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace sinter;
using namespace sinter::cpu;

static constexpr const char *versionFlag = "Debug Info Version",
                            *formatFlag = "Dwarf Version";

/// Names of layers may have any length.
static std::string shortName(const std::string &layer) {
  constexpr size_t most = 120;
  return shortened(oneLine(layer), most);
}

/// What a function is called by a tool: the first of its layers, and how many
/// others there are.
static std::string nameOf(const std::vector<std::string> &layers) {
  std::string name = shortName(layers.front());
  if (layers.size() > 1)
    name += " +" + std::to_string(layers.size() - 1);
  return name;
}

StepLines::StepLines(llvm::Module &module, std::string prefix,
                     const std::string &path)
    : module(module), prefix(std::move(prefix)),
      builder(std::make_unique<llvm::DIBuilder>(module)),
      file(builder->createFile(llvm::sys::path::filename(path),
                               llvm::sys::path::parent_path(path))),
      type(builder->createSubroutineType(builder->getOrCreateTypeArray({}))) {
  module.addModuleFlag(llvm::Module::Warning, versionFlag,
                       llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, formatFlag, 4);
  builder->createCompileUnit(llvm::dwarf::DW_LANG_C99, file,
                             "sinter " SINTER_VERSION, /*isOptimized=*/true,
                             /*Flags=*/"", /*RV=*/0);
  addLine(this->prefix + ": the steps of " + this->prefix + "_run");
}

unsigned StepLines::addLine(const std::string &content) {
  listing += content + "\n";
  return ++lines;
}

llvm::DISubprogram *StepLines::subprogram(llvm::StringRef name,
                                          llvm::StringRef symbol,
                                          unsigned line) {
  return builder->createFunction(file, name, symbol, file, line, type, line,
                                 llvm::DINode::FlagPrototyped |
                                     llvm::DINode::FlagArtificial,
                                 llvm::DISubprogram::SPFlagDefinition |
                                     llvm::DISubprogram::SPFlagOptimized |
                                     llvm::DISubprogram::SPFlagLocalToUnit);
}

/// Notes that \p function, and what it calls, compute \p layer.
void StepLines::addLayer(llvm::Function &function, const std::string &layer) {
  if (function.isDeclaration())
    return;
  std::vector<std::string> &layers = layersOf[&function];
  if (llvm::is_contained(layers, layer))
    return;
  layers.push_back(layer);
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (llvm::Function *callee = call->getCalledFunction())
          addLayer(*callee, layer);
}

static const char *kindOf(const Step &step) {
  switch (step.kind) {
  case StepKind::Kernel:
    return "kernel";
  case StepKind::Copy:
    return "copy";
  case StepKind::If:
    return "if";
  case StepKind::While:
    return "while";
  case StepKind::Concurrent:
    return "concurrent";
  case StepKind::HostCall:
    return "call";
  case StepKind::Size:
    return "size";
  }
  return "";
}

void StepLines::addStep(const Step &step, llvm::ArrayRef<std::string> kernels,
                        unsigned depth) {
  std::string line(2 * depth + 2, ' ');
  line += step.layer.empty() ? kindOf(step) : shortName(step.layer);
  for (const std::string *fact : {&step.op, &step.kernelName})
    if (!fact->empty())
      line += "  " + oneLine(*fact);
  if (step.kind == StepKind::Kernel && step.tasks > 1)
    line += "  " + std::to_string(step.tasks) + " tasks";
  lineOf[&step] = addLine(line);
  if (step.kind == StepKind::Kernel)
    if (llvm::Function *kernel =
            module.getFunction(prefix + "." + kernels[step.kernel]))
      addLayer(*kernel, step.layer.empty() ? step.kernelName : step.layer);
  for (const auto &[i, body] : llvm::enumerate(step.bodies)) {
    addLine(std::string(2 * depth + 2, ' ') +
            (step.kind != StepKind::While ? "branch " + std::to_string(i)
             : i == 0                     ? std::string("condition")
                                          : std::string("do")));
    for (const Step &each : body)
      addStep(each, kernels, depth + 1);
  }
}

void StepLines::addSteps(llvm::ArrayRef<Step> steps,
                         llvm::ArrayRef<std::string> kernels) {
  for (const Step &step : steps)
    addStep(step, kernels, 0);
}

llvm::DILocation *StepLines::locationOf(const Step &step,
                                        llvm::Function &function) {
  if (!function.getSubprogram())
    function.setSubprogram(
        subprogram(function.getName(), function.getName(), 1));
  const unsigned line = lineOf.lookup(&step);
  llvm::LLVMContext &context = module.getContext();
  llvm::DILocation *call =
      llvm::DILocation::get(context, line, 1, function.getSubprogram());
  const std::string name =
      step.layer.empty() ? kindOf(step) : shortName(step.layer);
  return llvm::DILocation::get(context, line, 1, subprogram(name, "", line),
                               call);
}

std::string StepLines::finish() {
  addLine("");
  addLine("The code of kernels, and the steps that it is for");
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    unsigned line = 1;
    std::string name = function.getName().str();
    if (const auto known = layersOf.find(&function); known != layersOf.end()) {
      name = nameOf(known->second);
      std::string all;
      for (const std::string &layer : known->second)
        all += (all.empty() ? "" : ", ") + shortName(layer);
      line = addLine("  " + all);
    }
    if (!function.getSubprogram())
      function.setSubprogram(subprogram(name, function.getName(), line));
    llvm::DILocation *whole = llvm::DILocation::get(
        module.getContext(), line, 1, function.getSubprogram());
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (!instruction.getDebugLoc())
          instruction.setDebugLoc(whole);
  }
  builder->finalize();
  renameKernels();
  return std::move(listing);
}

/// Names them after their layers.
void StepLines::renameKernels() {
  for (auto &[function, layers] : layersOf) {
    const std::string name = prefix + "." + nameOf(layers);
    function->setName(name);
    function->getSubprogram()->replaceLinkageName(
        llvm::MDString::get(module.getContext(), function->getName()));
  }
}

std::unique_ptr<llvm::Module> StepLines::strip(const llvm::Module &module) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::StripDebugInfo(*copy);
  llvm::NamedMDNode *flags = copy->getModuleFlagsMetadata();
  if (!flags)
    return copy;
  llvm::SmallVector<llvm::MDNode *> kept;
  for (llvm::MDNode *flag : flags->operands()) {
    const auto *name = llvm::dyn_cast<llvm::MDString>(flag->getOperand(1));
    if (!name ||
        (name->getString() != versionFlag && name->getString() != formatFlag))
      kept.push_back(flag);
  }
  flags->clearOperands();
  for (llvm::MDNode *flag : kept)
    flags->addOperand(flag);
  return copy;
}
