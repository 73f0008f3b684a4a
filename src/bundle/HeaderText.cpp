#include "bundle/HeaderText.h"

#include "bundle/CTypes.h"
#include "bundle/Identifiers.h"

#include <algorithm>

namespace sinter {

namespace {

class HeaderWriter {
public:
  HeaderWriter(const Bundle &bundle, const std::string &model)
      : bundle(bundle), name(bundle.name), prefix(capitals(bundle.name)),
        entry(&bundle.entries.front()), begin(prefix) {
    line("/* " + name + ".h - made by sinter " + bundle.version + " from " +
         commentText(model) + "; do not edit.");
    line(" *");
    line(" * C99 and later, C++11 and later. docs/ahead-of-time.md of sinter "
         "describes it.");
    line(" */");
    line("#ifndef " + prefix + "_H");
    line("#define " + prefix + "_H");
    line("");
    line("#include <stddef.h>");
    line("#include <stdint.h>");
    line("");
    addFacts();
    addStatus();
    addAlignment();
    line("#ifdef __cplusplus");
    line("extern \"C\" {");
    line("#endif");
    line("");
    addState();
    addSharedFunctions();
    for (const BundleInterface &each : bundle.entries)
      addEntry(each);
    line("#ifdef __cplusplus");
    line("} /* extern \"C\" */");
    line("#endif");
    line("");
    line("#endif /* " + prefix + "_H */");
  }

  std::string take() { return std::move(text); }

private:
  void line(const std::string &content) { text += content + "\n"; }
  void define(const std::string &macro, const std::string &value) {
    line("#define " + begin + "_" + macro + " " + value);
  }
  void define(const std::string &macro, uint64_t value) {
    define(macro, std::to_string(value));
  }
  static std::string joined(const std::vector<std::string> &words) {
    std::string all;
    for (const std::string &word : words)
      all += (all.empty() ? "" : " ") + word;
    return all;
  }

  void addFacts();
  void addStatus();
  void addAlignment();
  void addTensor(const std::string &kind, const std::string &field,
                 size_t index, const BundleTensor &tensor);
  void addStruct(const std::string &kind,
                 const std::vector<BundleTensor> &tensors, bool isConst);
  void addState();
  void addMostSizes();
  void addSizes();
  void addSizeFunctions();
  void addSharedFunctions();
  void addEntry(const BundleInterface &of);
  void addRun();
  void addThreads();

