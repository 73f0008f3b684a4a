#include "interface/Bindings.h"

#include "data/TensorFiles.h"
#include "data/WrittenNumbers.h"
#include "runtime/Npy.h"
#include "runtime/Npz.h"
#include "runtime/OptionNames.h"

#include <filesystem>
#include <iterator>

namespace sinter {

namespace {

class BindingReader {
public:
  explicit BindingReader(
      const std::function<Result<std::unique_ptr<Session>>()> &open)
      : open(open) {}

  /// The argument of one --bind.
  Result<NamedTensors> read(const std::string &text) {
    std::error_code ignored;
    if (std::filesystem::is_directory(text, ignored)) {
      Result<NamedTensors> arrays = readArrayFolder(optionText("bind"), text);
      if (arrays && arrays->empty())
        return usageError(optionText("bind") +
                          ": there are no arrays (.npy files, or the "
                          "data of PyTorch/XLA) in '" +
                          text + "'");
      return arrays;
    }
    if (text.ends_with(".npz") && std::filesystem::exists(text, ignored))
      return readNpz(text);
    // Names may contain an equals sign, as in params['w=1'].
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      return usageError(optionText("bind") + " '" + text +
                        "': expected an input's name and a file or values, as "
                        "in w=weights.npy and rate=16000, an .npz archive, or "
                        "a folder");
    Result<Tensor> array =
        readValue(text.substr(0, equals), text.substr(equals + 1));
    if (!array)
      return array.takeError();
    NamedTensors arrays;
    arrays.emplace_back(text.substr(0, equals), std::move(*array));
    return arrays;
  }

private:
  Result<Tensor> readValue(const std::string &name, const std::string &value) {
    std::error_code ignored;
    if (std::filesystem::exists(value, ignored) || !isListOfNumbers(value))
      return readNpy(value);
    if (!session) {
      Result<std::unique_ptr<Session>> opened = open();
      if (!opened)
        return opened.takeError();
      session = std::move(*opened);
    }
    const ModelDescription &model = session->model();
    for (const ModelInput &input : model.defaults)
      if (input.spec.name == name)
        return writtenNumbers(optionText("bind"), value, input.spec).value();
    const std::optional<size_t> input = model.inputNamed(name);
    if (!input)
      return usageError(optionText("bind") + " '" + name + "=" + value +
                        "': the model has no input '" + name + "'");
    return writtenNumbers(optionText("bind"), value, model.inputs[*input].spec)
        .value();
  }

  const std::function<Result<std::unique_ptr<Session>>()> &open;
  std::unique_ptr<Session> session;
};

} // namespace

Result<Bindings>
readBindings(const std::vector<std::string> &texts,
             const std::function<Result<std::unique_ptr<Session>>()> &open) {
  BindingReader reader(open);
  Bindings all;
  for (const std::string &text : texts) {
    Result<NamedTensors> arrays = reader.read(text);
    if (!arrays)
      return arrays.takeError();
    // An archive, a folder, or the file after the name.
    std::string file = text;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored))
      file.erase(0, file.rfind('=') + 1);
    if (!std::filesystem::exists(file, ignored))
      file.clear();
    all.files.resize(all.files.size() + arrays->size(), file);
    std::move(arrays->begin(), arrays->end(), std::back_inserter(all.arrays));
  }
  return all;
}

} // namespace sinter
