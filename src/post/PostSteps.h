//===- PostSteps.h - steps as text and as metadata ------------------------===//

#ifndef SINTER_POST_POSTSTEPS_H
#define SINTER_POST_POSTSTEPS_H

#include "post/PostProcessing.h"

namespace sinter {

/// Parses one step; see PostProcessing::parse.
Result<PostStep> parsePostStep(const std::string &text);
/// The step as JSON, and back; a Usage error for JSON that is no step.
nlohmann::json toJson(const PostStep &step);
Result<PostStep> postStepFromJson(const nlohmann::json &json);
/// "top-k=5".
std::string textOf(const PostStep &step);

} // namespace sinter

#endif // SINTER_POST_POSTSTEPS_H
