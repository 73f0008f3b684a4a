//===- ModelCheckTest.cpp -------------------------------------------------===//
//
// Covers: formats/onnx/file ArgumentNames GraphCheck ModelCheck

#include "formats/onnx/file/ModelCheck.h"

#include <gtest/gtest.h>

#include "formats/onnx/TestModel.h"

#include <chrono>

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx::test;

TEST(ModelCheck, AcceptsASmallModel) { EXPECT_EQ(loadError(addModel()), ""); }

TEST(ModelCheck, NamesWhatIsUndefined) {
  ModelProto model = addModel();
  model.mutable_graph()->clear_initializer();
  EXPECT_CONTAINS(loadError(model),
                  "test.onnx: node 'add' (Add): 'w' is not defined");
  model = addModel();
  model.mutable_graph()->mutable_output(0)->set_name("z");
  EXPECT_CONTAINS(loadError(model), "output 'z': 'z' is not defined");
}

TEST(ModelCheck, RefusesSecondDefinitions) {
  ModelProto model = addModel();
  addNode(*model.mutable_graph(), "Relu", {"x"}, {"y"});
  EXPECT_CONTAINS(loadError(model), "the node that gives 'y' (Relu): the name "
                                    "'y' is defined twice");
  model = addModel();
  model.mutable_graph()->add_input()->set_name("x");
  EXPECT_CONTAINS(loadError(model), "'x' is defined twice (input)");
  model = addModel();
  *model.mutable_graph()->add_initializer() = floatTensor("w", 4);
  EXPECT_CONTAINS(loadError(model), "'w' is defined twice (initializer)");
  model = addModel();
  *model.mutable_graph()->add_initializer() = floatTensor("y", 4);
  EXPECT_CONTAINS(loadError(model), "'y' is defined twice");
}

TEST(ModelCheck, AnInitializerMayBeAnInput) {
  ModelProto model = addModel();
  model.mutable_graph()->add_input()->set_name("w");
  EXPECT_EQ(loadError(model), "");
}

TEST(ModelCheck, NamesTheNodesOfACycle) {
  ModelProto model = emptyModel();
  GraphProto &graph = *model.mutable_graph();
  graph.add_input()->set_name("x");
  addNode(graph, "Relu", {"x"}, {"r"}).set_name("before");
  addNode(graph, "Add", {"r", "b"}, {"a"}).set_name("first");
  addNode(graph, "Abs", {"a"}, {"b"}).set_name("second");
  EXPECT_CONTAINS(loadError(model),
                  "the graph has a cycle: node 'first' (Add) needs node "
                  "'second' (Abs) needs node 'first' (Add)");
  graph.clear_node();
  addNode(graph, "Add", {"x", "a"}, {"a"}).set_name("self");
  EXPECT_CONTAINS(loadError(model), "node 'self' (Add) needs node 'self'");
}

TEST(ModelCheck, SortsNodesKeepingTheirOrder) {
  ModelProto model = emptyModel();
  GraphProto &graph = *model.mutable_graph();
  graph.add_input()->set_name("x");
  addNode(graph, "Abs", {"b"}, {"c"});
  addNode(graph, "Neg", {"x"}, {"d"});
  addNode(graph, "Exp", {"x"}, {"b"});
  addNode(graph, "Log", {"d"}, {"e"});
  Result<OnnxFile> file = load(model);
  ASSERT_EQ(errorOf(file), "");
  std::string order;
  for (const NodeProto &node : file->model().graph().node())
    order += node.op_type();
  EXPECT_EQ(order, "NegExpAbsLog");
}

TEST(ModelCheck, NestedGraphsSeeTheNamesAround) {
  ModelProto model = emptyModel();
  GraphProto &graph = *model.mutable_graph();
  graph.add_input()->set_name("condition");
  graph.add_output()->set_name("y");
  NodeProto &branch = addNode(graph, "If", {"condition"}, {"y"});
  branch.set_name("if");
  AttributeProto &attribute = *branch.add_attribute();
  attribute.set_name("then_branch");
  GraphProto &body = *attribute.mutable_g();
  addNode(body, "Relu", {"outer"}, {"inner"});
  body.add_output()->set_name("inner");
  EXPECT_CONTAINS(loadError(model), "'outer' is not defined");
  // Defined after its use in the file, so the node moves to the front.
  addNode(graph, "Cast", {"condition"}, {"outer"});
  Result<OnnxFile> file = load(model);
  ASSERT_EQ(errorOf(file), "");
  EXPECT_EQ(file->model().graph().node(0).op_type(), "Cast");
  // A nested name is not seen outside.
  graph.add_output()->set_name("inner");
  EXPECT_CONTAINS(loadError(model), "'inner' is not defined");
}

