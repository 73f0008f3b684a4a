//===- SampleSources.h - what a source of samples stands for --------------===//
//
//   a.png             a file
//   images/           a folder
//   'images/*.png'    a pattern, of which the shell knows nothing: files,
//   sorted
//   @list, list.txt   a list: a line a sample
//   -                 standard input: such a list, or arrays as numpy.save
//                     writes them, one after the other
//   random:42         random numbers
//
// A line of a list is a file, or NAME=FILE for each of several inputs, with
// tabs between them; after a last tab may be the sample's class. Files are
// looked for from the current folder, then from that of the list. Empty lines
// and those that begin with # are left out.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_SAMPLESOURCES_H
#define SINTER_DATA_SAMPLESOURCES_H

#include "data/PipeReader.h"
#include "runtime/Tensor.h"

#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace sinter {

enum class SampleSourceKind { File, Folder, Pattern, List, StandardInput };

/// The kind of \p source; File if there is nothing of this name.
SampleSourceKind kindOfSource(const std::string &source);

/// The extension of \p path in small letters: ".png".
std::string extensionOf(const std::string &path);

/// A line of a list.
struct ListedSample {
  /// What is between tabs; the first is not empty.
  std::vector<std::string> fields;
};

/// The lines of \p text that are for samples.
std::vector<ListedSample> listedSamples(const std::string &text);

/// The file \p path of a list in \p folder: from the current folder if it is
/// there, else from that of the list.
std::string listedPath(const std::string &path, const std::string &folder);

/// The files and folders that the pattern \p source matches, sorted. Usage
/// error if there are none; \p what names it in messages.
Result<std::vector<std::string>> filesMatching(const std::string &what,
                                               const std::string &source);

/// Reads what comes from a pipe piece by piece: lines, or arrays as numpy.save
/// writes them.
class SampleStream {
public:
  /// Reads the file \p descriptor, which stays open; \p name is for messages.
  SampleStream(int descriptor, std::string name)
      : reader(descriptor, std::move(name)) {}
  explicit SampleStream(PipeReader reader) : reader(std::move(reader)) {}

  /// Whether the next bytes are those of an array.
  Result<bool> holdsArrays();
  /// The next line, without its end; nothing at the end.
  Result<std::optional<std::string>> line();
  /// The next array; nothing at the end.
  Result<std::optional<Tensor>> array();
  /// Whether there is something, or the end, without waiting.
  bool isReady() const { return reader.isReady(); }

private:
  PipeReader reader;
  size_t count = 0;
};

/// Samples on standard input that are taken part by part, each as many as are
/// there.
struct PipedSamples {
  /// Of a part.
  static constexpr size_t most = 256;

  SampleStream stream{STDIN_FILENO, "standard input"};
  /// Those of all parts so far.
  size_t taken = 0;
  /// Whether these are arrays; else lines.
  bool areArrays = false, hasEnded = false;
};

} // namespace sinter

#endif // SINTER_DATA_SAMPLESOURCES_H
