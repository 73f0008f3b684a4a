//===- TensorFiles.cpp - files of tensors ---------------------------------===//

#include "data/TensorFiles.h"

#include "data/Inputs.h"
#include "runtime/Npy.h"
#include "runtime/Npz.h"

#include <algorithm>
#include <filesystem>

namespace sinter {

namespace fs = std::filesystem;

/// KIND_0.pb, KIND_1.pb, ...
static Result<std::vector<Tensor>> readNumbered(const std::string &folder,
                                                const std::string &kind) {
  std::vector<Tensor> tensors;
  for (int index = 0;; ++index) {
    const std::string path =
        folder + "/" + kind + "_" + std::to_string(index) + ".pb";
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      return tensors;
    Result<Tensor> tensor = readTensor(path, ElementType::F32);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
}

Result<std::vector<Tensor>> readDataSet(const std::string &folder,
                                        const std::string &kind,
                                        const ModelDescription &model) {
  Result<std::vector<Tensor>> tensors = readNumbered(folder, kind);
  if (!tensors)
    return tensors;
  if (tensors->size() != model.inputs.size())
    return usageError("'" + folder + "' has " +
                      std::to_string(tensors->size()) + " files " + kind +
                      "_0.pb, ..., and the model " +
                      std::to_string(model.inputs.size()) + " inputs");
  return tensors;
}

Result<NamedTensors> readArrayFolder(const std::string &what,
                                     const std::string &folder) {
  std::error_code error;
  const bool isTorch =
      fs::is_directory(fs::path(folder) / "functions", error) &&
      fs::is_directory(fs::path(folder) / "data", error);
  const fs::path place = isTorch ? fs::path(folder) / "data" : fs::path(folder);
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(place, error), end; !error && entry != end;
       entry.increment(error))
    if (isTorch ? entry->is_regular_file(error)
                : entry->path().extension() == ".npy")
      files.push_back(entry->path());
  if (error)
    return systemError(what + ": cannot read the folder '" + place.string() +
                       "': " + error.message());
  std::ranges::sort(files);
  NamedTensors arrays;
  for (const fs::path &file : files) {
    Result<Tensor> array = readNpy(file.string());
    if (!array)
      return array.takeError();
    arrays.emplace_back((isTorch ? file.filename() : file.stem()).string(),
                        std::move(*array));
  }
  return arrays;
}

Result<NamedTensors> readNamedTensors(const std::string &what,
                                      const std::string &path,
                                      const ModelDescription &model) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    if (path.ends_with(".npz"))
      return readNpz(path);
    return usageError(what + ": '" + path +
                      "' is neither an .npz archive nor a folder of .npy "
                      "files or of output_0.pb, ...");
  }
  Result<NamedTensors> tensors = readArrayFolder(what, path);
  if (!tensors)
    return tensors;
  Result<std::vector<Tensor>> outputs = readNumbered(path, "output");
  if (!outputs)
    return outputs.takeError();
  for (size_t i = 0; i < std::min(outputs->size(), model.outputs.size()); ++i)
    tensors->emplace_back(model.outputs[i].name, std::move((*outputs)[i]));
  if (tensors->empty())
    return usageError(what +
                      ": there are neither .npy files nor output_0.pb "
                      "in '" +
                      path + "'");
  return tensors;
}

std::string fileName(std::string name, std::set<std::string> &used) {
  constexpr size_t longest = 150;
  name.resize(std::min(name.size(), longest));
  for (char &letter : name)
    if (letter == '/' || static_cast<unsigned char>(letter) < ' ')
      letter = '_';
  if (name.empty() || name[0] == '.')
    name.insert(0, "_");
  std::string unique = name;
  for (int number = 1; !used.insert(unique).second; ++number)
    unique = name + "_" + std::to_string(number);
  return unique;
}

} // namespace sinter
