//===- Image.cpp - object files linked into one block of memory -----------===//
//
// JITLink links each object separately. Its memory manager here suspends every
// object until all of them are allocated, lays all of them out together, and
// then resumes them, so that each resolves the functions of all. Addresses are
// fictitious: the block starts at `imageBase`, and external functions get
// addresses so far away that no direct call reaches them, so that every
// reference to them goes through an eight-byte slot of the offset table.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/codegen/Image.h"

#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace sinter;
using namespace sinter::cpu;
namespace jl = llvm::jitlink;
namespace orc = llvm::orc;

namespace {

constexpr uint64_t imageBase = 0x100000000;
constexpr uint64_t externalsBase = 0x7000000000000000;
constexpr uint64_t externalsStep = 16;

enum class Protection { ReadExecute, Read, ReadWrite };

Protection protectionOf(orc::MemProt protection) {
  auto has = [&](orc::MemProt bit) {
    return (static_cast<unsigned>(protection) & static_cast<unsigned>(bit)) !=
           0;
  };
  if (has(orc::MemProt::Exec))
    return Protection::ReadExecute;
  if (has(orc::MemProt::Write))
    return Protection::ReadWrite;
  return Protection::Read;
}

/// The shared state of all objects' links: the image.
struct Linker {
  CodeImage image;
  std::map<std::string, uint64_t, std::less<>> symbols;
  std::map<std::string, uint32_t> externals;
  std::string failure;

  void fail(llvm::Error error) {
    std::string message = llvm::toString(std::move(error));
    if (failure.empty())
      failure = std::move(message);
  }
  /// Records the functions of \p graph, which has been laid out.
  llvm::Error define(jl::LinkGraph &graph) {
    for (jl::Symbol *symbol : graph.defined_symbols())
      if (symbol->hasName() && symbol->getScope() == jl::Scope::Default)
        if (!symbols
                 .try_emplace(symbol->getName().str(),
                              symbol->getAddress().getValue() - imageBase)
                 .second)
          return llvm::make_error<jl::JITLinkError>("two functions are named " +
                                                    symbol->getName());
    return llvm::Error::success();
  }
  /// The offset of the function \p name in the image, if an object defines it.
  std::optional<uint64_t> offsetOf(llvm::StringRef name) const {
    const auto symbol = symbols.find(name);
    return symbol == symbols.end() ? std::nullopt
                                   : std::optional(symbol->second);
  }
  uint32_t externalIndex(llvm::StringRef name) {
    auto [entry, isNew] =
        externals.try_emplace(name.str(), image.externals.size());
    if (isNew)
      image.externals.push_back(name.str());
    return entry->second;
  }
};

/// The memory is the image, which outlives the links: nothing to free.
struct Allocation : jl::JITLinkMemoryManager::InFlightAlloc {
  void abandon(OnAbandonedFunction done) override {
    done(llvm::Error::success());
  }
  void finalize(OnFinalizedFunction done) override {
    done(jl::JITLinkMemoryManager::FinalizedAlloc());
  }
};

class Memory : public jl::JITLinkMemoryManager {
public:
  void allocate(const jl::JITLinkDylib *, jl::LinkGraph &graph,
                OnAllocatedFunction onAllocated) override {
    waiting.push_back({&graph, std::make_unique<jl::BasicLayout>(graph),
                       std::move(onAllocated)});
  }
  void deallocate(std::vector<FinalizedAlloc>,
                  OnDeallocatedFunction done) override {
    done(llvm::Error::success());
  }

  /// Lays out all segments: by protection first, then by object.
  void layOut(CodeImage &image) {
    struct Piece {
      jl::BasicLayout::Segment *segment;
      uint64_t offset;
    };
    std::vector<Piece> pieces;
    uint64_t end = 0;
    std::pair<Protection, CodeImage::Range *> parts[] = {
        {Protection::ReadExecute, &image.text},
        {Protection::Read, &image.rodata},
        {Protection::ReadWrite, &image.data}};
    for (auto [protection, range] : parts) {
      end = llvm::alignTo(end, imagePageSize);
      uint64_t begin = end;
      for (Waiting &object : waiting)
        for (auto &[group, segment] : object.layout->segments()) {
          if (protectionOf(group.getMemProt()) != protection)
            continue;
          end = llvm::alignTo(
              end, std::max<uint64_t>(segment.Alignment.value(), 64));
          pieces.push_back({&segment, end});
          end += segment.ContentSize + segment.ZeroFillSize;
        }
      *range = {begin, end - begin};
    }
    image.bytes.resize(end);
    for (Piece &piece : pieces) {
      piece.segment->Addr = orc::ExecutorAddr(imageBase + piece.offset);
      piece.segment->WorkingMem =
          reinterpret_cast<char *>(image.bytes.data()) + piece.offset;
    }
  }

