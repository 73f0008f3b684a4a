#include "bundle/ExampleText.h"

#include "bundle/BundleFiles.h"
#include "bundle/CTypes.h"
#include "bundle/Identifiers.h"

#include <algorithm>

namespace sinter {

namespace {

/// How main.c fills and prints elements of \p type.
enum class Elements { Float, Integer, Half, BFloat16, Byte };

Elements elementsOf(ElementType type) {
  if (isInteger(type))
    return Elements::Integer;
  if (type == ElementType::F16)
    return Elements::Half;
  if (type == ElementType::BF16)
    return Elements::BFloat16;
  return byteSize(type) == 1 ? Elements::Byte : Elements::Float;
}

/// A C expression for a random element: from 0 to 1, or 0 or 1, which all
/// integers can be.
std::string randomElement(const BundleTensor &tensor) {
  switch (elementsOf(tensor.spec.type)) {
  case Elements::Integer:
    return "next_random() & 1";
  case Elements::Half: /* 0.5 and more */
    return "0x3800 | (next_random() & 0x3FF)";
  case Elements::BFloat16: /* 0.5 and more */
    return "0x3F00 | (next_random() & 0x7F)";
  case Elements::Byte: /* no infinity of any type */
    return "0x30 | (next_random() & 7)";
  case Elements::Float:
    break;
  }
  return "next_random() / 65536.0f";
}

/// A C statement that prints element `i` of the array \p array.
std::string printElement(const BundleTensor &tensor, const std::string &array) {
  const std::string element = array + "[i]";
  if (tensor.spec.type == ElementType::UI64)
    return "printf(\" %llu\", (unsigned long long)" + element + ");";
  if (isInteger(tensor.spec.type))
    return "printf(\" %lld\", (long long)" + element + ");";
  if (elementsOf(tensor.spec.type) == Elements::Float)
    return "printf(\" %g\", (double)" + element + ");";
  return "printf(\" 0x%0" + std::to_string(2 * byteSize(tensor.spec.type)) +
         "x\", (unsigned)" + element + ");";
}

/// Whether any of \p tensors has elements.
bool hasElements(const std::vector<BundleTensor> &tensors) {
  return std::ranges::any_of(tensors, [](const BundleTensor &tensor) {
    return tensor.isDynamic() || tensor.bytes != 0;
  });
}

class ExampleWriter {
public:
  explicit ExampleWriter(const Bundle &bundle)
      : bundle(bundle), entry(bundle.entries.front()), name(entry.name),
        prefix(capitals(entry.name)), whole(bundle.name),
        wholePrefix(capitals(bundle.name)), inputs(fieldNames(entry.inputs)),
        outputs(fieldNames(entry.outputs)),
        inFile(bundle.weightsIn == BundleWeights::InFile),
        isDynamic(!entry.sizes.empty()) {
    line("/* Runs " + name +
         " on random inputs and prints the first values "
         "of each output. */");
    line("#include \"" + whole + ".h\"");
    line("");
    line("#include <stdio.h>");
    if (isDynamic)
      line("#include <stdlib.h>");
    line("");
    addMemory();
    if (isDynamic)
      addAllocate();
    addRandom();
    if (inFile)
      addReadWeights();
    if (bundle.isParallel)
      addThreads();
    line("int main(" + std::string(inFile ? "int argc, char **argv" : "void") +
         ") {");
    addMain();
    line("}");
  }

  std::string take() { return std::move(text); }

private:
  void line(const std::string &content) { text += content + "\n"; }

  void addMemory();
  void addArrays(const char *kind, const std::vector<std::string> &fields,
                 const std::vector<BundleTensor> &tensors);
  void addSizes();
  void addAllocate();
  void addAllocations(const char *kind, const std::vector<std::string> &fields,
                      const std::vector<BundleTensor> &tensors);
  std::string sizeOf(const std::string &kind, const std::string &field) const;
  std::string elementCount(const std::string &kind, const std::string &field,
                           const BundleTensor &tensor) const;
  void addRandom();
  void addReadWeights();
  void addThreads();
  void addMemoryForSizes();
  void addMain();
  void addStruct(const char *kind, const std::vector<std::string> &fields);

