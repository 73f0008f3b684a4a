#include "formats/Format.h"

#include "formats/onnx/OnnxFormat.h"
#include "formats/paddle/PaddleFormat.h"
#include "formats/stablehlo/StablehloFormat.h"
#include "runtime/OptionNames.h"
#include "llvm/ADT/STLExtras.h"

namespace sinter {

static std::vector<const Format *> &table() {
  static std::vector<const Format *> rows = {&onnxFormat, &stablehloFormat,
                                             &paddleFormat};
  return rows;
}

std::vector<const Format *> allFormats() { return table(); }

void addFormat(const Format &format) {
  if (!llvm::is_contained(table(), &format))
    table().push_back(&format);
}

const Format *formatOf(const std::string &path,
                       std::span<const std::byte> contents) {
  const Format *best = nullptr;
  for (const Format *format : table())
    switch (format->recognises(path, contents)) {
    case Likeness::Yes:
      return format;
    case Likeness::Perhaps:
      best = best ? best : format;
      break;
    case Likeness::No:
      break;
    }
  return best;
}

Result<std::unique_ptr<ModelFile>> openModelFile(const Format &format,
                                                 const std::string &path,
                                                 const OpenOptions &options) {
  if (!format.hasParameterFiles && !options.areDefault())
    return inFile(
        usageError((options.parameters.empty() ? optionText("random-parameters")
                                               : optionText("params")) +
                   ": a model in the format " + format.title.str() +
                   " holds its parameters itself"),
        path);
  return format.open(path, options);
}

/// ".a (text), .b or .c (binary)", of the listed extensions that \p isMeant
/// accepts.
static std::string listOf(llvm::function_ref<bool(const Extension &)> isMeant) {
  std::string text, open;
  auto close = [&] {
    text += open.empty() ? "" : " (" + open + ")";
    open.clear();
  };
  for (const Format *format : table())
    for (const Extension &each : format->extensions) {
      if (!each.isListed || !isMeant(each))
        continue;
      if (!open.empty() && open == each.what) {
        text += " or " + each.suffix.str();
        continue;
      }
      close();
      text += (text.empty() ? "" : ", ") + each.suffix.str();
      open = each.what.str();
    }
  close();
  return text;
}

Result<WrittenForm> writtenForm(const std::string &path) {
  WrittenForm found{nullptr, nullptr};
  for (const Format *format : table())
    for (const Extension &each : format->extensions)
      if (llvm::StringRef(path).ends_with(each.suffix) &&
          (!found.extension ||
           found.extension->suffix.size() < each.suffix.size()))
        found = {format, &each};
  if (found.format)
    return found;
  return usageError("'" + path +
                    "': the extension says in which format to write: " +
                    listOf([](const Extension &) { return true; }));
}

Result<void> checkTargetVersion(const std::string &path,
                                const std::string &version) {
  Result<WrittenForm> form = writtenForm(path);
  if (!form)
    return form.takeError();
  if (version.empty())
    return {};
  if (!form->extension->isVersioned)
    return usageError(
        optionText("target-version") + " is for " +
        listOf([](const Extension &each) { return each.isVersioned; }) +
        ", not for '" + path + "'");
  return form->format->checkVersion(version);
}

} // namespace sinter
