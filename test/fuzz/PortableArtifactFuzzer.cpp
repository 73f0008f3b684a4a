//===- PortableArtifactFuzzer.cpp - any bytes as a portable artifact ------===//
//
// Reads the bytes as an artifact, or as what jax.export wraps around one. What
// was read is written for the oldest and the newest version, and what was
// written must be readable again. Nothing may crash, and errors are one line.
//
//===----------------------------------------------------------------------===//

#include "MemoryErrors.h"
#include "formats/stablehlo/ExportedFunction.h"
#include "formats/stablehlo/vhlo/ArtifactReader.h"
#include "formats/stablehlo/vhlo/ArtifactWriter.h"
#include "graph/Model.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace sinter;

/// Attributes stay in a context for good, so it is renewed now and then.
static MLIRContext *context() {
  constexpr int inputsForOne = 500;
  static std::shared_ptr<MLIRContext> current;
  static int uses = 0;
  if (uses++ % inputsForOne == 0)
    current = makeContext();
  return current.get();
}

static void checkMessage(const Error &error) {
  if (error.message().find('\n') == std::string::npos)
    return;
  std::fprintf(stderr, "%s\n", error.message().c_str());
  std::abort();
}

static void writeAndRead(ModuleOp module, vhlo::Version version) {
  OwningOpRef<ModuleOp> copy(module.clone());
  Result<std::string> written = vhlo::writeArtifact(*copy, version);
  if (!written)
    return checkMessage(written.error());
  auto again = vhlo::readArtifact(std::as_bytes(std::span(*written)), nullptr,
                                  "again", module.getContext());
  if (again)
    return;
  std::fprintf(stderr, "%s\n", again.error().message().c_str());
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const AbortOnMemoryErrors atTheEnd;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  if (auto artifact = artifactInExported(bytes))
    bytes = *artifact;
  // Large constants share the bytes, which are gone after this call.
  auto owned =
      std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  auto module = vhlo::readArtifact(*owned, owned, "fuzz", context());
  if (!module) {
    checkMessage(module.error());
    return 0;
  }
  writeAndRead(**module, vhlo::minimumVersion);
  writeAndRead(**module, vhlo::currentVersion);
  return 0;
}

/// Containers and allocators are shared with libraries that are not
/// instrumented.
extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0:allow_user_poisoning=0";
}
