//===- TraceWriter.h - traces for Perfetto and Chrome ---------------------===//

#ifndef SINTER_RUNTIME_TRACEWRITER_H
#define SINTER_RUNTIME_TRACEWRITER_H

#include "runtime/Executor.h"

#include <string>

namespace sinter {

/// Collects timed events and writes them in the Trace Event Format that
/// ui.perfetto.dev and chrome://tracing open ("complete" events, times in
/// microseconds). Each track is a row in the viewer.
class TraceWriter {
public:
  /// Adds one event from \p start for \p seconds on \p track.
  void add(std::string_view track, std::string_view name,
           std::string_view category, double start, double seconds);
  /// Adds a run's layers on \p track, from \p offset seconds on.
  void addLayers(std::string_view track, std::span<const LayerTime> layers,
                 double offset = 0);

  /// The whole trace as JSON.
  std::string text() const;
  /// Writes text() to \p path atomically.
  Result<void> write(const std::string &path) const;

private:
  size_t trackNumber(std::string_view track);
  void event(size_t track, std::string_view name, std::string_view category,
             double start, double seconds, std::string_view arguments);

  std::vector<std::string> tracks;
  std::string events;
};

/// \p text as a JSON string, with its quotes. Bytes that are not UTF-8 become
/// the replacement character: layer names come from files.
std::string jsonString(std::string_view text);

} // namespace sinter

#endif // SINTER_RUNTIME_TRACEWRITER_H
