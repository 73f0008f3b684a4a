#include "data/Feeds.h"

#include "data/States.h"
#include "runtime/StatePairs.h"
#include "runtime/Suggestions.h"
#include "runtime/TensorNames.h"

#include <algorithm>

namespace sinter {

Result<std::vector<Feed>> parseFeeds(const std::vector<std::string> &texts,
                                     const ModelDescription &model,
                                     const std::string &what) {
  const std::vector<std::string> outputs = model.outputNames();
  const InputNamed inputNamed = [&](std::string_view name) {
    return model.inputNamed(name);
  };
  std::vector<Feed> feeds;
  for (const std::string &text : texts) {
    const auto found = findStatePair(text, outputs, inputNamed);
    if (!found)
      return usageError(what + " '" + text +
                        "': expected OUTPUT=INPUT; the outputs are " +
                        quotedList(outputs) + ", the inputs " +
                        quotedList(model.inputNames()));
    const Feed feed{found->first, found->second};
    if (std::ranges::find(feeds, feed.input, &Feed::input) != feeds.end())
      return usageError(what + ": input '" +
                        model.inputs[feed.input].spec.name +
                        "' is given twice");
    feeds.push_back(feed);
  }
  return feeds;
}

std::vector<std::string> keptFeeds(const ModelDescription &model) {
  for (const auto &[key, text] : model.metadata.entries)
    if (key == feedsKey)
      return statePairs(text);
  return {};
}

std::vector<std::string> zeroInputs(const ModelDescription &model,
                                    std::vector<std::string> named) {
  // A file may say what it wants: what names no input is left to who feeds.
  if (const auto feeds = parseFeeds(keptFeeds(model), model, feedsKey))
    for (const Feed &feed : *feeds)
      named.push_back(model.inputs[feed.input].spec.name);
  return named;
}

std::vector<std::string> feedFileNames(const std::vector<Feed> &feeds,
                                       const ModelDescription &model) {
  std::vector<std::string> fed;
  for (const Feed &feed : feeds)
    fed.push_back(model.inputs[feed.input].spec.name);
  std::set<std::string> used;
  stateFileNames(namesOf(model.states), used);
  return stateFileNames(fed, used);
}

Result<void> checkFeeds(const std::vector<Feed> &feeds,
                        const ModelDescription &model, const Executor &executor,
                        const std::string &what) {
  for (const Feed &feed : feeds) {
    const TensorSpec &from = executor.outputs()[feed.output];
    const TensorSpec &to = executor.inputs()[feed.input];
    bool fits = from.type == to.type;
    const bool isKnown = model.outputs[feed.output].ranked;
    if (fits && isKnown) {
      fits = from.shape.size() == to.shape.size();
      for (size_t i = 0; fits && i < from.shape.size(); ++i)
        fits = from.shape[i] < 0 || to.shape[i] < 0 ||
               from.shape[i] == to.shape[i];
    }
    if (!fits)
      return usageError(what + " " + from.name + "=" + to.name +
                        ": the output is a " + toString(from.type, from.shape) +
                        ", and the input a " + toString(to.type, to.shape));
  }
  return {};
}

} // namespace sinter
