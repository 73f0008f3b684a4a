//===- ExternalData.cpp - tensors' data in files beside the model ---------===//

#include "formats/onnx/file/ExternalData.h"

#include "formats/onnx/file/ModelCheck.h"
#include "formats/onnx/file/onnx.pb.h"
#include "runtime/MappedFile.h"
#include "runtime/OpenBeneath.h"

#include <charconv>
#include <optional>

using namespace sinter;
using namespace sinter::onnx;

namespace {

Error refused(std::string_view location, const std::string &reason) {
  return invalidModel("external data " + quoted(location) + ": " + reason);
}

/// Parses a non-negative decimal integer.
std::optional<int64_t> parseNumber(std::string_view text) {
  int64_t value = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

struct Entries {
  std::optional<std::string> location, offset, length;
};

Result<Entries> entriesOf(const TensorProto &tensor) {
  Entries entries;
  for (const StringStringEntryProto &entry : tensor.external_data()) {
    std::optional<std::string> *slot =
        entry.key() == "location" ? &entries.location
        : entry.key() == "offset" ? &entries.offset
        : entry.key() == "length" ? &entries.length
                                  : nullptr;
    if (!slot)
      continue;
    if (*slot)
      return invalidModel("external data: " + quoted(entry.key()) +
                          " is given twice");
    *slot = entry.value();
  }
  if (!entries.location)
    return invalidModel("external data: no location is given");
  return entries;
}

} // namespace

ExternalData::ExternalData(std::string folder) : folder(std::move(folder)) {}

Result<FileBytes> ExternalData::map(const std::string &location) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = files.find(location);
  if (found != files.end())
    return found->second;
  Result<int> descriptor = openBeneath(folder, location);
  if (!descriptor)
    return descriptor.takeError();
  Result<std::shared_ptr<const MappedFile>> mapped =
      MappedFile::fromDescriptor(*descriptor, location);
  if (!mapped)
    return mapped.takeError();
  return files.emplace(location, FileBytes{(*mapped)->bytes(), *mapped})
      .first->second;
}

Result<FileBytes> ExternalData::find(const TensorProto &tensor, int64_t size) {
  Result<Entries> entries = entriesOf(tensor);
  if (!entries)
    return entries.takeError();
  const std::string &location = *entries->location;
  std::optional<int64_t> offset = parseNumber(entries->offset.value_or("0"));
  if (!offset)
    return refused(location, "offset " + quoted(*entries->offset) +
                                 " is not a non-negative number");
  std::optional<int64_t> length = size;
  if (entries->length)
    length = parseNumber(*entries->length);
  if (!length)
    return refused(location, "length " + quoted(*entries->length) +
                                 " is not a non-negative number");
  if (*length != size)
    return refused(location, "length is " + std::to_string(*length) +
                                 " bytes, the tensor's shape says " +
                                 std::to_string(size));
  Result<FileBytes> file = map(location);
  if (!file)
    return file.takeError();
  uint64_t available = file->bytes.size();
  if (uint64_t(*offset) > available || uint64_t(size) > available - *offset)
    return refused(location, std::to_string(size) + " bytes at offset " +
                                 std::to_string(*offset) +
                                 " go past the file's end at " +
                                 std::to_string(available));
  return FileBytes{file->bytes.subspan(*offset, size), file->owner};
}
