#include "bundle/JsonText.h"

#include "bundle/BundleFiles.h"
#include "bundle/Identifiers.h"
#include "runtime/Json.h"

namespace sinter {

/// Numbers, and texts for dimensions that follow from sizes.
static nlohmann::json shapeJson(const BundleTensor &tensor) {
  nlohmann::json shape = nlohmann::json::array();
  for (size_t i = 0; i < tensor.spec.shape.size(); ++i)
    if (tensor.spec.shape[i] < 0)
      shape.push_back(tensor.dimensions[i]);
    else
      shape.push_back(tensor.spec.shape[i]);
  return shape;
}

static nlohmann::json bytesJson(const BundleTensor &tensor) {
  return tensor.isDynamic() ? nlohmann::json() : nlohmann::json(tensor.bytes);
}

static nlohmann::json sizesJson(const std::vector<BundleSize> &sizes) {
  const std::vector<std::string> fields = fieldNames(sizes);
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < sizes.size(); ++i) {
    nlohmann::json json = {
        {"name", sizes[i].name}, {"field", fields[i]}, {"max", nullptr}};
    if (sizes[i].most)
      json["max"] = *sizes[i].most;
    list.push_back(std::move(json));
  }
  return list;
}

/// The functions of \p entry.
static nlohmann::json functionsJson(const BundleInterface &entry) {
  nlohmann::json functions;
  const auto add = [&](const std::string &what) {
    functions[what] = entry.name + "_" + what;
  };
  add("run");
  add("workspace_size");
  if (!entry.sizes.empty())
    for (const char *what :
         {"input_shape", "input_size", "output_shape", "output_size"})
      add(what);
  return functions;
}

static nlohmann::json tensorsJson(const std::vector<BundleTensor> &tensors,
                                  bool areStates) {
  const std::vector<std::string> fields = fieldNames(tensors);
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const BundleTensor &tensor = tensors[i];
    nlohmann::json json = {
        {"name", tensor.spec.name},       {"field", fields[i]},
        {"type", name(tensor.spec.type)}, {"shape", shapeJson(tensor)},
        {"bytes", bytesJson(tensor)},     {"alignment", tensor.alignment}};
    if (areStates)
      json["offset"] = tensor.offset;
    list.push_back(std::move(json));
  }
  return list;
}

static nlohmann::json interfaceJson(const BundleInterface &entry) {
  return {
      {"name", entry.name},
      {"sizes", sizesJson(entry.sizes)},
      {"inputs", tensorsJson(entry.inputs, false)},
      {"outputs", tensorsJson(entry.outputs, false)},
      {"workspace",
       {{"bytes", entry.workspaceBytes ? nlohmann::json(*entry.workspaceBytes)
                                       : nlohmann::json()},
        {"thread_bytes", entry.workspaceBytes
                             ? nlohmann::json(entry.threadBytes)
                             : nlohmann::json()},
        {"alignment", bundleAlignment}}},
      {"functions", functionsJson(entry)}};
}

nlohmann::json bundleJson(const Bundle &bundle, const std::string &model) {
  const bool inFile = bundle.weightsIn == BundleWeights::InFile;
  nlohmann::json weights = {{"bytes", bundle.weightBytes},
                            {"alignment", bundleAlignment},
                            {"file", nlohmann::json()},
                            {"c_array", nlohmann::json()}};
  if (const char *suffix = weightsSuffix(bundle.weightsIn))
    weights[inFile ? "file" : "c_array"] = bundle.name + suffix;
  nlohmann::json json = {{"name", bundle.name},
                         {"model", model},
                         {"version", bundle.version},
                         {"hash", bundle.hash.text()},
                         {"target", bundle.triple},
                         {"cpu", bundle.cpu},
                         {"cpu_features", bundle.features},
                         {"denormals", bundle.denormals == Denormals::Keep},
                         {"parallel", bundle.isParallel},
                         {"needs_runtime", bundle.needsRuntime},
                         {"state",
                          {{"bytes", bundle.stateBytes},
                           {"alignment", bundleAlignment},
                           {"tensors", tensorsJson(bundle.states, true)}}},
                         {"weights", weights},
                         {"stack_bytes", bundle.stackBytes},
                         {"code_bytes", bundle.codeBytes},
                         {"data_bytes", bundle.dataBytes},
                         {"external_symbols", bundle.externals}};
  for (const BundleInterface &entry : bundle.entries)
    if (entry.name == bundle.name)
      json.update(interfaceJson(entry));
    else
      json["entries"].push_back(interfaceJson(entry));
  for (const char *what : {"state_init", "hash"})
    json["functions"][what] = bundle.name + "_" + what;
  return json;
}

std::string jsonText(const Bundle &bundle, const std::string &model) {
  return jsonText(bundleJson(bundle, model), 2) + "\n";
}

} // namespace sinter
