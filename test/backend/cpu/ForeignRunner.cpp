//===- ForeignRunner.cpp - runs a kernel of a machine that we are not -----===//

#include "backend/cpu/ForeignRunner.h"

#include "llvm/Support/Program.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace sinter;
using namespace sinter::cpu;
namespace fs = std::filesystem;

namespace {

constexpr const char *emulator = "qemu-aarch64", *compiler = "clang-19",
                     *linker = "ld.lld-19";

[[noreturn]] void die(const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

/// Runs \p program, with files for standard input and output.
void execute(const char *program, std::vector<std::string> arguments,
             const std::string &input = "", const std::string &output = "") {
  const std::string path = *llvm::sys::findProgramByName(program);
  std::vector<llvm::StringRef> all = {program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::string message;
  const int code = llvm::sys::ExecuteAndWait(
      path, all, std::nullopt, {input, output, std::nullopt}, 0, 0, &message);
  if (code != 0)
    die(std::string(program) + " ends with " + std::to_string(code) + " " +
        message);
}

/// A folder of this process, with the runner compiled; gone when it ends.
class Workplace {
public:
  Workplace() {
    folder = fs::temp_directory_path() /
             ("sinter-foreign-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    execute(compiler, {"--target=aarch64-linux-gnu", "-O1", "-ffreestanding",
                       "-fno-builtin", "-fno-stack-protector", "-c",
                       SINTER_RUNNER_SOURCE, "-o", file("runner.o")});
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  std::string file(const char *name) const { return folder / name; }

private:
  fs::path folder;
};

} // namespace

std::string cpu::missingForForeign() {
  for (const char *program : {emulator, compiler, linker})
    if (!llvm::sys::findProgramByName(program))
      return program;
  return "";
}

void cpu::runForeign(const ObjectFile &object, const std::string &cpu,
                     std::span<const std::span<std::byte>> buffers,
                     int64_t tasks) {
  static const Workplace place;
  std::ofstream(place.file("kernel.o"), std::ios::binary)
      .write(object.data(), static_cast<std::streamsize>(object.size()));
  {
    std::ofstream input(place.file("in"), std::ios::binary);
    const auto number = [&](int64_t value) {
      input.write(reinterpret_cast<const char *>(&value), sizeof(value));
    };
    number(tasks);
    number(static_cast<int64_t>(buffers.size()));
    for (std::span<std::byte> buffer : buffers)
      number(static_cast<int64_t>(buffer.size()));
    for (std::span<std::byte> buffer : buffers)
      input.write(reinterpret_cast<const char *>(buffer.data()),
                  static_cast<std::streamsize>(buffer.size()));
  }
  execute(linker, {"-static", "-o", place.file("program"),
                   place.file("runner.o"), place.file("kernel.o")});
  execute(emulator, {"-cpu", cpu.empty() ? "max" : cpu, place.file("program")},
          place.file("in"), place.file("out"));
  std::ifstream output(place.file("out"), std::ios::binary);
  for (std::span<std::byte> buffer : buffers)
    output.read(reinterpret_cast<char *>(buffer.data()),
                static_cast<std::streamsize>(buffer.size()));
  if (!output)
    die("the emulated kernel has left its buffers out");
}
