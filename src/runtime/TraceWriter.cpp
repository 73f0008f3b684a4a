//===- TraceWriter.cpp - traces for Perfetto and Chrome -------------------===//

#include "runtime/TraceWriter.h"
#include "runtime/MappedFile.h"
#include "runtime/Utf8.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace sinter {

namespace {

/// \p value with \p digits decimals, in any locale.
std::string decimal(double value, int digits) {
  char buffer[400];
  auto [end, code] = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                   std::chars_format::fixed, digits);
  return code == std::errc() ? std::string(buffer, end) : "0";
}

} // namespace

std::string jsonString(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const size_t length = utf8Length(text);
    const char first = text.front();
    if (length == 0) {
      result += "\\ufffd";
    } else if (first == '"' || first == '\\') {
      result += {'\\', first};
    } else if (static_cast<unsigned char>(first) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x",
                    static_cast<unsigned>(first));
      result += escape;
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result + "\"";
}

size_t TraceWriter::trackNumber(std::string_view track) {
  auto found = std::ranges::find(tracks, track);
  if (found == tracks.end())
    found = tracks.insert(tracks.end(), std::string(track));
  return static_cast<size_t>(found - tracks.begin()) + 1;
}

void TraceWriter::event(size_t track, std::string_view name,
                        std::string_view category, double start, double seconds,
                        std::string_view arguments) {
  events += ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":" + std::to_string(track) +
            ",\"name\":" + jsonString(name) +
            ",\"cat\":" + jsonString(category) +
            ",\"ts\":" + decimal(start * 1e6, 3) +
            ",\"dur\":" + decimal(seconds * 1e6, 3) + ",\"args\":{";
  events += arguments;
  events += "}}";
}

void TraceWriter::add(std::string_view track, std::string_view name,
                      std::string_view category, double start, double seconds) {
  event(trackNumber(track), name, category, start, seconds, "");
}

void TraceWriter::addLayers(std::string_view track,
                            std::span<const LayerTime> layers, double offset) {
  const size_t number = trackNumber(track);
  for (const LayerTime &layer : layers) {
    std::string arguments = "\"kernel\":" + jsonString(layer.kernel) +
                            ",\"threads\":" + std::to_string(layer.threads);
    if (layer.flops > 0 && layer.seconds > 0)
      arguments +=
          ",\"gflops\":" + decimal(layer.flops / layer.seconds / 1e9, 2);
    event(number, layer.name.empty() ? layer.op : layer.name, layer.op,
          offset + layer.start, layer.seconds, arguments);
  }
}

std::string TraceWriter::text() const {
  std::string result = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                       "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\","
                       "\"args\":{\"name\":\"sinter\"}}";
  for (size_t i = 0; i < tracks.size(); ++i)
    result += ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(i + 1) +
              ",\"name\":\"thread_name\",\"args\":{\"name\":" +
              jsonString(tracks[i]) + "}}";
  return result + events + "\n]}\n";
}

Result<void> TraceWriter::write(const std::string &path) const {
  return writeFileAtomically(path, text());
}

} // namespace sinter
