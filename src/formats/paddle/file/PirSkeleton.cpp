#include "formats/paddle/file/PirSkeleton.h"

#include <algorithm>

namespace sinter::paddle {

static bool parseRegions(JsonReader &in, std::string_view text,
                         std::vector<PirSkeleton> &blocks, size_t &ordinal);

static void parseArguments(JsonReader &in, PirSkeleton &block) {
  if (!in.enterArray())
    return;
  while (in.nextElement()) {
    int64_t id = 0;
    if (!in.readIntegerOf("#", id))
      return;
    if (std::ranges::count(block.arguments, id) == 0)
      block.arguments.push_back(id);
  }
}

static bool parseOperators(JsonReader &in, std::string_view text,
                           PirSkeleton &block, size_t &ordinal) {
  if (!in.enterArray())
    return false;
  const size_t begin = in.position();
  size_t end = begin;
  while (in.nextElement()) {
    if (in.peek() == JsonReader::Kind::Number) {
      int64_t count = 0;
      if (in.readInteger(count) && count > 0)
        ordinal += count;
    } else {
      PirSkeleton::Item &item = block.items.emplace_back();
      item.raw.ordinal = ordinal++;
      if (!readPirOperator(in, item.raw))
        return false;
      if (!item.raw.regions.empty()) {
        JsonReader nested(item.raw.regions);
        if (!parseRegions(nested, item.raw.regions, item.blocks, ordinal))
          return false;
      }
    }
    end = in.position();
  }
  block.operators = text.substr(begin, end - begin);
  return !in.failed();
}

static bool parseRegions(JsonReader &in, std::string_view text,
                         std::vector<PirSkeleton> &blocks, size_t &ordinal) {
  if (!in.enterArray())
    return false;
  while (in.nextElement()) {
    if (!in.enterObject())
      return false;
    for (std::string_view key; in.nextKey(key);) {
      if (key != "blocks") {
        in.skip();
        continue;
      }
      if (!in.enterArray())
        return false;
      while (in.nextElement()) {
        PirSkeleton &block = blocks.emplace_back();
        if (!in.enterObject())
          return false;
        for (std::string_view member; in.nextKey(member);)
          if (member == "args" || member == "kwargs")
            parseArguments(in, block);
          else if (member != "ops")
            in.skip();
          else if (!parseOperators(in, text, block, ordinal))
            return false;
      }
    }
  }
  return !in.failed();
}

bool parsePirSkeleton(std::string_view text, PirSkeleton &main) {
  JsonReader in(text);
  std::vector<PirSkeleton> blocks;
  size_t ordinal = 0;
  if (!in.enterObject())
    return false;
  for (std::string_view key; in.nextKey(key);) {
    if (key != "program") {
      in.skip();
      continue;
    }
    if (!in.enterObject())
      return false;
    for (std::string_view member; in.nextKey(member);)
      if (member == "regions" && blocks.empty()) {
        if (!parseRegions(in, text, blocks, ordinal))
          return false;
      } else {
        in.skip();
      }
  }
  if (in.failed() || blocks.size() != 1)
    return false;
  main = std::move(blocks.front());
  return true;
}

} // namespace sinter::paddle
