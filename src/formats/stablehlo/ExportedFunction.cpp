//===- ExportedFunction.cpp - files of jax.export -------------------------===//

#include "formats/stablehlo/ExportedFunction.h"

#include "formats/stablehlo/vhlo/ArtifactReader.h"

#include <cstdint>
#include <cstring>

namespace sinter {
namespace {

/// A FlatBuffer (flatbuffers.dev, "internals"): little-endian integers, and
/// offsets relative to their own position. Positions count from the start.
class FlatBuffer {
public:
  explicit FlatBuffer(std::span<const std::byte> bytes) : bytes(bytes) {}

  template <typename T> std::optional<T> number(uint64_t address) const {
    if (address > bytes.size() || bytes.size() - address < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + address, sizeof(T));
    return value;
  }

  /// The position that the offset at \p address points to.
  std::optional<uint64_t> follow(uint64_t address) const {
    const auto offset = number<uint32_t>(address);
    if (!offset || *offset == 0)
      return std::nullopt;
    return address + *offset;
  }

  /// The position of field \p field of the table at \p table; nothing if it is
  /// absent.
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

  /// The vector of bytes at \p address.
  std::optional<std::span<const std::byte>> vector(uint64_t address) const {
    const auto size = number<uint32_t>(address);
    if (!size || bytes.size() - address - sizeof(uint32_t) < *size)
      return std::nullopt;
    return bytes.subspan(address + sizeof(uint32_t), *size);
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
  const auto address = field ? buffer.follow(*field) : std::nullopt;
  const auto artifact = address ? buffer.vector(*address) : std::nullopt;
  if (!artifact || !vhlo::beginsAsBytecode(*artifact))
    return std::nullopt;
  return artifact;
}

} // namespace sinter