  const Bundle &bundle;
  std::string name, prefix, text;
  /// The entry point that is being described, and what its macros begin with.
  const BundleInterface *entry;
  std::string begin;
};

void HeaderWriter::addFacts() {
  line("/* What the code was made of and for. " + name +
       "_hash() returns the hash, too. */");
  define("SINTER_VERSION", "\"" + bundle.version + "\"");
  define("HASH", "\"" + bundle.hash.text() + "\"");
  define("TARGET", "\"" + bundle.triple + "\"");
  define("CPU", "\"" + bundle.cpu + "\"");
  define("CPU_FEATURES", "\"" + joined(bundle.features) + "\"");
  line("/* Functions of other libraries that the code calls. */");
  define("EXTERNAL_SYMBOLS", "\"" + joined(bundle.externals) + "\"");
  line("");
  line("/* Bytes. The stack is an upper bound for any call, without what "
       "external functions take. */");
  define("WORKSPACE_ALIGNMENT", bundleAlignment);
  define("STACK_SIZE", bundle.stackBytes);
  define("STATE_SIZE", bundle.stateBytes);
  define("WEIGHTS_SIZE", bundle.weightBytes);
  if (bundle.weightsIn != BundleWeights::InCode)
    define("WEIGHTS_ALIGNMENT", bundleAlignment);
  line("");
}

void HeaderWriter::addStatus() {
  line("/* What functions return. Nothing was computed unless it is " + prefix +
       "_DONE. */");
  const auto defineStatus = [&](const char *macro, BundleStatus status) {
    define(macro, static_cast<uint64_t>(status));
  };
  defineStatus("DONE", BundleStatus::Done);
  defineStatus("NULL_POINTER", BundleStatus::NullPointer);
  defineStatus("MISALIGNED", BundleStatus::Misaligned);
  if (bundle.weightsIn != BundleWeights::InCode)
    defineStatus("WRONG_WEIGHTS", BundleStatus::WrongWeights);
  if (std::ranges::any_of(bundle.entries, [](const BundleInterface &each) {
        return !each.sizes.empty();
      }))
    defineStatus("BAD_SIZES", BundleStatus::BadSizes);
  if (std::ranges::find(bundle.features, "amx-tile") != bundle.features.end())
    defineStatus("NO_MATRIX_UNITS", BundleStatus::NoMatrixUnits);
  if (bundle.needsRuntime)
    defineStatus("FAILED", BundleStatus::Failed);
  line("");
}

void HeaderWriter::addAlignment() {
  line("#if defined(__GNUC__)");
  define("ALIGNED", "__attribute__((aligned(64)))");
  line("#elif defined(__cplusplus)");
  define("ALIGNED", "alignas(64)");
  line("#else");
  define("ALIGNED", "_Alignas(64)");
  line("#endif");
  line("");
}

void HeaderWriter::addTensor(const std::string &kind, const std::string &field,
                             size_t index, const BundleTensor &tensor) {
  const std::string macro = capitals(kind) + "_" + capitals(field);
  std::string sizes;
  for (const int64_t size : tensor.spec.shape)
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  line("/* " + kind + " '" + commentText(tensor.spec.name) +
       "': " + commentText(typeText(tensor)) + " */");
  if (!entry->sizes.empty() && kind != "state")
    define(macro + "_INDEX", index);
  define(macro + "_RANK", tensor.spec.shape.size());
  const std::string most = tensor.isDynamic() ? "_MAX" : "";
  if (!sizes.empty() && !tensor.isDynamic())
    define(macro + "_SHAPE", "{" + sizes + "}");
  if (!tensor.isDynamic() || entry->workspaceBytes) {
    define(macro + "_ELEMENTS" + most, cElements(tensor));
    define(macro + "_SIZE" + most, tensor.bytes);
  }
  define(macro + "_ALIGNMENT", tensor.alignment);
}

void HeaderWriter::addStruct(const std::string &kind,
                             const std::vector<BundleTensor> &tensors,
                             bool isConst) {
  const std::vector<std::string> fields = fieldNames(tensors);
  for (size_t i = 0; i < tensors.size(); ++i)
    addTensor(kind, fields[i], i, tensors[i]);
  const std::string type = entry->name + "_" + kind + "s";
  line("typedef struct " + type + " {");
  for (size_t i = 0; i < tensors.size(); ++i)
    line("  " + std::string(isConst ? "const " : "") +
         std::string(cType(tensors[i].spec.type)) + " *" + fields[i] + ";");
  if (tensors.empty())
    line("  const void *none; /* There are no " + kind + "s. */");
  line("} " + type + ";");
  line("");
}

void HeaderWriter::addState() {
  const std::vector<std::string> fields = fieldNames(bundle.states);
  for (size_t i = 0; i < fields.size(); ++i)
    addTensor("state", fields[i], i, bundle.states[i]);
  const std::string type = name + "_state";
  line("typedef struct " + type + " {");
  bool isEmpty = true;
  for (size_t i = 0; i < fields.size(); ++i) {
    const BundleTensor &tensor = bundle.states[i];
    if (tensor.bytes == 0)
      continue;
    isEmpty = false;
    line("  " + prefix + "_ALIGNED " + std::string(cType(tensor.spec.type)) +
         " " + fields[i] + "[" + std::to_string(cElements(tensor)) + "];");
  }
  if (isEmpty)
    line("  unsigned char none; /* There is no state: a null pointer will do. "
         "*/");
  line("} " + type + ";");
  if (!isEmpty)
    line("typedef char " + type + "_has_its_size[sizeof(" + type +
         ") == " + prefix + "_STATE_SIZE ? 1 : -1];");
  line("");
}

/// The workspace, and the bounds of sizes.
void HeaderWriter::addMostSizes() {
  if (!entry->sizes.empty())
    line("/* The sizes of the dynamic dimensions in a call, and " +
         entry->name + "_workspace_size(): at most, if there is a bound. */");
  if (entry->workspaceBytes)
    define("WORKSPACE_SIZE", *entry->workspaceBytes);
  if (entry->workspaceBytes && bundle.isParallel) {
    line("/* Of the workspace, for each thread but the first one. */");
    define("THREAD_SIZE", entry->threadBytes);
  }
  const std::vector<std::string> fields = fieldNames(entry->sizes);
  for (size_t i = 0; i < fields.size(); ++i)
    if (entry->sizes[i].most)
      define("MAX_" + capitals(fields[i]),
             static_cast<uint64_t>(*entry->sizes[i].most));
}

void HeaderWriter::addSizes() {
  if (entry->sizes.empty())
    return;
  const std::vector<std::string> fields = fieldNames(entry->sizes);
  line("typedef struct " + entry->name + "_sizes {");
  for (size_t i = 0; i < fields.size(); ++i)
    line("  int64_t " + fields[i] + "; /* '" +
         commentText(entry->sizes[i].name) + "' */");
  line("} " + entry->name + "_sizes;");
}

void HeaderWriter::addSizeFunctions() {
  const std::string sizes = "const " + entry->name + "_sizes *sizes";
  line(
      "/* The workspace that a call with these sizes needs; SIZE_MAX for sizes "
      "that the code is not for. */");
  line("size_t " + entry->name + "_workspace_size(" + sizes +
       (bundle.isParallel ? ", size_t threads" : "") + ");");
  line("");
  line("/* Of an input or an output, by its _INDEX: its shape (a size for each "
       "dimension), and its bytes (or SIZE_MAX). */");
  for (const char *kind : {"input", "output"}) {
    const std::string function = entry->name + "_" + kind;
    line("int " + function + "_shape(" + sizes + ", int " + kind +
         ", int64_t *shape);");
    line("size_t " + function + "_size(" + sizes + ", int " + kind + ");");
  }
  line("");
}

void HeaderWriter::addSharedFunctions() {
  if (bundle.isParallel)
    addThreads();
  if (bundle.weightsIn == BundleWeights::InArray) {
    line("/* The weights, in " + name + "_weights.c. */");
    line("extern " + prefix + "_ALIGNED const uint32_t " + name + "_weights[" +
         prefix + "_WEIGHTS_SIZE / 4];");
    line("");
  }
  line("/* " + prefix + "_HASH of the code that is linked. */");
  line("const char *" + name + "_hash(void);");
  line("");
  line("/* Gives every state its initial value. */");
  line("int " + name + "_state_init(" + name + "_state *state" +
       (bundle.weightsIn == BundleWeights::InFile ? ", const void *weights"
                                                  : "") +
       ");");
  line("");
}

void HeaderWriter::addEntry(const BundleInterface &of) {
  entry = &of;
  begin = capitals(of.name);
  addMostSizes();
  addSizes();
  line("");
  addStruct("input", of.inputs, /*isConst=*/true);
  addStruct("output", of.outputs, /*isConst=*/false);
  if (of.sizes.empty() && bundle.isParallel) {
    line("/* What that many threads need: " + begin +
         "_WORKSPACE_SIZE for one, " + begin +
         "_THREAD_SIZE for each other. */");
    line("size_t " + of.name + "_workspace_size(size_t threads);");
    line("");
  } else if (of.sizes.empty()) {
    line("/* " + begin + "_WORKSPACE_SIZE of the code that is linked. */");
    line("size_t " + of.name + "_workspace_size(void);");
    line("");
  } else {
    addSizeFunctions();
  }
  addRun();
}

void HeaderWriter::addRun() {
  const bool inFile = bundle.weightsIn == BundleWeights::InFile;
  line(
      "/* Computes the outputs, and the next state. Inputs, outputs, state and "
      "workspace must not overlap;");
  line(
      "   the workspace may have any contents. Threads may call it at the same "
      "time if they share only");
  line(
      std::string("   inputs") + (inFile ? " and weights" : "") +
      ". The float mode of the thread is restored" +
      (bundle.isParallel ? ", also while threads->run is called. */" : ". */"));
  const std::string &own = entry->name;
  const std::string indent(own.size() + 9, ' ');
  if (entry->sizes.empty()) {
    line("int " + own + "_run(const " + own + "_inputs *inputs, const " + own +
         "_outputs *outputs,");
  } else {
    line("int " + own + "_run(const " + own + "_sizes *sizes, const " + own +
         "_inputs *inputs,");
    line(indent + "const " + own + "_outputs *outputs,");
  }
  line(indent + name + "_state *state, void *workspace" +
       (inFile ? ", const void *weights" : "") +
       (bundle.isParallel ? ", const " + name + "_threads *threads" : "") +
       ");");
  line("");
}

void HeaderWriter::addThreads() {
  line("/* Runs task(context, index) for every index from 0 to count - 1, in "
       "any order, on any threads, and");
  line("   returns when all are done. The pool is that of the struct below. "
       "*/");
  line("typedef void (*" + name + "_parallel)(void *pool,");
  line(std::string(name.size() + 26, ' ') +
       "void (*task)(void *context, size_t index),");
  line(std::string(name.size() + 26, ' ') + "void *context, size_t count);");
  line("");
  line("/* Threads to run on. The workspace is for that many. A null pointer, "
       "a run that is null, and a count");
  line("   of 0 or 1 all mean: on the calling thread. */");
  line("typedef struct " + name + "_threads {");
  line("  size_t count; /* run is never called with a larger one. */");
  line("  " + name + "_parallel run;");
  line("  void *pool; /* For run. */");
  line("} " + name + "_threads;");
  line("");
}

} // namespace

std::string headerText(const Bundle &bundle, const std::string &model) {
  return HeaderWriter(bundle, model).take();
}

} // namespace sinter
