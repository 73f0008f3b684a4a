#include "bundle/JsonText.h"

#include "bundle/BundleFiles.h"
#include "bundle/Identifiers.h"

#include <nlohmann/json.hpp>

namespace sinter {

static nlohmann::json tensorsJson(const std::vector<BundleTensor> &tensors,
                                  bool areStates) {
  const std::vector<std::string> fields = fieldNames(tensors);
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const BundleTensor &tensor = tensors[i];
    nlohmann::json json = {
        {"name", tensor.spec.name},       {"field", fields[i]},
        {"type", name(tensor.spec.type)}, {"shape", tensor.spec.shape},
        {"bytes", tensor.bytes},          {"alignment", tensor.alignment}};
    if (areStates)
      json["offset"] = tensor.offset;
    list.push_back(std::move(json));
  }
  return list;
}

nlohmann::json bundleJson(const Bundle &bundle, const std::string &model) {
  const bool inFile = bundle.weightsIn == BundleWeights::InFile;
  nlohmann::json weights = {{"bytes", bundle.weightBytes},
                            {"alignment", bundleAlignment},
                            {"file", nlohmann::json()},
                            {"c_array", nlohmann::json()}};
  if (const char *suffix = weightsSuffix(bundle.weightsIn))
    weights[inFile ? "file" : "c_array"] = bundle.name + suffix;
  return {{"name", bundle.name},
          {"model", model},
          {"version", bundle.version},
          {"hash", bundle.hash.text()},
          {"target", bundle.triple},
          {"cpu", bundle.cpu},
          {"cpu_features", bundle.features},
          {"denormals", bundle.denormals == Denormals::Keep},
          {"inputs", tensorsJson(bundle.inputs, false)},
          {"outputs", tensorsJson(bundle.outputs, false)},
          {"state",
           {{"bytes", bundle.stateBytes},
            {"alignment", bundleAlignment},
            {"tensors", tensorsJson(bundle.states, true)}}},
          {"workspace",
           {{"bytes", bundle.workspaceBytes},
            {"thread_bytes", bundle.threadBytes},
            {"alignment", bundleAlignment}}},
          {"parallel", bundle.isParallel},
          {"weights", weights},
          {"stack_bytes", bundle.stackBytes},
          {"code_bytes", bundle.codeBytes},
          {"data_bytes", bundle.dataBytes},
          {"external_symbols", bundle.externals},
          {"functions",
           {{"run", bundle.name + "_run"},
            {"state_init", bundle.name + "_state_init"},
            {"workspace_size", bundle.name + "_workspace_size"},
            {"hash", bundle.name + "_hash"}}}};
}

std::string jsonText(const Bundle &bundle, const std::string &model) {
  return bundleJson(bundle, model)
             .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

} // namespace sinter