  /// Resumes the links, once \p linker has the functions of all.
  void resume(Linker &linker) {
    std::vector<llvm::Error> errors;
    for (Waiting &object : waiting) {
      llvm::Error error = object.layout->apply();
      errors.push_back(error ? std::move(error) : linker.define(*object.graph));
    }
    for (auto [object, error] : llvm::zip_equal(waiting, errors)) {
      if (error)
        object.onAllocated(std::move(error));
      else
        object.onAllocated(std::make_unique<Allocation>());
    }
  }

private:
  struct Waiting {
    jl::LinkGraph *graph;
    std::unique_ptr<jl::BasicLayout> layout;
    OnAllocatedFunction onAllocated;
  };
  std::vector<Waiting> waiting;
};

class Context : public jl::JITLinkContext {
public:
  Context(Linker &linker, Memory &memory)
      : JITLinkContext(nullptr), linker(linker), memory(memory) {}

  jl::JITLinkMemoryManager &getMemoryManager() override { return memory; }
  void notifyFailed(llvm::Error error) override {
    linker.fail(std::move(error));
  }
  void
  lookup(const LookupMap &names,
         std::unique_ptr<jl::JITLinkAsyncLookupContinuation> next) override {
    std::vector<llvm::StringRef> sorted;
    for (const auto &entry : names)
      sorted.push_back(entry.first);
    llvm::sort(sorted);
    jl::AsyncLookupResult result;
    for (llvm::StringRef name : sorted) {
      const std::optional<uint64_t> place = linker.offsetOf(name);
      const uint64_t address =
          place ? imageBase + *place
                : externalsBase + externalsStep * linker.externalIndex(name);
      result[name] = {orc::ExecutorAddr(address),
                      llvm::JITSymbolFlags::Exported};
    }
    next->run(std::move(result));
  }
  llvm::Error notifyResolved(jl::LinkGraph &) override {
    return llvm::Error::success();
  }
  void notifyFinalized(jl::JITLinkMemoryManager::FinalizedAlloc) override {}

  llvm::Error modifyPassConfig(jl::LinkGraph &,
                               jl::PassConfiguration &config) override {
    config.PostFixupPasses.push_back(
        [this](jl::LinkGraph &graph) { return recordRelocations(graph); });
    return llvm::Error::success();
  }

private:
  /// Records absolute addresses, and rejects relocations that are not
  /// position-independent.
  llvm::Error recordRelocations(jl::LinkGraph &graph) {
    for (jl::Block *block : graph.blocks())
      for (jl::Edge &edge : block->edges()) {
        if (!edge.isRelocation())
          continue;
        llvm::StringRef kind = graph.getEdgeKindName(edge.getKind());
        if (kind == "Pointer64" || kind == "R_RISCV_64") {
          record(*block, edge);
          continue;
        }
        bool isRelative = !kind.starts_with("Pointer") &&
                          !kind.starts_with("MoveWide") &&
                          kind != "R_RISCV_32" && kind != "R_RISCV_HI20";
        if (!isRelative || !offsetOf(edge.getTarget()))
          return llvm::make_error<jl::JITLinkError>(
              "relocation " + kind + " ties the code to an address");
      }
    return llvm::Error::success();
  }

  /// The offset of \p symbol in the image, if it is there.
  std::optional<uint64_t> offsetOf(const jl::Symbol &symbol) const {
    if (symbol.isDefined())
      return symbol.getAddress().getValue() - imageBase;
    return linker.offsetOf(symbol.getName());
  }

  void record(const jl::Block &block, const jl::Edge &edge) {
    Relocation relocation;
    relocation.offset =
        block.getAddress().getValue() + edge.getOffset() - imageBase;
    const jl::Symbol &target = edge.getTarget();
    if (const std::optional<uint64_t> place = offsetOf(target)) {
      relocation.symbol = Relocation::internal;
      relocation.addend = *place + edge.getAddend();
    } else {
      relocation.symbol = linker.externalIndex(target.getName());
      relocation.addend = edge.getAddend();
    }
    linker.image.relocations.push_back(relocation);
  }

  Linker &linker;
  Memory &memory;
};

} // namespace

Result<CodeImage> cpu::link(std::span<const ObjectFile> objects,
                            std::span<const std::string> entryNames) {
  Linker linker;
  Memory memory;
  for (const ObjectFile &object : objects) {
    llvm::MemoryBufferRef buffer({object.data(), object.size()}, "kernels");
    llvm::Expected<std::unique_ptr<jl::LinkGraph>> graph =
        jl::createLinkGraphFromObject(buffer);
    if (!graph) {
      linker.fail(graph.takeError());
      break;
    }
    jl::link(std::move(*graph), std::make_unique<Context>(linker, memory));
  }
  // Objects that are suspended must be resumed even if another one failed.
  memory.layOut(linker.image);
  memory.resume(linker);
  if (!linker.failure.empty())
    return systemError("cannot link kernels: " + linker.failure);
  for (const std::string &name : entryNames) {
    auto symbol = linker.symbols.find(name);
    if (symbol == linker.symbols.end())
      return systemError("cannot link kernels: no function " + name);
    linker.image.entries.push_back(symbol->second);
  }
  return std::move(linker.image);
}
