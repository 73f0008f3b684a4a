#include "data/Feeds.h"

#include "runtime/Suggestions.h"
#include "runtime/Text.h"

#include <algorithm>
#include <optional>

namespace sinter {

/// Names may contain an equals sign: the first one with an output before it and
/// an input behind.
static std::optional<Feed> feedOf(const std::string &text,
                                  const std::vector<std::string> &outputs,
                                  const ModelDescription &model) {
  for (size_t sign = text.find('='); sign != std::string::npos;
       sign = text.find('=', sign + 1)) {
    const auto output = std::ranges::find(outputs, text.substr(0, sign));
    const auto input = model.inputNamed(text.substr(sign + 1));
    if (output != outputs.end() && input)
      return Feed{static_cast<size_t>(output - outputs.begin()), *input};
  }
  return std::nullopt;
}

Result<std::vector<Feed>> parseFeeds(const std::vector<std::string> &texts,
                                     const ModelDescription &model,
                                     const std::string &what) {
  std::vector<std::string> outputs;
  for (const ModelOutput &output : model.outputs)
    outputs.push_back(output.name);
  std::vector<Feed> feeds;
  for (const std::string &text : texts) {
    const std::optional<Feed> feed = feedOf(text, outputs, model);
    if (!feed)
      return usageError(what + " '" + text +
                        "': expected OUTPUT=INPUT; the outputs are " +
                        quotedList(outputs) + ", the inputs " +
                        quotedList(model.inputNames()));
    if (std::ranges::find(feeds, feed->input, &Feed::input) != feeds.end())
      return usageError(what + ": input '" +
                        model.inputs[feed->input].spec.name +
                        "' is given twice");
    feeds.push_back(*feed);
  }
  return feeds;
}

std::vector<std::string> keptFeeds(const ModelDescription &model) {
  for (const auto &[key, text] : model.metadata.entries)
    if (key == feedsKey)
      return partsOf(text, '\n');
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