  const Bundle &bundle;
  /// The one that is run, of several the first.
  const BundleInterface &entry;
  /// Of the entry point, and of the bundle.
  std::string name, prefix, whole, wholePrefix, text;
  std::vector<std::string> inputs, outputs;
  bool inFile, isDynamic;
};

void ExampleWriter::addArrays(const char *kind,
                              const std::vector<std::string> &fields,
                              const std::vector<BundleTensor> &tensors) {
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string type(cType(tensors[i].spec.type));
    if (tensors[i].isDynamic())
      line("static " + type + " *" + kind + "_" + fields[i] + ";");
    else
      line("static " + wholePrefix + "_ALIGNED " + type + " " + kind + "_" +
           fields[i] + "[" +
           std::to_string(std::max<uint64_t>(1, cElements(tensors[i]))) + "];");
  }
}

/// The sizes of the run.
void ExampleWriter::addSizes() {
  const std::vector<std::string> fields = fieldNames(entry.sizes);
  line("static const " + name + "_sizes sizes = {");
  for (size_t i = 0; i < fields.size(); ++i)
    line("    " + std::to_string(entry.sizes[i].sample) + ", /* " + fields[i] +
         " */");
  line("};");
}

void ExampleWriter::addAllocate() {
  line("/* SIZE bytes at a multiple of 64, which stay until the program ends. "
       "*/");
  line("static void *allocate(size_t size) {");
  line("  unsigned char *memory = size > SIZE_MAX - 64 ? NULL : malloc(size + "
       "64);");
  line("  if (!memory) {");
  line("    fprintf(stderr, \"there is no memory for these sizes\\n\");");
  line("    exit(1);");
  line("  }");
  line("  return memory + (64 - (uintptr_t)memory % 64);");
  line("}");
  line("");
}

/// Gives \p tensors of dynamic shape their memory.
void ExampleWriter::addAllocations(const char *kind,
                                   const std::vector<std::string> &fields,
                                   const std::vector<BundleTensor> &tensors) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (tensors[i].isDynamic())
      line("  " + std::string(kind) + "_" + fields[i] + " = allocate(" +
           sizeOf(kind, fields[i]) + ");");
}

/// A C expression for the bytes of a tensor with the sizes of the run.
std::string ExampleWriter::sizeOf(const std::string &kind,
                                  const std::string &field) const {
  return name + "_" + kind + "_size(&sizes, " + prefix + "_" +
         capitals(kind + "_" + field) + "_INDEX)";
}

/// A C expression for the number of elements of \p tensor.
std::string ExampleWriter::elementCount(const std::string &kind,
                                        const std::string &field,
                                        const BundleTensor &tensor) const {
  if (tensor.isDynamic())
    return sizeOf(kind, field) + " / sizeof(*" + kind + "_" + field + ")";
  return prefix + "_" + capitals(kind + "_" + field) + "_ELEMENTS";
}

void ExampleWriter::addMemory() {
  addArrays("input", inputs, entry.inputs);
  addArrays("output", outputs, entry.outputs);
  if (bundle.isParallel)
    line("enum { THREADS = 4 };");
  if (isDynamic) {
    line("static void *workspace;");
    addSizes();
  } else if (bundle.isParallel) {
    line("static " + wholePrefix + "_ALIGNED unsigned char workspace[" +
         prefix + "_WORKSPACE_SIZE + (THREADS - 1) * " + prefix +
         "_THREAD_SIZE + 1];");
  } else {
    line("static " + wholePrefix + "_ALIGNED unsigned char workspace[" +
         std::to_string(std::max<uint64_t>(1, *entry.workspaceBytes)) + "];");
  }
  line("static " + whole + "_state state;");
  if (inFile)
    line("static " + wholePrefix + "_ALIGNED unsigned char weights[" +
         wholePrefix + "_WEIGHTS_SIZE];");
  line("");
}

void ExampleWriter::addRandom() {
  if (!hasElements(entry.inputs))
    return;
  line("/* From 0 to 65535. */");
  line("static unsigned next_random(void) {");
  line("  static uint32_t last = 1;");
  line("  last = last * 1664525u + 1013904223u;");
  line("  return last >> 16;");
  line("}");
  line("");
}

void ExampleWriter::addReadWeights() {
  line("static int read_weights(const char *path) {");
  line("  FILE *file = fopen(path, \"rb\");");
  line("  size_t size;");
  line("  if (!file)");
  line("    return 0;");
  line("  size = fread(weights, 1, sizeof(weights), file);");
  line("  fclose(file);");
  line("  return size == sizeof(weights);");
  line("}");
  line("");
}

void ExampleWriter::addThreads() {
  line("/* On the threads of OpenMP, or one after the other without it. */");
  line("static void run_tasks(void *pool, void (*task)(void *context, size_t "
       "index),");
  line("                      void *context, size_t count) {");
  line("  long i;");
  line("  (void)pool;");
  line("#ifdef _OPENMP");
  line("#pragma omp parallel for num_threads(THREADS) schedule(static, 1)");
  line("#endif");
  line("  for (i = 0; i < (long)count; ++i)");
  line("    task(context, (size_t)i);");
  line("}");
  line("");
}

void ExampleWriter::addStruct(const char *kind,
                              const std::vector<std::string> &fields) {
  std::string all;
  for (const std::string &field : fields)
    all += (all.empty() ? "" : ", ") + std::string(kind) + "_" + field;
  line("  const " + name + "_" + kind + "s " + kind + "s = {" +
       (all.empty() ? "0" : all) + "};");
}

