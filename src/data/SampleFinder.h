//===- SampleFinder.h - finds the samples of a source ---------------------===//

#ifndef SINTER_DATA_SAMPLEFINDER_H
#define SINTER_DATA_SAMPLEFINDER_H

#include "data/SampleFiles.h"
#include "data/SampleRows.h"
#include "data/SampleSources.h"

#include <filesystem>
#include <map>
#include <memory>

namespace sinter {

/// Arrays of several samples, by input.
struct SampleArrays {
  struct Array {
    size_t input;
    Tensor tensor;
    /// Nothing: the array is the same for all.
    std::optional<SampleRows> rows;
  };
  std::vector<Array> arrays;
};

/// One sample of arrays in memory.
struct SampleInArrays {
  std::shared_ptr<const SampleArrays> arrays;
  size_t row = 0;
};

/// A sample that is an archive: its path, and the inputs that it is for.
struct SampleInArchive {
  std::string path;
  std::vector<size_t> inputs;
};

/// Where one sample is.
struct SamplePosition {
  /// Its files, as InputOptions has them.
  std::vector<std::string> inputs;
  /// An archive instead.
  SampleInArchive archive;
  /// What arrays in memory have of it.
  std::vector<SampleInArrays> arrays;
  /// The file or folder, for the file of classes and for errors.
  std::filesystem::path path;
  /// What names the sample: the path from the folder that was given, or
  /// "x.npy[3]".
  std::string name;
  /// The folder's name or what the list says, if that is the class; else empty.
  std::string classText;
};

/// The input that the array \p name, of \p count in an archive, is for: the one
/// of that name, or the only one \p wanted of a single array.
std::optional<size_t> inputOfArray(const ModelDescription &model,
                                   const std::vector<size_t> &wanted,
                                   const std::string &name, size_t count);

class SampleFinder {
public:
  /// \p inputs: those of \p model, with the sizes that are wanted.
  SampleFinder(const ModelDescription &model,
               const std::vector<ModelInput> &inputs,
               const SampleOptions &options);

  Result<std::vector<SamplePosition>> find();
  /// The indices of the inputs that samples are for, in order; after find().
  std::vector<size_t> varying() const;

private:
  using Positions = std::vector<SamplePosition>;

  Result<Positions> lookInto(const std::string &source);
  Result<void> lookIntoFolder(const std::filesystem::path &folder,
                              bool isClass);
  Result<void> lookIntoFile(const std::string &source);
  Result<void> lookIntoList(const std::string &source);
  Result<void> lookIntoStandardInput();
  Result<void> takeMatch(const std::string &path);
  Result<void> takeLine(const ListedSample &line, const std::string &folder);
  Result<void> takeArrays(const std::string &source);
  Result<void> takeArchive(const std::string &source);
  Result<void> takeArraysOf(PipedSamples &piped);
  Result<void> takeLinesOf(PipedSamples &piped);
  bool takesMore(const PipedSamples &piped) const;
  Result<bool> takeRows(SampleArrays arrays, const std::string &name,
                        bool areOne);
  void takeRandom(uint64_t seed);
  bool takeFolder(const std::filesystem::path &folder);
  void takeFile(const std::filesystem::path &file,
                const std::string &classText);
  Result<std::vector<std::filesystem::path>>
  entriesOf(const std::filesystem::path &folder) const;
  Result<Positions> merged(Positions unnamed,
                           std::map<size_t, Positions> named) const;
  Error severalInputs(const std::string &source) const;
  const std::string &what() const { return options.names.sources; }

  const ModelDescription &model;
  const std::vector<ModelInput> &inputs;
  const SampleOptions &options;
  /// The inputs that are given for all samples, or by a source of their own.
  std::vector<bool> isFixed, isNamed;
  BatchDimension batch;
  /// Those that the present source is for.
  std::vector<size_t> wanted;
  /// What the present source has, and the folder that names begin in.
  Positions places;
  std::filesystem::path root;
};

} // namespace sinter

#endif // SINTER_DATA_SAMPLEFINDER_H
