//===- PostText.h - what post-processing found, as text and JSON ----------===//

#ifndef SINTER_POST_POSTTEXT_H
#define SINTER_POST_POSTTEXT_H

#include "post/PostProcessing.h"

#include <nlohmann/json_fwd.hpp>

namespace sinter {

/// Lines without line ends: a class, a text, a box, or the share of a class
/// each. \p labels: the classes' names, if they are known.
std::vector<std::string> postText(const PostResult &result,
                                  const std::vector<std::string> &labels);
/// {"step", "output", and "rows", "maps", "texts" or "boxes"}: a list for each
/// row or image.
nlohmann::json postJson(const PostResult &result,
                        const std::vector<std::string> &labels);

} // namespace sinter

#endif // SINTER_POST_POSTTEXT_H
