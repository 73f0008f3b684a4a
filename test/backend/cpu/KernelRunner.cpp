//===- KernelRunner.cpp - compiles and calls kernels in tests -------------===//

#include "backend/cpu/KernelRunner.h"

#include "mlir/IR/DialectRegistry.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>

using namespace sinter;
using namespace sinter::cpu;

[[noreturn]] static void die(const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

template <typename T> static T orDie(Result<T> result) {
  if (!result)
    die(result.error().message);
  return std::move(*result);
}

LoadedImage::LoadedImage(const CodeImage &image)
    : size(image.bytes.size()), symbols(image.symbols) {
  void *mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    die("no memory for code");
  memory = static_cast<std::byte *>(mapped);
  std::memcpy(memory, image.bytes.data(), size);
  for (const ImageRelocation &relocation : image.relocations) {
    uint64_t base = reinterpret_cast<uint64_t>(memory);
    if (relocation.external >= 0) {
      const std::string &name = image.externals[relocation.external];
      base = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, name.c_str()));
      if (!base)
        die("no function " + name);
    }
    uint64_t value = base + relocation.addend;
    std::memcpy(memory + relocation.offset, &value, sizeof(value));
  }
  for (const ImageSegment &segment : image.segments) {
    int protection = PROT_READ;
    if (segment.protection == Protection::ReadExecute)
      protection |= PROT_EXEC;
    if (segment.protection == Protection::ReadWrite)
      protection |= PROT_WRITE;
    mprotect(memory + segment.offset, segment.size, protection);
  }
}

LoadedImage::~LoadedImage() {
  if (memory)
    munmap(memory, size);
}

KernelEntry LoadedImage::kernel(const std::string &name) const {
  auto symbol = symbols.find(name);
  if (symbol == symbols.end())
    die("no kernel " + name);
  return reinterpret_cast<KernelEntry>(memory + symbol->second);
}

KernelRunner::KernelRunner() : KernelRunner(orDie(Target::host())) {}

KernelRunner::KernelRunner(const Target &target) : machine(target) {
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  mlirContext = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  mlirContext->loadAllAvailableDialects();
  mlirModule = mlir::ModuleOp::create(mlir::UnknownLoc::get(mlirContext.get()));
}

void KernelRunner::compile() {
  auto start = std::chrono::steady_clock::now();
  std::string assembly;
  CodegenDumps dumps;
  if (std::getenv("SINTER_DUMP"))
    dumps.assembly = &assembly;
  ObjectFile object = orDie(cpu::compile(module(), machine, dumps));
  CodeImage linked = orDie(cpu::link(std::span(&object, 1)));
  seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::fputs(assembly.c_str(), stderr);
  image = std::make_unique<LoadedImage>(linked);
}
