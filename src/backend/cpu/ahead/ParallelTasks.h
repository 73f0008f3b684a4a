//===- ParallelTasks.h - steps on the caller's threads, as code -----------===//
//
// What runtime/ThreadPool.h does for a step, with threads of the caller:
//
//     parts = min(threads, tasks, what the step is worth)
//     one part:  kernel(buffers, first, first + tasks)
//     more:      threads->run(threads->pool, NAME.task, &job, parts)
//
//     NAME.task(job, i): the kernel on the part i of the tasks, with scratch i
//
// Results do not depend on how tasks are divided, so they are those of any
// number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_PARALLELTASKS_H
#define SINTER_BACKEND_CPU_AHEAD_PARALLELTASKS_H

#include "backend/cpu/ahead/FloatModeCode.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace sinter::cpu {

/// A call of a kernel by a step.
struct KernelCall {
  llvm::Function *kernel;
  /// The addresses of its buffers, and how many there are. That of scratch is
  /// the first thread's.
  llvm::Value *table;
  size_t buffers;
  /// Which of them is scratch, if one is, and the address.
  std::optional<size_t> scratchSlot;
  llvm::Value *scratch;
  /// The scratch of threads is that many bytes apart, in the integer of an
  /// address.
  llvm::Value *scratchStride;
  /// 64-bit integers.
  llvm::Value *firstTask, *tasks;
  /// The threads that it is worth, in the integer of an address.
  llvm::Value *worthwhile;
};

/// No step is worth more threads.
inline constexpr unsigned mostThreads = 4096;

class ParallelTasks {
public:
  /// What all steps of a function share, on a machine with an FPU or without
  /// one. Kernels have up to \p mostBuffers buffers.
  ParallelTasks(llvm::Module &module, std::string name, Denormals denormals,
                bool hasFloats, size_t mostBuffers);

  /// Begins a function whose argument \p threads is a pointer to NAME_threads,
  /// or null. The mode has been set by \p mode.
  void begin(llvm::IRBuilder<> &builder, llvm::Value *threads,
             const FloatModeCode &mode);

  /// Calls a kernel in that function.
  void add(llvm::IRBuilder<> &builder, const KernelCall &call);

  /// Builds NAME.task, when all kernels have been added.
  void finish();

  /// Code for the bytes of a workspace that \p threads threads need, of which
  /// one needs \p first; the largest number if there is no such size.
  static llvm::Value *workspaceSize(llvm::IRBuilder<> &builder,
                                    llvm::Value *threads, llvm::Value *first,
                                    llvm::Value *scratchStride);

private:
  enum Field {
    Kernel,
    Table,
    Slot,
    Scratch,
    Stride,
    FirstTask,
    Tasks,
    Parts,
    Buffers
  };

  llvm::Value *loadField(llvm::IRBuilder<> &builder, Field field);
  void storeField(llvm::IRBuilder<> &builder, Field field, llvm::Value *value);

  llvm::Module &module;
  Denormals denormals;
  bool hasFloats;
  size_t mostBuffers;
  llvm::PointerType *pointer;
  llvm::IntegerType *size, *i64;
  llvm::StructType *jobType;
  llvm::FunctionType *runType, *kernelType;
  llvm::Function *task;
  llvm::SetVector<llvm::Function *> kernels;

  /// Of the function that is being built.
  const FloatModeCode *mode = nullptr;
  llvm::Value *job = nullptr, *count = nullptr, *run = nullptr, *pool = nullptr;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_PARALLELTASKS_H
