#include "engine/toyformat/ToyFormat.h"

#include "runtime/MappedFile.h"

namespace sinter::toy {

static constexpr Extension extensions[] = {{".toy", "lines of words"}};
static constexpr llvm::StringLiteral magic = "toy 1\n";

namespace {
/// Read once: the graph has unknown sizes where the file has.
class ToyFile : public ModelFile {
public:
  ToyFile(std::shared_ptr<const MappedFile> file, std::string path)
      : file(std::move(file)), path(std::move(path)) {}
  Result<Model> read(const ReadOptions &) override {
    return readToy(file->text(), path);
  }
  Result<FileCounts> counts() override {
    FileCounts counts;
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(file->text()).split(lines, '\n', -1, false);
    for (llvm::StringRef line : lines) {
      const llvm::StringRef word = line.split(' ').first;
      if (word == "weight")
        counts.weightBytes += static_cast<int64_t>(
            line.split('=').second.count(' ') * sizeof(float));
      else if (word != "toy" && word != "input" && word != "output")
        ++counts.operators[word.str()];
    }
    return counts;
  }

private:
  std::shared_ptr<const MappedFile> file;
  std::string path;
};
} // namespace

static Likeness recognises(const std::string &path,
                           std::span<const std::byte> contents) {
  const llvm::StringRef text(reinterpret_cast<const char *>(contents.data()),
                             contents.size());
  return text.starts_with(magic) ||
                 (!text.empty() && llvm::StringRef(path).ends_with(".toy"))
             ? Likeness::Yes
             : Likeness::No;
}

static Result<std::unique_ptr<ModelFile>> open(const std::string &path,
                                               const OpenOptions &) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  if (!(*file)->text().starts_with(magic))
    return invalidModel(path + ": the first line is not 'toy 1'");
  return std::unique_ptr<ModelFile>(
      std::make_unique<ToyFile>(std::move(*file), path));
}

static Result<void> write(const Model &model, const std::string &path,
                          const WriteOptions &) {
  return writeToy(model, path);
}

constinit const Format toyFormat = {
    .name = "toy",
    .title = "Toy",
    .extensions = extensions,
    .recognises = recognises,
    .open = open,
    .write = write,
};

} // namespace sinter::toy
