#include "formats/stablehlo/StablehloFormat.h"

#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/StablehloWriter.h"
#include "formats/stablehlo/vhlo/Version.h"

namespace sinter {

static constexpr Extension extensions[] = {
    {".mlir", "text", /*isVersioned=*/false, /*holdsTests=*/true},
    {".mlir.bc", "portable artifact", /*isVersioned=*/true},
    {".stablehlo", "portable artifact", /*isVersioned=*/true},
    {".mlirbc", "portable artifact", /*isVersioned=*/true, /*holdsTests=*/false,
     /*isListed=*/false},
};

namespace {
/// A StableHLO file, which is imported once.
class StablehloFile : public ModelFile {
public:
  explicit StablehloFile(const std::string &path) : path(path) {}
  Result<Model> read(const ReadOptions &options) override {
    std::string leftOut;
    FileCounts counts;
    Result<Model> model = readStablehlo(path, &leftOut, &said, &counts);
    if (model)
      counted = std::move(counts);
    if (model && !leftOut.empty() && options.note)
      options.note(leftOut);
    return model;
  }
  ModelMetadata metadata() const override { return said; }
  Result<FileCounts> counts() override {
    if (!counted)
      if (Result<Model> model = read({}); !model)
        return model.takeError();
    return *counted;
  }

private:
  std::string path;
  ModelMetadata said;
  std::optional<FileCounts> counted;
};
} // namespace

static Likeness recognises(const std::string &path,
                           std::span<const std::byte> contents) {
  return isStablehloFolder(path) ||
                 (!contents.empty() && isStablehlo(contents, path))
             ? Likeness::Yes
             : Likeness::No;
}

static Result<std::unique_ptr<ModelFile>> open(const std::string &path,
                                               const OpenOptions &) {
  return std::unique_ptr<ModelFile>(std::make_unique<StablehloFile>(path));
}

static Result<void> write(const Model &model, const std::string &path,
                          const WriteOptions &options) {
  const bool isText = llvm::StringRef(path).ends_with(".mlir");
  return writeStablehlo(model, path,
                        isText ? StablehloForm::Text : StablehloForm::Artifact,
                        options.targetVersion);
}

static Result<void> checkVersion(const std::string &version) {
  auto known = vhlo::parseTargetVersion(version);
  return known ? Result<void>() : known.takeError();
}

constinit const Format stablehloFormat = {
    .name = "stablehlo",
    .title = "StableHLO",
    .extensions = extensions,
    .hasFunctions = true,
    .hasUnnamedConstants = true,
    .hasQuantizedTypes = true,
    .hasMetadata = true,
    .recognises = recognises,
    .open = open,
    .write = write,
    .checkVersion = checkVersion,
};

} // namespace sinter
