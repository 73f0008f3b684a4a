#include "formats/paddle/file/FindFiles.h"

#include "formats/WireReader.h"
#include "formats/paddle/file/ProgramSkeleton.h"
#include "formats/paddle/file/framework.pb.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// By contents
//===----------------------------------------------------------------------===//

bool beginsProtobufProgram(std::string_view contents) {
  std::span<const std::byte> bytes = bytesOf(contents);
  const auto takes = [&](uint64_t expected) {
    uint64_t value = 0;
    return takeVarint(bytes, value) && value == expected;
  };
  const auto tag = [](uint32_t number, WireType type) {
    return uint64_t(number) << 3 | static_cast<uint64_t>(type);
  };
  uint64_t length = 0;
  return takes(tag(schema::ProgramDesc::kBlocksFieldNumber, WireType::Bytes)) &&
         takeVarint(bytes, length) &&
         takes(tag(schema::BlockDesc::kIdxFieldNumber, WireType::Varint)) &&
         takes(0) &&
         takes(
             tag(schema::BlockDesc::kParentIdxFieldNumber, WireType::Varint)) &&
         takes(uint64_t(-1));
}

/// The number of bytes by which a file is recognised.
static constexpr size_t headSize = 1024;

bool beginsPirProgram(std::string_view contents) {
  std::string head;
  for (char each : contents.substr(0, headSize))
    if (each != ' ' && each != '\t' && each != '\r' && each != '\n')
      head += each;
  return head.starts_with("{") && head.find("\"magic\":\"pir\"") != head.npos;
}

/// Whether the file begins as PIR's JSON. Folders with programs often have JSON
/// configurations, too.
static bool isPirFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(headSize, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return beginsPirProgram(head);
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

std::vector<std::string> programsIn(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end;
       !failed && entry != end; entry.increment(failed)) {
    const fs::path &path = entry->path();
    std::error_code ignored;
    if (!entry->is_regular_file(ignored))
      continue;
    const bool isProgram = path.filename() == "__model__" ||
                           path.extension() == ".pdmodel" ||
                           (path.extension() == ".json" && isPirFile(path));
    if (isProgram)
      names.push_back(path.filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Result<std::string> findProgram(const std::string &path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return path;
  const std::vector<std::string> names = programsIn(path);
  if (names.size() == 1)
    return (fs::path(path) / names.front()).string();
  if (names.empty())
    return inFile(invalidModel("there is no Paddle program in the folder "
                               "(__model__, .pdmodel, or PIR's .json)"),
                  path);
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  return inFile(usageError("there are several Paddle programs in the folder (" +
                           list + "); name the file of one"),
                path);
}

std::string parametersNameFor(const std::string &program) {
  const fs::path path(program);
  return path.has_extension() ? path.stem().string() + ".pdiparams"
                              : "__params__";
}

std::vector<std::string> combinedFilesOf(const std::string &program) {
  const fs::path path(program);
  std::vector<std::string> names;
  if (path.extension() == ".pdmodel" || path.extension() == ".json")
    names = {parametersNameFor(program)};
  else
    names = {"__params__", "params", "__variables__",
             path.filename().string() + ".pdiparams"};
  std::erase_if(names, [&](const std::string &name) {
    std::error_code ignored;
    return !fs::is_regular_file(path.parent_path() / name, ignored);
  });
  return names;
}

std::string whatElse(const std::string &path) {
  const std::string ending = fs::path(path).extension().string();
  if (ending == ".pdparams" || ending == ".pdopt")
    return "a checkpoint of PaddlePaddle (a Python pickle), which has no "
           "program; paddle.jit.save or paddle.static.save_inference_model "
           "writes one";
  if (ending == ".nb")
    return "a model that Paddle-Lite optimised for a device; give the program "
           "that it was made of (.pdmodel, .json or __model__)";
  if (ending == ".pdiparams")
    return "the parameters of a Paddle program; give the program (" +
           fs::path(path).stem().string() + ".pdmodel or .json)";
  if (ending == ".info" && path.ends_with(".pdiparams.info"))
    return "the names of a Paddle program's parameters (a Python pickle); give "
           "the program";
  return "";
}

} // namespace sinter::paddle
