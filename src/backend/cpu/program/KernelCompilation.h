//===- KernelCompilation.h - the code of a program's kernels --------------===//
//
// Kernels are written and compiled by several threads at once, each in a
// context of its own: dialects are loaded and messages handled per context.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_KERNELCOMPILATION_H
#define SINTER_BACKEND_CPU_PROGRAM_KERNELCOMPILATION_H

#include "backend/cpu/codegen/CodeForm.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/program/KernelSource.h"
#include "backend/cpu/target/CpuOptions.h"
#include "runtime/GuardedThread.h"

#include <atomic>
#include <mutex>

namespace sinter::cpu {

/// \p kernel alone, in a function of its inputs, as bytecode: the way from one
/// context to another. Where it stands in the user's file is left out.
std::string serialize(KernelOp kernel);

/// The contexts of as many threads, each made when it is needed.
class CodeContexts {
public:
  explicit CodeContexts(unsigned threads) : contexts(std::max(1u, threads)) {}

  unsigned threads() const { return static_cast<unsigned>(contexts.size()); }
  /// That of \p thread, for which nobody else asks.
  mlir::MLIRContext *of(unsigned thread);

private:
  std::vector<std::unique_ptr<mlir::MLIRContext>> contexts;
};

/// The code of a kernel, or of one of its stages, before it is specialised: its
/// symbol has no hash yet, and constants may become reads of a table.
struct KernelTemplate {
  /// A subroutine that it calls, and what that is.
  struct Subroutine {
    std::shared_ptr<WrittenCode> code;
    std::string text;
  };
  std::shared_ptr<WrittenCode> code;
  std::vector<Subroutine> subroutines;
  /// Whose text has those of subroutines in it.
  CodeForm form;
};

/// Writes kernels, as serialize() gives them: of each, its stages where these
/// are separate, or all of it. Those that do not share AnyNumbers, or would sum
/// up in another order if they read them from a table, keep their numbers in
/// the form's text.
/// Errors: Unsupported for those whose code is for known sizes only; Cancelled
/// once \p cancellation, which may be null, is cancelled.
Result<std::vector<std::vector<KernelTemplate>>>
writeTemplates(llvm::ArrayRef<std::string> all, const Target &target,
               CodeContexts &contexts, const Cancellation *cancellation);

/// Compiles kernels, or finds their code where it was kept. All threads but one
/// work from start() on, and that from finish() on, when the caller waits.
class KernelCompilation {
public:
  KernelCompilation(llvm::ArrayRef<KernelSource> kernels,
                    const KernelCache &cache, const Target &target,
                    const CpuOptions &options, CodeContexts &contexts);
  KernelCompilation(const KernelCompilation &) = delete;
  KernelCompilation &operator=(const KernelCompilation &) = delete;
  /// Stops early if nobody waited for the code.
  ~KernelCompilation();

  void start();
  /// The code of all kernels, in their order. Cancelled if the options' passes
  /// are before the last of them was begun.
  Result<std::vector<KernelCode>> finish();

private:
  void startWorker(unsigned thread);
  void join();
  void work(unsigned thread);
  Result<WrittenCode> writtenOf(const KernelSource &kernel, unsigned thread);
  Result<KernelCode> compileKernel(const KernelSource &kernel, unsigned thread);

  llvm::ArrayRef<KernelSource> kernels;
  const KernelCache &cache;
  const Target &target;
  const CpuOptions &options;
  CodeContexts &contexts;
  std::vector<KernelCode> compiled;
  /// The numbers of those that are not in the cache.
  std::vector<size_t> missing;
  std::vector<GuardedThread> workers;
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  /// Tells of stages, one thread at a time.
  CompileObserver observer;
  size_t done = 0;
  std::optional<Error> error;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_KERNELCOMPILATION_H
