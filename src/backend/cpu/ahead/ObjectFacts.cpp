//===- ObjectFacts.cpp - what is in an object file ------------------------===//

#include "backend/cpu/ahead/ObjectFacts.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"

#include <algorithm>

using namespace sinter;
using namespace sinter::cpu;
using llvm::object::SymbolRef;

static Error damagedObject(llvm::Error error) {
  return systemError("the object file cannot be read: " +
                     llvm::toString(std::move(error)));
}

Result<ObjectFacts> ObjectFacts::of(llvm::ArrayRef<char> object) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> file =
      llvm::object::ObjectFile::createELFObjectFile(
          llvm::MemoryBufferRef({object.data(), object.size()}, "object"));
  if (!file)
    return damagedObject(file.takeError());
  ObjectFacts facts;
  for (const llvm::object::ELFSectionRef section : (*file)->sections())
    if (section.getFlags() & llvm::ELF::SHF_ALLOC)
      (section.isText() ? facts.codeBytes : facts.dataBytes) +=
          section.getSize();
  for (const SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return damagedObject(flags.takeError());
    if (!(*flags & SymbolRef::SF_Undefined))
      continue;
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name)
      return damagedObject(name.takeError());
    if (!name->empty())
      facts.undefined.push_back(name->str());
  }
  std::ranges::sort(facts.undefined);
  return facts;
}
