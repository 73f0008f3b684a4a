//===- MappedPages.h - releases pages of mapped files ---------------------===//
//
// A page of a mapped file stays in memory after it was read, though the file
// can provide it again. If most of a large file is read once (weights that are
// packed), its pages are released as reading proceeds.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_MAPPEDPAGES_H
#define SINTER_RUNTIME_MAPPEDPAGES_H

#include <cstddef>
#include <span>

namespace sinter {

/// Registers read-only mappings for its lifetime.
void addMappedPages(std::span<const std::byte> mapping);
void removeMappedPages(std::span<const std::byte> mapping);

/// Releases the pages wholly inside \p bytes if these are part of such a
/// mapping; else does nothing. Later reads find the same contents. Any thread
/// may call it at any time.
void releasePages(std::span<const std::byte> bytes);

} // namespace sinter

#endif // SINTER_RUNTIME_MAPPEDPAGES_H
