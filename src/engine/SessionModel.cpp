//===- SessionModel.cpp - a session's model: its description and graph ----===//

#include "engine/SessionModel.h"

#include "engine/CompilerLibrary.h"

namespace sinter {

const ModelDescription &SessionModel::description() const {
  const std::lock_guard lock(describing);
  return *descriptions.back();
}

void SessionModel::setDescription(ModelDescription description) {
  const std::lock_guard lock(describing);
  if (descriptions.empty() ||
      toJson(*descriptions.back()) != toJson(description))
    descriptions.push_back(
        std::make_shared<const ModelDescription>(std::move(description)));
}

Result<CompilerModel *> SessionModel::read() {
  if (source)
    return source.get();
  CompileStages stages(options.stages);
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  ModelRequest request = modelRequest(file, options);
  // What a description from the cache has told.
  if (!descriptions.empty() && request.note)
    request.note = [told = description().metadata.note,
                    note = request.note](const std::string &text) {
      if (text != told)
        note(text);
    };
  auto model = (*compiler)->open(request);
  if (!model)
    return model.takeError();
  source = std::move(*model);
  updateDescription();
  stages.end("read");
  return source.get();
}

} // namespace sinter
