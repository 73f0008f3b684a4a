#include "formats/paddle/PaddleFormat.h"

#include "formats/paddle/PaddleReader.h"
#include "formats/paddle/WritePaddle.h"
#include "formats/paddle/file/FindFiles.h"

#include <filesystem>

namespace sinter {

namespace {

/// A Paddle program. Operators may need known sizes, so it is imported again
/// for each shape.
class PaddleModelFile : public ModelFile {
public:
  PaddleModelFile(std::string path, paddle::PaddleFile file, bool drawsMissing)
      : path(std::move(path)), file(std::move(file)),
        drawsMissing(drawsMissing) {}

  Result<Model> read(const ReadOptions &options) override {
    if (drawsMissing && options.note && !file.missing().empty())
      options.note(file.missing() + "; random values replace them");
    // Note it only once.
    drawsMissing = false;
    return readPaddle(file, options);
  }
  bool isHopeless() const override { return hasUnknownOperators(file); }
  ModelMetadata metadata() const override {
    const paddle::Program &program = file.program();
    ModelMetadata all;
    if (program.era == paddle::Era::Pir)
      all.entries.emplace_back("era", "pir");
    else if (program.version > 0)
      all.formatVersion = std::to_string(program.version / 1000000) + "." +
                          std::to_string(program.version / 1000 % 1000) + "." +
                          std::to_string(program.version % 1000);
    return all;
  }
  Result<FileCounts> counts() override {
    FileCounts counts;
    for (const paddle::Block &block : file.program().blocks)
      for (const paddle::Operator &op : block.operators)
        ++counts.operators[op.type];
    for (const paddle::Variable *each : file.program().parameters())
      if (each->type)
        counts.weightBytes += byteCount(*each->type, each->dims).value_or(0);
    return counts;
  }
  std::vector<std::string> dataFiles() const override {
    // Relative to the parent folder of the path, which may be a folder itself.
    namespace fs = std::filesystem;
    const fs::path base = fs::path(path).parent_path();
    std::vector<std::string> files;
    for (const std::string &each : file.dataFiles())
      files.push_back((fs::path(file.name()).parent_path() / each)
                          .lexically_relative(base.empty() ? "." : base)
                          .string());
    return files;
  }

  std::optional<Signature> signature(const ReadOptions &) const override {
    return Signature{.inputs = declarations(file.program().inputs),
                     .outputs = declarations(file.program().outputs),
                     .defaults = {},
                     .sizesAreHints = true};
  }

private:
  /// The program's declarations of \p ports. Sizes are hints.
  std::vector<DeclaredTensor>
  declarations(const std::vector<paddle::Port> &ports) const {
    std::vector<DeclaredTensor> list;
    for (const paddle::Port &port : ports) {
      DeclaredTensor &tensor = list.emplace_back();
      tensor.spec.name = port.name;
      for (const paddle::Variable &each :
           file.program().blocks.front().variables) {
        if (each.name != port.variable)
          continue;
        if (each.type)
          tensor.spec.type = *each.type;
        for (size_t i = 0; i < each.dims.size(); ++i) {
          const bool isKnown = each.dims[i] >= 0;
          tensor.spec.shape.push_back(isKnown ? each.dims[i] : -1);
          tensor.symbols.push_back(
              isKnown ? "" : port.name + "_" + std::to_string(i));
        }
        break;
      }
    }
    return list;
  }

  std::string path;
  paddle::PaddleFile file;
  bool drawsMissing;
};

} // namespace

/// A folder is recognised by the files in it, a file by its name or its
/// contents. No other format has JSON in a file with this extension.
static Likeness recognises(const std::string &path,
                           std::span<const std::byte> contents) {
  const llvm::StringRef text(reinterpret_cast<const char *>(contents.data()),
                             contents.size());
  const llvm::StringRef begin = text.take_front(64).ltrim();
  const bool isJson = llvm::StringRef(path).ends_with(".json") &&
                      (begin.starts_with("{") || begin.starts_with("["));
  const bool isPaddle = contents.empty()
                            ? paddle::isPaddlePath(path)
                            : isJson || paddle::isPaddleProgram(text);
  return isPaddle ? Likeness::Yes : Likeness::No;
}

static Result<std::unique_ptr<ModelFile>> open(const std::string &path,
                                               const OpenOptions &options) {
  Result<paddle::PaddleFile> file = paddle::PaddleFile::open(
      path,
      {options.parameters, options.randomParameters, options.drawsMissing});
  if (!file)
    return file.takeError();
  return std::unique_ptr<ModelFile>(std::make_unique<PaddleModelFile>(
      path, std::move(*file), options.drawsMissing));
}

/// Writes in the form of the era given by the name, else of the program that
/// the model was imported from.
static Result<void> write(const Model &model, const std::string &path,
                          const WriteOptions &) {
  Result<paddle::WrittenProgram> written = paddle::toProgram(model);
  if (!written)
    return inFile(written.takeError(), path);
  const llvm::StringRef name(path);
  if (name.ends_with(".json"))
    paddle::setEra(written->program, paddle::Era::Pir);
  else if (name.ends_with(".pdmodel") || name.ends_with("__model__"))
    paddle::setEra(written->program, paddle::Era::Protobuf);
  return paddle::writePaddle(written->program, std::move(written->parameters),
                             path);
}

/// The file with all parameters; in a folder it is included.
static std::vector<std::string> besides(const std::string &path) {
  if (path.ends_with('/'))
    return {};
  return {(std::filesystem::path(path).parent_path() /
           paddle::parametersNameFor(path))
              .string()};
}

static constexpr Extension extensions[] = {
    {".pdmodel"},
    {.suffix = "__model__", .isListed = false},
    {.suffix = ".json", .what = "Paddle's PIR"},
    {.suffix = "/", .what = "a folder of PaddlePaddle"}};

constinit const Format paddleFormat = {
    .name = "paddle",
    .title = "PaddlePaddle",
    .extensions = extensions,
    .hasParameterFiles = true,
    .hasZeroPoints = false,
    .recognises = recognises,
    .open = open,
    .write = write,
    .besides = besides,
};

} // namespace sinter