void ExampleWriter::addMemoryForSizes() {
  addAllocations("input", inputs, entry.inputs);
  addAllocations("output", outputs, entry.outputs);
  line("  workspace = allocate(" + name + "_workspace_size(&sizes" +
       (bundle.isParallel ? ", THREADS" : "") + "));");
  const auto fill = [&](const char *kind,
                        const std::vector<std::string> &fields) {
    for (const std::string &field : fields)
      line(std::string("  ") + kind + "s." + field + " = " + kind + "_" +
           field + ";");
    if (fields.empty())
      line(std::string("  ") + kind + "s.none = NULL;");
  };
  fill("input", inputs);
  fill("output", outputs);
}

void ExampleWriter::addMain() {
  const std::string also = inFile ? ", weights" : "";
  if (!isDynamic) {
    addStruct("input", inputs);
    addStruct("output", outputs);
  } else {
    line("  " + name + "_inputs inputs;");
    line("  " + name + "_outputs outputs;");
  }
  if (bundle.isParallel)
    line("  const " + whole + "_threads threads = {THREADS, run_tasks, NULL};");
  if (hasElements(entry.inputs) || hasElements(entry.outputs))
    line("  size_t i, count;");
  line("  int status;");
  if (inFile) {
    line("  if (!read_weights(argc > 1 ? argv[1] : \"" + whole +
         weightsSuffix(bundle.weightsIn) + "\")) {");
    line("    fprintf(stderr, \"cannot read the weights\\n\");");
    line("    return 1;");
    line("  }");
  }
  if (isDynamic)
    addMemoryForSizes();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const BundleTensor &input = entry.inputs[i];
    if (!input.isDynamic() && input.bytes == 0)
      continue;
    line("  count = " + elementCount("input", inputs[i], input) + ";");
    line("  for (i = 0; i < count; ++i)");
    line("    input_" + inputs[i] + "[i] = (" +
         std::string(cType(entry.inputs[i].spec.type)) + ")(" +
         randomElement(entry.inputs[i]) + ");");
  }
  line("  status = " + whole + "_state_init(&state" + also + ");");
  line("  if (status == " + wholePrefix + "_DONE)");
  line("    status = " + name + "_run(" + (isDynamic ? "&sizes, " : "") +
       "&inputs, &outputs, &state, workspace" + also +
       (bundle.isParallel ? ", &threads" : "") + ");");
  line("  if (status != " + wholePrefix + "_DONE) {");
  line("    fprintf(stderr, \"" + name + ": error %d\\n\", status);");
  line("    return 1;");
  line("  }");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BundleTensor &output = entry.outputs[i];
    line("  printf(\"" + outputs[i] + ":\");");
    if (output.isDynamic() || output.bytes != 0) {
      line("  count = " + elementCount("output", outputs[i], output) + ";");
      line("  for (i = 0; i < count && i < 5; ++i)");
      line("    " + printElement(entry.outputs[i], "output_" + outputs[i]));
    }
    line("  printf(\"\\n\");");
  }
  line("  return 0;");
}

} // namespace

std::string exampleText(const Bundle &bundle) {
  return ExampleWriter(bundle).take();
}

std::string cmakeText(const Bundle &bundle) {
  const bool needsMathematics =
      std::ranges::any_of(bundle.externals, [](const std::string &symbol) {
        return !symbol.starts_with("__") && !symbol.starts_with("sinter_");
      });
  std::string text =
      "cmake_minimum_required(VERSION 3.13)\n"
      "project(NAME C)\n"
      "\n"
      "# The bundle: link it with target_link_libraries(... NAME).\n"
      "add_library(NAME STATIC NAME.o" +
      std::string(bundle.weightsIn == BundleWeights::InArray ? " NAME_weights.c"
                                                             : "") +
      ")\n"
      "set_source_files_properties(NAME.o PROPERTIES EXTERNAL_OBJECT TRUE)\n"
      "set_target_properties(NAME PROPERTIES LINKER_LANGUAGE C)\n"
      "target_include_directories(NAME PUBLIC "
      "${CMAKE_CURRENT_SOURCE_DIR})\n";
  if (needsMathematics)
    text += "target_link_libraries(NAME PUBLIC m)\n";
  if (bundle.needsRuntime)
    text += "# With -DCMAKE_PREFIX_PATH, where it is installed.\n"
            "find_package(Sinter REQUIRED)\n"
            "target_link_libraries(NAME PUBLIC Sinter::sinter)\n";
  text += "\n"
          "# Not in other projects, which add this folder.\n"
          "if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)\n"
          "  add_executable(NAME_example main.c)\n"
          "  target_link_libraries(NAME_example PRIVATE NAME)\n";
  if (bundle.isParallel)
    text += "  find_package(OpenMP COMPONENTS C)\n"
            "  if(OpenMP_C_FOUND)\n"
            "    target_link_libraries(NAME_example PRIVATE OpenMP::OpenMP_C)\n"
            "  endif()\n";
  text += "endif()\n";
  for (size_t at = 0; (at = text.find("NAME", at)) != std::string::npos;
       at += bundle.name.size())
    text.replace(at, 4, bundle.name);
  return text;
}

} // namespace sinter
