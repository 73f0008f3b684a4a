//===- ExportedFunction.cpp - what jax.export serialises ------------------===//

#include "formats/stablehlo/ExportedFunction.h"

#include "formats/stablehlo/vhlo/ArtifactReader.h"

#include <cstdint>
#include <cstring>

namespace sinter {
namespace {

/// A FlatBuffer (flatbuffers.dev, "internals"): little-endian numbers, and
/// offsets relative to where they stand. Places count from the beginning.
class FlatBuffer {
public:
  explicit FlatBuffer(std::span<const std::byte> bytes) : bytes(bytes) {}

  template <typename T> std::optional<T> number(uint64_t place) const {
    if (place > bytes.size() || bytes.size() - place < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + place, sizeof(T));
    return value;
  }

  /// Where the offset at \p place leads.
  std::optional<uint64_t> follow(uint64_t place) const {
    const auto offset = number<uint32_t>(place);
    if (!offset || *offset == 0)
      return std::nullopt;
    return place + *offset;
  }

  /// Where field number \p field of the table at \p table stands; nothing if
  /// the table leaves it out.
  std::optional<uint64_t> field(uint64_t table, unsigned field) const {
    const auto back = number<int32_t>(table);
    if (!back || *back > int64_t(table) ||
        int64_t(table) - *back > int64_t(bytes.size()))
      return std::nullopt;
    const uint64_t description = int64_t(table) - *back;
    const auto size = number<uint16_t>(description);
    const unsigned entry = 2 * sizeof(uint16_t) + field * sizeof(uint16_t);
    if (!size || entry + sizeof(uint16_t) > *size)
      return std::nullopt;
    const auto offset = number<uint16_t>(description + entry);
    if (!offset || *offset == 0)
      return std::nullopt;
    return table + *offset;
  }

  /// The vector of bytes at \p place.
  std::optional<std::span<const std::byte>> vector(uint64_t place) const {
    const auto size = number<uint32_t>(place);
    if (!size || bytes.size() - place - sizeof(uint32_t) < *size)
      return std::nullopt;
    return bytes.subspan(place + sizeof(uint32_t), *size);
  }

private:
  std::span<const std::byte> bytes;
};

} // namespace

std::optional<std::span<const std::byte>>
artifactInExported(std::span<const std::byte> bytes) {
  // serialization_version, function_name, in_tree, in_avals, out_tree,
  // out_avals, nr_devices_short, in_shardings, out_shardings, platforms,
  // ordered_effects, unordered_effects and disabled_checks come before it.
  constexpr unsigned mlirModuleSerialized = 13;
  const FlatBuffer buffer(bytes);
  const auto table = buffer.follow(0);
  const auto field =
      table ? buffer.field(*table, mlirModuleSerialized) : std::nullopt;
  const auto place = field ? buffer.follow(*field) : std::nullopt;
  const auto artifact = place ? buffer.vector(*place) : std::nullopt;
  if (!artifact || !vhlo::beginsAsBytecode(*artifact))
    return std::nullopt;
  return artifact;
}

} // namespace sinter
