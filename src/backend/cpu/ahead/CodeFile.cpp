//===- CodeFile.cpp - from a bundle's module to a file --------------------===//

#include "backend/cpu/ahead/CodeFile.h"

#include "backend/cpu/ahead/HelperFunctions.h"
#include "backend/cpu/ahead/SharedLibrary.h"
#include "backend/cpu/ahead/StackUse.h"
#include "backend/cpu/codegen/Emitter.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Keeps the frames of functions, and the first error.
struct FrameListener : llvm::DiagnosticHandler {
  FrameListener(StackFrames &frames, std::string &error)
      : frames(frames), error(error) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (const auto *frame =
            llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(&info))
      frames[frame->getFunction().getName()] = frame->getStackSize();
    else if (info.getSeverity() == llvm::DS_Error && error.empty()) {
      llvm::raw_string_ostream stream(error);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

  StackFrames &frames;
  std::string &error;
};

Result<std::vector<char>> archiveOf(llvm::ArrayRef<char> object,
                                    const std::string &name) {
  const std::string file = name + ".o";
  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(
      llvm::MemoryBufferRef({object.data(), object.size()}, file));
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive =
      llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                 llvm::object::Archive::K_GNU,
                                 /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return systemError("the archive cannot be made: " +
                       llvm::toString(archive.takeError()));
  return std::vector<char>((*archive)->getBufferStart(),
                           (*archive)->getBufferEnd());
}

Result<std::vector<char>> emit(llvm::Module &module,
                               llvm::TargetMachine &machine, CodeKind kind,
                               llvm::CodeGenFileType type,
                               const std::string &error) {
  Emitter emitter(machine, kind, type);
  Result<llvm::ArrayRef<char>> file = emitter.emit(module);
  if (!file)
    return file.takeError();
  if (!error.empty())
    return unsupported("LLVM cannot compile it: " + error);
  return std::vector<char>(file->begin(), file->end());
}

bool isText(BundleCode form) {
  return form == BundleCode::LlvmIr || form == BundleCode::Assembly;
}

/// \p module as text of LLVM, or of an assembler. Emission changes a module:
/// assembly is made of one of its own.
Result<std::vector<char>> textOf(const llvm::Module &module,
                                 llvm::TargetMachine &machine, CodeKind kind,
                                 BundleCode form, const std::string &error) {
  if (form == BundleCode::Assembly)
    return emit(*llvm::CloneModule(module), machine, kind,
                llvm::CodeGenFileType::AssemblyFile, error);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return std::vector<char>(text.begin(), text.end());
}

/// An object of a module, what is in it, and what stack it takes.
struct EmittedObject {
  std::vector<char> bytes;
  ObjectFacts facts;
  uint64_t stackBytes = 0;
};

/// Emits a copy of \p module, whose frames come to \p frames.
Result<EmittedObject> objectOf(const llvm::Module &module,
                               llvm::TargetMachine &machine, CodeKind kind,
                               StackFrames &frames, const std::string &error) {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  reportStackFrames(*copy);
  Result<std::vector<char>> object =
      emit(*copy, machine, kind, llvm::CodeGenFileType::ObjectFile, error);
  if (!object)
    return object.takeError();
  Result<ObjectFacts> facts = ObjectFacts::of(*object);
  if (!facts)
    return facts.takeError();
  Result<uint64_t> stack = stackUse(*copy, frames);
  if (!stack)
    return stack.takeError();
  return EmittedObject{std::move(*object), std::move(*facts), *stack};
}

} // namespace

Result<CodeFile> cpu::emitCodeFile(llvm::Module &module, const Target &target,
                                   bool usesMatrixUnits,
                                   const BundleOptions &options) {
  const CodeKind kind = usesMatrixUnits ? CodeKind::Tiles : CodeKind::Loops;
  Result<std::unique_ptr<llvm::TargetMachine>> machine =
      createMachine(target, kind);
  if (!machine)
    return machine.takeError();
  // In assembly, GNU's assembler takes the name of a source as one string.
  (*machine)->Options.MCOptions.MCUseDwarfDirectory =
      llvm::MCTargetOptions::DisableDwarfDirectory;
  const auto setAttributes = [&] {
    for (llvm::Function &function : module)
      if (!function.isDeclaration() && !function.hasFnAttribute("target-cpu"))
        setCodeAttributes(function, target, **machine);
  };
  setAttributes();
  StackFrames frames;
  std::string error;
  module.getContext().setDiagnosticHandler(
      std::make_unique<FrameListener>(frames, error));

  Result<EmittedObject> object =
      objectOf(module, **machine, kind, frames, error);
  if (!object)
    return object.takeError();
  // What LLVM calls shows only now.
  const std::vector<std::string> called = object->facts.undefined;
  if (addHelperFunctions(module, called)) {
    setAttributes();
    object = objectOf(module, **machine, kind, frames, error);
    if (!object)
      return object.takeError();
    uint64_t most = 0;
    for (const std::string &name : called)
      most = std::max(most, frames.lookup(name));
    object->stackBytes += most + besideFrame;
  }

  CodeFile file;
  file.facts = std::move(object->facts);
  file.stackBytes = object->stackBytes;
  for (const BundleCode form : options.also) {
    Result<std::vector<char>> text =
        textOf(module, **machine, kind, form, error);
    if (!text)
      return text.takeError();
    file.also.push_back({form, std::move(*text)});
  }
  Result<std::vector<char>> bytes =
      isText(options.code)
          ? textOf(module, **machine, kind, options.code, error)
      : options.code == BundleCode::Archive
          ? archiveOf(object->bytes, options.name)
      : options.code == BundleCode::SharedLibrary
          ? linkSharedLibrary(object->bytes, target.triple, options.libraryName,
                              file.facts.undefined)
          : std::move(object->bytes);
  if (!bytes)
    return bytes.takeError();
  file.bytes = std::move(*bytes);
  return file;
}
