//===- MappedPages.h - which memory a file can fill again -----------------===//
//
// A page of a mapped file that was read stays in memory, though the file could
// give it again. Where most of a large file is read once (weights that are
// packed), its pages are given back as the reading goes on.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_MAPPEDPAGES_H
#define SINTER_RUNTIME_MAPPEDPAGES_H

#include <cstddef>
#include <span>

namespace sinter {

/// Files that are mapped to be read, and never written through the mapping,
/// from here on and no longer.
void addMappedPages(std::span<const std::byte> mapping);
void removeMappedPages(std::span<const std::byte> mapping);

/// Gives the pages back that lie wholly in \p bytes, if these are a part of
/// such a file; else does nothing. Whoever reads them again finds them as they
/// were. Any thread may call it at any time.
void releasePages(std::span<const std::byte> bytes);

} // namespace sinter

#endif // SINTER_RUNTIME_MAPPEDPAGES_H
