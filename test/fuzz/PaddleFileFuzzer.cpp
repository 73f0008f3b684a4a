//===- PaddleFileFuzzer.cpp - any bytes as a Paddle program ---------------===//
//
// Opens the bytes as a program, in protobuf or JSON, or as the parameters of
// one that declares what they seem to hold. Nothing may crash, every error is
// one line, and a program that was read once is written the same ever after.
//
//===----------------------------------------------------------------------===//

#include "formats/paddle/file/PaddleFile.h"
#include "formats/paddle/file/ParameterFile.h"
#include "formats/paddle/file/ProgramDesc.h"

#include <cstdio>
#include <cstdlib>

using namespace sinter;
using namespace sinter::paddle;

namespace {

void checkError(const Error &error) {
  if (error.message().empty() ||
      error.message().find('\n') != std::string::npos) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
    std::abort();
  }
}

void tryProgram(const std::string &bytes) {
  Result<PaddleFile> file = PaddleFile::fromMemory(bytes, "", "fuzz");
  if (!file)
    return checkError(file.error());
  for (const Variable *parameter : file->program().parameters())
    (void)file->parameter(parameter->name);
  if (file->program().era == Era::Pir)
    return;
  Result<std::string> once = encodeProgramDesc(file->program());
  if (!once)
    return checkError(once.error());
  Result<PaddleFile> again = PaddleFile::fromMemory(*once, "", "again");
  if (!again) {
    std::fprintf(stderr, "%s\n", again.error().message().c_str());
    std::abort();
  }
  Result<std::string> twice = encodeProgramDesc(again->program());
  if (!twice || *twice != *once) {
    std::fprintf(stderr, "another program was written the second time\n");
    std::abort();
  }
}

void tryParameters(const std::string &bytes) {
  auto kept = std::make_shared<const std::string>(bytes);
  const ParameterBytes whole{std::as_bytes(std::span(*kept)), kept};
  std::vector<Variable> variables;
  for (ParameterBytes rest = whole; !rest.bytes.empty();) {
    Result<Tensor> tensor = takeTensor(rest);
    if (!tensor) {
      checkError(tensor.error());
      break;
    }
    Variable &variable = variables.emplace_back();
    variable.name = "p" + std::to_string(variables.size());
    variable.type = tensor->type();
    variable.dims = tensor->shape();
    // Every byte of it is there.
    (void)tensor->reshaped({tensor->size()}).owned();
  }
  std::vector<const Variable *> declared;
  for (const Variable &each : variables)
    declared.push_back(&each);
  Result<std::vector<Tensor>> all = readCombined(whole, declared);
  if (!all)
    checkError(all.error());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string bytes(reinterpret_cast<const char *>(data), size);
  tryProgram(bytes);
  tryParameters(bytes);
  return 0;
}
