#include "data/FrameFiles.h"

#include "data/Inputs.h"
#include "data/SampleSources.h"
#include "runtime/MappedFile.h"
#include "runtime/Wav.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace sinter {

namespace {

/// Those of a file, which it closes.
class OpenedFrames : public FrameSource {
public:
  OpenedFrames(int descriptor, std::unique_ptr<FrameSource> frames)
      : descriptor(descriptor), frames(std::move(frames)) {}
  ~OpenedFrames() override { ::close(descriptor); }
  OpenedFrames(const OpenedFrames &) = delete;
  OpenedFrames &operator=(const OpenedFrames &) = delete;

  Result<std::optional<Tensor>> next() override { return frames->next(); }
  std::optional<size_t> count() const override { return frames->count(); }
  int64_t step() const override { return frames->step(); }
  int64_t left() const override { return frames->left(); }
  int64_t rate() const override { return frames->rate(); }

private:
  int descriptor;
  std::unique_ptr<FrameSource> frames;
};

} // namespace

/// The files with windows in \p folder and those below, sorted.
static Result<FrameFiles> filesInFolder(const std::string &what,
                                        const std::string &folder) {
  namespace fs = std::filesystem;
  FrameFiles files;
  files.areMany = true;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string extension = extensionOf(entry->path().string());
    std::error_code ignored;
    if ((extension == ".npy" || extension == ".wav") &&
        entry->is_regular_file(ignored))
      files.paths.push_back(entry->path().string());
  }
  if (error)
    return systemError(what + ": cannot read the folder '" + folder +
                       "': " + error.message());
  std::ranges::sort(files.paths);
  for (const std::string &path : files.paths)
    files.names.push_back(fs::path(path).lexically_relative(folder).string());
  if (files.paths.empty())
    return usageError(what + ": there is no .npy or .wav in '" + folder + "'");
  return files;
}

/// The files of the list \p source: "@FILE", or a file itself.
static Result<FrameFiles> filesOfList(const std::string &what,
                                      const std::string &source) {
  const std::string path = source.starts_with("@") ? source.substr(1) : source;
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  const std::span<const std::byte> bytes = (*file)->bytes();
  const std::string text(reinterpret_cast<const char *>(bytes.data()),
                         bytes.size());
  FrameFiles files;
  files.areMany = true;
  for (const ListedSample &line : listedSamples(text)) {
    files.names.push_back(line.fields.front());
    files.paths.push_back(
        listedPath(line.fields.front(),
                   std::filesystem::path(path).parent_path().string()));
  }
  if (files.paths.empty())
    return usageError(what + ": the list '" + path + "' is empty");
  return files;
}

Result<FrameFiles> frameFiles(const std::string &what,
                              const std::string &source) {
  switch (kindOfSource(source)) {
  case SampleSourceKind::Folder:
    return filesInFolder(what, source);
  case SampleSourceKind::List:
    return filesOfList(what, source);
  case SampleSourceKind::Pattern: {
    Result<std::vector<std::string>> paths = filesMatching(what, source);
    if (!paths)
      return paths.takeError();
    return FrameFiles{*paths, *paths, true};
  }
  case SampleSourceKind::File:
  case SampleSourceKind::StandardInput:
    break;
  }
  return FrameFiles{{source}, {source}, false};
}

/// The array of \p path; audio as [channels, samples], whose rate \p rate gets.
static Result<Tensor> readWindowed(const std::string &path,
                                   const ModelInput &input,
                                   std::optional<int64_t> wanted,
                                   int64_t &rate) {
  // As from a pipe; other inputs are refused with the array's type.
  const auto asInput = [&](Tensor array) {
    return asFloats(array, input.spec.type).value_or(array);
  };
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  if (!isWav((*file)->bytes())) {
    Result<Tensor> array = readTensor(path, input.spec.type);
    return array ? asInput(std::move(*array)) : std::move(array);
  }
  Result<Audio> audio = decodeWav((*file)->bytes(), path);
  if (!audio)
    return audio.takeError();
  audio = hasChannels(input) ? std::move(*audio) : toMono(std::move(*audio));
  if (wanted)
    audio = resampled(std::move(*audio), *wanted);
  if (!audio)
    return audio.takeError();
  rate = audio->rate;
  return asInput(std::move(audio->samples));
}

Result<std::unique_ptr<FrameSource>> openFrames(const std::string &path,
                                                const ModelInput &input,
                                                const PipeOptions &options) {
  if (path == "-") {
    Result<std::unique_ptr<PipeFrames>> frames =
        PipeFrames::open(STDIN_FILENO, "standard input", input, options);
    if (!frames)
      return frames.takeError();
    return std::unique_ptr<FrameSource>(std::move(*frames));
  }
  if (options.raw) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
      return fileError("open", path, errno);
    Result<std::unique_ptr<PipeFrames>> frames =
        PipeFrames::open(descriptor, path, input, options);
    if (!frames) {
      ::close(descriptor);
      return frames.takeError();
    }
    return std::unique_ptr<FrameSource>(
        std::make_unique<OpenedFrames>(descriptor, std::move(*frames)));
  }
  int64_t rate = 0;
  Result<Tensor> array = readWindowed(path, input, options.rate, rate);
  if (!array)
    return array.takeError();
  Result<Frames> frames =
      Frames::of(std::move(*array), input, options.windows, rate);
  if (!frames)
    return inFile(frames.takeError(), path);
  return std::unique_ptr<FrameSource>(
      std::make_unique<Frames>(std::move(*frames)));
}

} // namespace sinter
