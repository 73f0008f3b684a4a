#include "driver/Bindings.h"

#include "driver/TensorFiles.h"
#include "driver/WrittenNumbers.h"
#include "runtime/Npy.h"
#include "runtime/Npz.h"

#include <filesystem>
#include <iterator>

namespace sinter::driver {

namespace {

class BindingReader {
public:
  explicit BindingReader(
      const std::function<Result<std::unique_ptr<Session>>()> &open)
      : open(open) {}

  /// What one --bind says.
  Result<NamedTensors> read(const std::string &text) {
    std::error_code ignored;
    if (std::filesystem::is_directory(text, ignored)) {
      Result<NamedTensors> arrays = readArrayFolder("--bind", text);
      if (arrays && arrays->empty())
        return usageError("--bind: there are no arrays (.npy files, or the "
                          "data of PyTorch/XLA) in '" +
                          text + "'");
      return arrays;
    }
    if (text.ends_with(".npz") && std::filesystem::exists(text, ignored))
      return readNpz(text);
    // Names may have an equals sign, as in params['w=1'].
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      return usageError("--bind '" + text +
                        "': expected an input's name and a file or numbers, as "
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
    const std::optional<size_t> input = model.inputNamed(name);
    if (!input)
      return usageError("--bind '" + name + "=" + value +
                        "': the model has no input '" + name + "'");
    return writtenNumbers("--bind", value, model.inputs[*input].spec).value();
  }

  const std::function<Result<std::unique_ptr<Session>>()> &open;
  std::unique_ptr<Session> session;
};

} // namespace

Result<NamedTensors>
readBindings(const std::vector<std::string> &texts,
             const std::function<Result<std::unique_ptr<Session>>()> &open) {
  BindingReader reader(open);
  NamedTensors all;
  for (const std::string &text : texts) {
    Result<NamedTensors> arrays = reader.read(text);
    if (!arrays)
      return arrays.takeError();
    std::move(arrays->begin(), arrays->end(), std::back_inserter(all));
  }
  return all;
}

} // namespace sinter::driver