/// A length-delimited field.
static std::string wrap(char tag, const std::string &content) {
  std::string out(1, tag);
  size_t size = content.size();
  for (; size >= 0x80; size >>= 7)
    out += static_cast<char>(size | 0x80);
  return out + static_cast<char>(size) + content;
}

TEST(ModelCheck, BoundsTheNestingOfGraphs) {
  ModelProto model = emptyModel();
  model.clear_graph();
  for (int depth : {50, 63, 100, 10000}) {
    // Built from the inside as bytes: protobuf's own calls recurse.
    std::string graph = wrap('\x12', "inner");
    for (int i = 0; i < depth; ++i)
      graph =
          wrap('\x0a', wrap('\x22', "If") + wrap('\x2a', wrap('\x32', graph)));
    Result<OnnxFile> file = OnnxFile::fromMemory(
        model.SerializeAsString() + wrap('\x3a', graph), ".", "deep.onnx");
    if (depth <= maxGraphNesting)
      EXPECT_EQ(errorOf(file), "");
    else
      EXPECT_CONTAINS(errorOf(file), "nested");
  }
}

static FunctionProto &addFunction(ModelProto &model, const std::string &name,
                                  const std::string &callee, int calls = 1) {
  FunctionProto &function = *model.add_functions();
  function.set_name(name);
  function.set_domain("local");
  function.add_input("x");
  for (int i = 0; i < calls; ++i) {
    NodeProto &node = *function.add_node();
    node.set_op_type(callee);
    node.set_domain("local");
    node.add_input("x");
    node.add_output("y" + std::to_string(i));
  }
  function.add_output("y0");
  return function;
}

static ModelProto functionModel() {
  ModelProto model = emptyModel();
  GraphProto &graph = *model.mutable_graph();
  graph.add_input()->set_name("x");
  addNode(graph, "f0", {"x"}, {"y"}).set_domain("local");
  return model;
}

TEST(ModelCheck, RefusesTenThousandNestedFunctionsQuickly) {
  ModelProto model = functionModel();
  for (int i = 0; i < 10000; ++i)
    addFunction(model, "f" + std::to_string(i), "f" + std::to_string(i + 1));
  auto start = std::chrono::steady_clock::now();
  EXPECT_CONTAINS(loadError(model), "local functions call each other more than "
                                    "256 deep");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(ModelCheck, RefusesFunctionsThatGrowWithoutBound) {
  ModelProto model = functionModel();
  for (int i = 0; i < 100; ++i)
    addFunction(model, "f" + std::to_string(i), "f" + std::to_string(i + 1), 2);
  EXPECT_CONTAINS(loadError(model), "would have more than");
}

TEST(ModelCheck, RefusesRecursionAndSecondFunctions) {
  ModelProto model = functionModel();
  addFunction(model, "f0", "f1");
  addFunction(model, "f1", "f0");
  EXPECT_CONTAINS(loadError(model), "calls itself");
  model = functionModel();
  addFunction(model, "f0", "Relu");
  EXPECT_EQ(loadError(model), "");
  addFunction(model, "f0", "Relu");
  EXPECT_CONTAINS(loadError(model), "function 'local.f0' is defined twice");
  model = functionModel();
  addFunction(model, "f0", "Relu").set_output(0, "nowhere");
  EXPECT_CONTAINS(loadError(model), "function 'local.f0': output 'nowhere'");
}

TEST(ModelCheck, ChecksVersions) {
  ModelProto model = addModel();
  model.clear_ir_version();
  EXPECT_CONTAINS(loadError(model), "ir_version is missing");
  model = addModel();
  model.set_ir_version(-1);
  EXPECT_CONTAINS(loadError(model), "ir_version is -1");
  model = addModel();
  model.clear_opset_import();
  EXPECT_CONTAINS(loadError(model), "which operator sets it uses");
  model = addModel();
  model.mutable_opset_import(0)->set_version(0);
  EXPECT_CONTAINS(loadError(model), "version 0 of the operator set ai.onnx");
  model = addModel();
  OperatorSetIdProto &second = *model.add_opset_import();
  second.set_domain("ai.onnx");
  second.set_version(9);
  EXPECT_CONTAINS(loadError(model), "in versions 17 and 9");
  model = addModel();
  model.clear_graph();
  EXPECT_CONTAINS(loadError(model), "the model has no graph");
}

TEST(ModelCheck, MessagesStayOnOneLine) {
  ModelProto model = addModel();
  model.mutable_graph()->mutable_node(0)->set_name("evil\nname\x1b[31m");
  model.mutable_graph()->clear_initializer();
  EXPECT_CONTAINS(loadError(model), "node 'evil name?[31m' (Add)");
}
