//===- ModelInfo.cpp - what the C interface says of a model ---------------===//

#include "bindings/c/ModelInfo.h"

#include "bindings/c/Model.h"

namespace sinter::c {

void ModelInfo::set(ModelMetadata metadata) {
  all = std::move(metadata);
  for (const auto &[domain, version] : all.operatorSets) {
    domains.push_back(domain.c_str());
    versions.push_back(version);
  }
  for (const auto &[name, value] : all.entries) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
}

sinter_model_info ModelInfo::info() const {
  sinter_model_info info = {};
  info.struct_size = sizeof(info);
  info.format = all.format.c_str();
  info.format_version = all.formatVersion.c_str();
  info.producer = all.producer.c_str();
  info.producer_version = all.producerVersion.c_str();
  info.domain = all.domain.c_str();
  info.graph = all.graph.c_str();
  info.description = all.description.c_str();
  info.version = all.version;
  info.operator_set_count = domains.size();
  info.operator_set_domains = domains.data();
  info.operator_set_versions = versions.data();
  info.metadata_count = names.size();
  info.metadata_names = names.data();
  info.metadata_values = values.data();
  return info;
}

const char *ModelInfo::entry(const char *name) const {
  for (const auto &[each, value] : all.entries)
    if (each == name)
      return value.c_str();
  return nullptr;
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_model_describe(const sinter_model *model,
                                    sinter_model_info *info,
                                    sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error,
                 [&] { return giveStruct(model->info.info(), info, "info"); });
}

const char *sinter_model_metadata(const sinter_model *model, const char *name) {
  return Use::of(model, Handle::Kind::Model) && name ? model->info.entry(name)
                                                     : nullptr;
}

size_t sinter_model_state_count(const sinter_model *model) {
  return Use::of(model, Handle::Kind::Model) ? model->states.size() : 0;
}

sinter_status sinter_model_state(const sinter_model *model, size_t index,
                                 sinter_value_info *info,
                                 sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error,
                 [&] { return giveInfo(model->states, index, "state", info); });
}

} // extern "C"
