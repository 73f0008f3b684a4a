//===- DynamicSizesTest.cpp - one program for all sizes -------------------===//
//
// Programs of dynamic sizes against the oracle, over drawn sizes: the same bits
// on one and two threads, and for each sample whatever else is in the batch.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/shapes ComputedSizes DynamicOperations EnteredRegions
// Covers: backend/cpu/shapes OperationGuards ResultSizes ShapeGuards
// Covers: backend/cpu/shapes ShapeValues SizeFacts SizeTable
// Covers: backend/cpu/emit DynamicKernel DynamicMatMulKernel
// Covers: backend/cpu/kernels/gemm MatMul MatMulShape

#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/WithoutMatrixUnits.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// What windows of \p operand choose for what \p source has for each; with
/// \p padding on both sides of dimension 1.
std::string choiceOf(const std::vector<int64_t> &operand,
                     const std::vector<int64_t> &source,
                     const std::vector<int64_t> &sizes,
                     const std::vector<int64_t> &strides, int64_t padding = 0) {
  auto typeOf = [](const std::vector<int64_t> &shape) {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += (size < 0 ? "?" : std::to_string(size)) + "x";
    return text + "f32>";
  };
  auto list = [](const std::vector<int64_t> &numbers) {
    std::string text;
    for (int64_t number : numbers)
      text += ", " + std::to_string(number);
    return "array<i64: " + text.substr(2) + ">";
  };
  std::string pads;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string each = std::to_string(i == 1 ? padding : 0);
    pads += std::string(i ? ", " : "") + "[" + each + ", " + each + "]";
  }
  const std::string x = typeOf(operand), s = typeOf(source);
  return "(" + argument("%x", operand) + ", " + argument("%s", source) +
         ") -> " + x + R"( {
       %v = stablehlo.constant dense<0.5> : tensor<f32>
       %r = "stablehlo.select_and_scatter"(%x, %s, %v) <{
           window_dimensions = )" +
         list(sizes) + ", window_strides = " + list(strides) +
         ", padding = dense<[" + pads + "]> : tensor<" +
         std::to_string(sizes.size()) + R"(x2xi64>}> ({
       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
         %c = stablehlo.compare GE, %a, %b :
             (tensor<f32>, tensor<f32>) -> tensor<i1>
         stablehlo.return %c : tensor<i1>
       }, {
       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
         %c = stablehlo.add %a, %b : tensor<f32>
         stablehlo.return %c : tensor<f32>
       }) : ()" +
         x + ", " + s + ", tensor<f32>) -> " + x + "\n return %r : " + x +
         "\n}";
}

/// Padding beside rows, and rows of rows.
DynamicCase paddedByMode(const std::string &mode) {
  return {mode + " beside open rows",
          "(" + argument("%x", {batch, 3, length, length}) +
              R"() -> tensor<?x4x?x?xf32> {
       %y = stablehlo.add %x, %x : tensor<?x3x?x?xf32>
       %r = nn.pad_mode %y, ")" +
              mode + R"(" low = [0, 1, 3, 4] high = [0, 0, 2, 3] :
           (tensor<?x3x?x?xf32>) -> tensor<?x4x?x?xf32>
       return %r : tensor<?x4x?x?xf32>
     })",
          {{batch, 3, length, length}},
          {5, 6, 16, 37}};
}

/// On one side of rows of blocks, the other of which may be cut off.
DynamicCase blocksPaddedByMode(const std::string &mode) {
  return {mode + " beside open rows of blocks",
          "(" + argument("%x", {batch, length, 16}) +
              R"() -> tensor<?x?x16xf32> {
       %a = nn.pad_mode %x, ")" +
              mode + R"(" low = [0, 2, 0] high = [0, -1, 0] :
           (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
       %b = nn.pad_mode %a, ")" +
              mode + R"(" low = [0, -2, 0] high = [0, 4, 0] :
           (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
       return %b : tensor<?x?x16xf32>
     })",
          {{batch, length, 16}},
          {6, 7, 16, 130}};
}

/// A recurrent layer of 5 units in both directions, of \p gates, over x of
/// any number of samples, and of \p steps.
DynamicCase recurrent(const std::string &name, int64_t gates,
                      const std::string &attributes, int64_t states,
                      int64_t steps) {
  const std::string t = steps < 0 ? "?" : std::to_string(steps),
                    g = std::to_string(5 * gates);
  std::string more, segments = states == 1 ? ", 0, 0" : ", 0, 0, 0, 0";
  for (int64_t i = 0; i < states; ++i)
    more += ", tensor<2x?x5xf32>";
  return {
      name + " of " + (steps < 0 ? "any number of" : t) + " steps",
      "(" + argument("%x", {batch, steps, 8}) + ") -> tensor<?x" + t +
          "x2x5xf32> {\n %s = stablehlo.transpose %x, dims = [1, 0, 2] : "
          "(tensor<?x" +
          t + "x8xf32>) -> tensor<" + t +
          "x?x8xf32>\n %i = stablehlo.iota dim = 1 : tensor<2x" + g +
          "x8xf32>\n %w = stablehlo.sine %i : tensor<2x" + g +
          "x8xf32>\n %j = stablehlo.iota dim = 1 : tensor<2x" + g +
          "x5xf32>\n %r = stablehlo.cosine %j : tensor<2x" + g +
          "x5xf32>\n %y:" + std::to_string(states + 1) + " = \"nn." + name +
          "\"(%s, %w, %r) <{direction = \"bidirectional\", " + attributes +
          ", operandSegmentSizes = array<i32: 1, 1, 1, 0" + segments +
          ">}> : (tensor<" + t + "x?x8xf32>, tensor<2x" + g +
          "x8xf32>, tensor<2x" + g + "x5xf32>) -> (tensor<" + t +
          "x2x?x5xf32>" + more +
          ")\n %z = stablehlo.transpose %y#0, dims = [2, 0, 1, 3] : (tensor<" +
          t + "x2x?x5xf32>) -> tensor<?x" + t +
          "x2x5xf32>\n return %z : " + "tensor<?x" + t + "x2x5xf32>\n}",
      {{batch, steps, 8}},
      steps < 0 ? std::vector<int64_t>{0, 1, 7} : std::vector<int64_t>{1}};
}

const std::string ofLstm = "activations = [\"Sigmoid\", \"Tanh\", \"Tanh\", "
                           "\"Sigmoid\", \"Tanh\", \"Tanh\"], input_forget "
                           "= false",
                  ofGru = "activations = [\"Sigmoid\", \"Tanh\", "
                          "\"Sigmoid\", \"Tanh\"], linear_before_reset = "
                          "false",
                  ofRnn = "activations = [\"Tanh\", \"Relu\"]";

const DynamicCase dynamicCases[] = {
    recurrent("lstm", 4, ofLstm, 2, length),
    recurrent("lstm", 4, ofLstm, 2, 5),
    recurrent("gru", 3, ofGru, 1, length),
    recurrent("gru", 3, ofGru, 1, 5),
    recurrent("rnn", 1, ofRnn, 1, length),
    {"product and bias",
     "(" + argument("%x", {batch, 20}) + R"() -> tensor<?x37xf32> {
       %w = stablehlo.iota dim = 1 : tensor<20x37xf32>
       %s = stablehlo.constant dense<0.01> : tensor<20x37xf32>
       %v = stablehlo.multiply %w, %s : tensor<20x37xf32>
       %y = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] :
           (tensor<?x20xf32>, tensor<20x37xf32>) -> tensor<?x37xf32>
       %b = stablehlo.iota dim = 0 : tensor<37xf32>
       %bb = nn.broadcast_like %b, %y :
           (tensor<37xf32>, tensor<?x37xf32>) -> tensor<?x37xf32>
       %z = stablehlo.add %y, %bb : tensor<?x37xf32>
       %t = stablehlo.tanh %z : tensor<?x37xf32>
       return %t : tensor<?x37xf32>
     })",
     {{batch, 20}},
     {1}},
    {"product of one column, which is a reduction however few rows there are",
     "(" + argument("%x", {batch, 5}) + R"() -> tensor<?x1xf32> {
       %w = stablehlo.iota dim = 0 : tensor<5x1xf32>
       %v = stablehlo.sine %w : tensor<5x1xf32>
       %y = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] :
           (tensor<?x5xf32>, tensor<5x1xf32>) -> tensor<?x1xf32>
       return %y : tensor<?x1xf32>
     })",
     {{batch, 5}},
     {1}},
    {"product of two activations, one of them with one column",
     "(" + argument("%x", {batch, length, 33}) + ", " +
         argument("%z", {batch, 33, 1}) + R"() -> tensor<?x?x1xf32> {
       %y = stablehlo.dot_general %x, %z, batching_dims = [0] x [0],
           contracting_dims = [2] x [1] :
           (tensor<?x?x33xf32>, tensor<?x33x1xf32>) -> tensor<?x?x1xf32>
       return %y : tensor<?x?x1xf32>
     })",
     {{batch, length, 33}, {batch, 33, 1}},
     {1, 2, 7}},
    {"product of complex numbers, summed pair by pair",
     "(" + argument("%x", {batch, 3, 2}) + ", " +
         argument("%z", {batch, 5, 2, 3}) + R"() -> tensor<?x5xf32> {
       %y = stablehlo.complex %x, %x : tensor<?x3x2xcomplex<f32>>
       %n = stablehlo.negate %z : tensor<?x5x2x3xf32>
       %w = stablehlo.complex %z, %n : tensor<?x5x2x3xcomplex<f32>>
       %p = stablehlo.dot_general %y, %w, batching_dims = [0] x [0],
           contracting_dims = [1, 2] x [3, 2] :
           (tensor<?x3x2xcomplex<f32>>, tensor<?x5x2x3xcomplex<f32>>)
           -> tensor<?x5xcomplex<f32>>
       %i = stablehlo.imag %p : (tensor<?x5xcomplex<f32>>) -> tensor<?x5xf32>
       %r = stablehlo.real %p : (tensor<?x5xcomplex<f32>>) -> tensor<?x5xf32>
       %d = stablehlo.subtract %r, %i : tensor<?x5xf32>
       return %d : tensor<?x5xf32>
     })",
     {{batch, 3, 2}, {batch, 5, 2, 3}},
     {1}},
    {"product of few columns",
     "(" + argument("%x", {batch, 71}) + R"() -> tensor<?x10xf32> {
       %w = stablehlo.iota dim = 0 : tensor<71x10xf32>
       %v = stablehlo.sine %w : tensor<71x10xf32>
       %y = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] :
           (tensor<?x71xf32>, tensor<71x10xf32>) -> tensor<?x10xf32>
       return %y : tensor<?x10xf32>
     })",
     {{batch, 71}},
     {1}},
    {"rows of rows",
     "(" + argument("%x", {batch, length, 24}) + R"() -> tensor<?x?x24xf32> {
       %zero = stablehlo.constant dense<0.0> : tensor<f32>
       %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add
           across dimensions = [2] :
           (tensor<?x?x24xf32>, tensor<f32>) -> tensor<?x?xf32>
       %n = nn.shape %sum : (tensor<?x?xf32>) -> tensor<2xi64>
       %one = stablehlo.constant dense<1> : tensor<1xi64>
       %shape = stablehlo.concatenate %n, %one, dim = 0 :
           (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
       %r = stablehlo.dynamic_reshape %sum, %shape :
           (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x?x1xf32>
       %m = nn.broadcast_like %r, %x :
           (tensor<?x?x1xf32>, tensor<?x?x24xf32>) -> tensor<?x?x24xf32>
       %d = stablehlo.subtract %x, %m : tensor<?x?x24xf32>
       %e = stablehlo.exponential %d : tensor<?x?x24xf32>
       return %e : tensor<?x?x24xf32>
     })",
     {{batch, length, 24}},
     {0, 1, 7, 40}},
    {"sums over an open size",
     "(" + argument("%x", {batch, length, 24}) + R"() -> tensor<?x24xf32> {
       %zero = stablehlo.constant dense<0.0> : tensor<f32>
       %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add
           across dimensions = [1] :
           (tensor<?x?x24xf32>, tensor<f32>) -> tensor<?x24xf32>
       return %sum : tensor<?x24xf32>
     })",
     {{batch, length, 24}},
     {0, 1, 7, 130}},
    {"reverse",
     "(" + argument("%x", {batch, length, 6}) + R"() -> tensor<?x?x6xf32> {
       %r = stablehlo.reverse %x, dims = [1, 2] : tensor<?x?x6xf32>
       return %r : tensor<?x?x6xf32>
     })",
     {{batch, length, 6}},
     {0, 1, 9, 70}},
    {"concatenate of three of open sizes",
     "(" + argument("%x", {batch, length, 6}) + R"() -> tensor<?x?x6xf32> {
       %n = stablehlo.negate %x : tensor<?x?x6xf32>
       %t = stablehlo.tanh %x : tensor<?x?x6xf32>
       %j = stablehlo.concatenate %n, %x, %t, dim = 1 :
           (tensor<?x?x6xf32>, tensor<?x?x6xf32>, tensor<?x?x6xf32>)
           -> tensor<?x?x6xf32>
       return %j : tensor<?x?x6xf32>
     })",
     {{batch, length, 6}},
     {0, 1, 9}},
    {"transpose",
     "(" + argument("%x", {batch, length, 6}) + R"() -> tensor<?x6x?xf32> {
       %t = stablehlo.transpose %x, dims = [0, 2, 1] :
           (tensor<?x?x6xf32>) -> tensor<?x6x?xf32>
       return %t : tensor<?x6x?xf32>
     })",
     {{batch, length, 6}},
     {0, 1, 9, 70}},
    {"transpose to short rows",
     "(" + argument("%x", {batch, 10, length}) + R"() -> tensor<?x?x10xf32> {
       %t = stablehlo.transpose %x, dims = [0, 2, 1] :
           (tensor<?x10x?xf32>) -> tensor<?x?x10xf32>
       return %t : tensor<?x?x10xf32>
     })",
     {{batch, 10, length}},
     {0, 1, 7, 8, 9, 70, 200}},
    {"transpose to rows of several tiles",
     "(" + argument("%x", {batch, 150, length}) + R"() -> tensor<?x?x150xf32> {
       %t = stablehlo.transpose %x, dims = [0, 2, 1] :
           (tensor<?x150x?xf32>) -> tensor<?x?x150xf32>
       return %t : tensor<?x?x150xf32>
     })",
     {{batch, 150, length}},
     {0, 1, 7, 8, 9, 70, 200}},
    {"transpose of rows of several tiles",
     "(" + argument("%x", {batch, length, 40}) + R"() -> tensor<?x40x?xf32> {
       %t = stablehlo.transpose %x, dims = [0, 2, 1] :
           (tensor<?x?x40xf32>) -> tensor<?x40x?xf32>
       return %t : tensor<?x40x?xf32>
     })",
     {{batch, length, 40}},
     {0, 1, 7, 8, 9, 70, 200}},
    {"transpose of bytes",
     "(" + argument("%x", {batch, 40, length}) + R"() -> tensor<?x?x40xi8> {
       %c = stablehlo.convert %x : (tensor<?x40x?xf32>) -> tensor<?x40x?xi8>
       %t = stablehlo.transpose %c, dims = [0, 2, 1] :
           (tensor<?x40x?xi8>) -> tensor<?x?x40xi8>
       return %t : tensor<?x?x40xi8>
     })",
     {{batch, 40, length}},
     {0, 1, 15, 16, 17, 70}},
    {"transpose to open rows of bytes",
     "(" + argument("%x", {batch, length, 40}) + R"() -> tensor<?x40x?xi8> {
       %c = stablehlo.convert %x : (tensor<?x?x40xf32>) -> tensor<?x?x40xi8>
       %t = stablehlo.transpose %c, dims = [0, 2, 1] :
           (tensor<?x?x40xi8>) -> tensor<?x40x?xi8>
       return %t : tensor<?x40x?xi8>
     })",
     {{batch, length, 40}},
     {0, 1, 15, 16, 17, 70}},
    {"products of rows of rows, one after the other",
     "(" + argument("%x", {batch, length, 32}) + R"() -> tensor<?x?x32xf32> {
       %w = stablehlo.iota dim = 0 : tensor<32x64xf32>
       %s = stablehlo.constant dense<0.001> : tensor<32x64xf32>
       %v = stablehlo.multiply %w, %s : tensor<32x64xf32>
       %y = stablehlo.dot_general %x, %v, contracting_dims = [2] x [0] :
           (tensor<?x?x32xf32>, tensor<32x64xf32>) -> tensor<?x?x64xf32>
       %z = stablehlo.dot_general %y, %v, contracting_dims = [2] x [1] :
           (tensor<?x?x64xf32>, tensor<32x64xf32>) -> tensor<?x?x32xf32>
       %r = stablehlo.add %z, %x : tensor<?x?x32xf32>
       return %r : tensor<?x?x32xf32>
     })",
     {{batch, length, 32}},
     {0, 1, 5, 16, 33}},
    {"attention",
     "(" + argument("%q", {batch, length, 2, 16}) + ", " +
         argument("%k", {batch, length, 2, 16}) + ", " +
         argument("%v", {batch, length, 2, 16}) + ", " +
         argument("%m", {batch, 1, 1, length}) +
         R"() -> tensor<?x?x2x16xf32> {
       %qt = stablehlo.transpose %q, dims = [0, 2, 1, 3] :
           (tensor<?x?x2x16xf32>) -> tensor<?x2x?x16xf32>
       %kt = stablehlo.transpose %k, dims = [0, 2, 1, 3] :
           (tensor<?x?x2x16xf32>) -> tensor<?x2x?x16xf32>
       %vt = stablehlo.transpose %v, dims = [0, 2, 1, 3] :
           (tensor<?x?x2x16xf32>) -> tensor<?x2x?x16xf32>
       %o = nn.attention %qt, %kt, %vt, %m scale = 0.3 :
           (tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>,
            tensor<?x1x1x?xf32>) -> tensor<?x2x?x16xf32>
       %r = stablehlo.transpose %o, dims = [0, 2, 1, 3] :
           (tensor<?x2x?x16xf32>) -> tensor<?x?x2x16xf32>
       return %r : tensor<?x?x2x16xf32>
     })",
     {{batch, length, 2, 16},
      {batch, length, 2, 16},
      {batch, length, 2, 16},
      {batch, 1, 1, length}},
     {1, 5, 16, 33, 64, 100, 256, 257, 300}},
    {"one row of attention, spelt out",
     "(" + argument("%q", {batch, 2, 1, 16}) + ", " +
         argument("%k", {batch, 2, length, 16}) + ", " +
         argument("%v", {batch, 2, length, 16}) +
         R"() -> tensor<?x2x1x16xf32> {
       %t = stablehlo.transpose %k, dims = [0, 1, 3, 2] :
           (tensor<?x2x?x16xf32>) -> tensor<?x2x16x?xf32>
       %s = stablehlo.dot_general %q, %t, batching_dims = [0, 1] x [0, 1],
           contracting_dims = [3] x [2] :
           (tensor<?x2x1x16xf32>, tensor<?x2x16x?xf32>) -> tensor<?x2x1x?xf32>
       %w = nn.softmax %s, axes = [3] : tensor<?x2x1x?xf32>
       %o = stablehlo.dot_general %w, %v, batching_dims = [0, 1] x [0, 1],
           contracting_dims = [3] x [2] :
           (tensor<?x2x1x?xf32>, tensor<?x2x?x16xf32>) -> tensor<?x2x1x16xf32>
       return %o : tensor<?x2x1x16xf32>
     })",
     {{batch, 2, 1, 16}, {batch, 2, length, 16}, {batch, 2, length, 16}},
     {1, 2, 63, 64, 65, 256, 257, 300},
     // Known, it is reductions.
     /*isAsClosed=*/false},
    {"attention of known rows and keys",
     "(" + argument("%q", {batch, 2, 40, 16}) + ", " +
         argument("%k", {batch, 2, 50, 16}) +
         R"() -> tensor<?x2x40x16xf32> {
       %o = nn.attention %q, %k, %k scale = 0.5 :
           (tensor<?x2x40x16xf32>, tensor<?x2x50x16xf32>,
            tensor<?x2x50x16xf32>) -> tensor<?x2x40x16xf32>
       return %o : tensor<?x2x40x16xf32>
     })",
     {{batch, 2, 40, 16}, {batch, 2, 50, 16}},
     {1}},
    // Channels attend to each other, over any number of positions.
    {"attention of dynamic depth and width",
     "(" + argument("%q", {batch, 2, 16, length}) +
         R"() -> tensor<?x2x16x?xf32> {
       %o = nn.attention %q, %q, %q scale = 0.5 :
           (tensor<?x2x16x?xf32>, tensor<?x2x16x?xf32>, tensor<?x2x16x?xf32>)
           -> tensor<?x2x16x?xf32>
       return %o : tensor<?x2x16x?xf32>
     })",
     {{batch, 2, 16, length}},
     {1, 17, 64},
     // Known, it is one kernel.
     /*isAsClosed=*/false},
    {"rows of a batch by what is computed",
     "(" + argument("%x", {batch, length, 20}) + R"() -> tensor<?x?x24xf32> {
       %w = stablehlo.iota dim = 1 : tensor<20x24xf32>
       %s = stablehlo.sine %w : tensor<20x24xf32>
       %y = stablehlo.dot_general %x, %s, contracting_dims = [2] x [0] :
           (tensor<?x?x20xf32>, tensor<20x24xf32>) -> tensor<?x?x24xf32>
       return %y : tensor<?x?x24xf32>
     })",
     {{batch, length, 20}},
     {0, 3, 40}},
    {"each by all others",
     "(" + argument("%x", {batch, length, 20}) + R"() -> tensor<?x?x?xf32> {
       %y = stablehlo.dot_general %x, %x, batching_dims = [0] x [0],
           contracting_dims = [2] x [2] :
           (tensor<?x?x20xf32>, tensor<?x?x20xf32>) -> tensor<?x?x?xf32>
       %t = stablehlo.tanh %y : tensor<?x?x?xf32>
       %s = stablehlo.add %t, %y : tensor<?x?x?xf32>
       return %s : tensor<?x?x?xf32>
     })",
     {{batch, length, 20}},
     {0, 2, 7, 16, 31, 64, 65, 140, 256, 300}},
    {"sums over an open size of products",
     "(" + argument("%x", {batch, length, 20}) + ", " +
         argument("%y", {batch, length, 37}) + R"() -> tensor<?x20x37xf32> {
       %z = stablehlo.dot_general %x, %y, batching_dims = [0] x [0],
           contracting_dims = [1] x [1] :
           (tensor<?x?x20xf32>, tensor<?x?x37xf32>) -> tensor<?x20x37xf32>
       return %z : tensor<?x20x37xf32>
     })",
     {{batch, length, 20}, {batch, length, 37}},
     {0, 1, 2, 33, 130}},
    {"heads of weights by values",
     "(" + argument("%w", {batch, 2, length, length}) + ", " +
         argument("%v", {batch, length, 2, 24}) +
         R"() -> tensor<?x2x?x24xf32> {
       %t = stablehlo.transpose %v, dims = [0, 2, 1, 3] :
           (tensor<?x?x2x24xf32>) -> tensor<?x2x?x24xf32>
       %o = stablehlo.dot_general %w, %t, batching_dims = [0, 1] x [0, 1],
           contracting_dims = [3] x [2] :
           (tensor<?x2x?x?xf32>, tensor<?x2x?x24xf32>) -> tensor<?x2x?x24xf32>
       return %o : tensor<?x2x?x24xf32>
     })",
     {{batch, 2, length, length}, {batch, length, 2, 24}},
     {0, 2, 17, 70}},
    {"open rows of a matrix by open columns",
     "(" + argument("%x", {batch, 9, 12}) + ", " +
         argument("%y", {batch, 12, length}) + R"() -> tensor<?x9x?xf32> {
       %z = stablehlo.dot_general %x, %y, batching_dims = [0] x [0],
           contracting_dims = [2] x [1] :
           (tensor<?x9x12xf32>, tensor<?x12x?xf32>) -> tensor<?x9x?xf32>
       %a = stablehlo.abs %z : tensor<?x9x?xf32>
       return %a : tensor<?x9x?xf32>
     })",
     {{batch, 9, 12}, {batch, 12, length}},
     {0, 2, 5, 16, 17, 63, 64, 65, 127, 300}},
    {"open columns summed up over open rows",
     "(" + argument("%x", {batch, length, 5}) + ", " +
         argument("%y", {batch, length, length}) + R"() -> tensor<?x5x?xf32> {
       %z = stablehlo.dot_general %x, %y, batching_dims = [0] x [0],
           contracting_dims = [1] x [2] :
           (tensor<?x?x5xf32>, tensor<?x?x?xf32>) -> tensor<?x5x?xf32>
       return %z : tensor<?x5x?xf32>
     })",
     {{batch, length, 5}, {batch, length, length}},
     {0, 2, 9, 40, 90}},
    {"the greatest of windows over open rows",
     "(" + argument("%x", {batch, 6, length}) + R"() -> tensor<?x3x?xf32> {
       %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
       %w = "stablehlo.reduce_window"(%x, %z) <{
           window_dimensions = array<i64: 1, 3, 5>,
           window_strides = array<i64: 1, 2, 2>,
           padding = dense<[[0, 0], [1, 1], [2, 2]]> : tensor<3x2xi64>}> ({
       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
         %c = stablehlo.maximum %a, %b : tensor<f32>
         stablehlo.return %c : tensor<f32>
       }) : (tensor<?x6x?xf32>, tensor<f32>) -> tensor<?x3x?xf32>
       %n = stablehlo.negate %w : tensor<?x3x?xf32>
       return %n : tensor<?x3x?xf32>
     })",
     {{batch, 6, length}},
     {1, 2, 9, 64, 300}},
    {"sums of windows over open rows and columns, padding among them",
     "(" + argument("%x", {batch, length, length}) + R"() -> tensor<?x?x?xf32> {
       %z = stablehlo.constant dense<0.5> : tensor<f32>
       %w = "stablehlo.reduce_window"(%x, %z) <{
           window_dimensions = array<i64: 1, 3, 3>,
           padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>}> ({
       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
         %c = stablehlo.add %a, %b : tensor<f32>
         stablehlo.return %c : tensor<f32>
       }) : (tensor<?x?x?xf32>, tensor<f32>) -> tensor<?x?x?xf32>
       %n = stablehlo.negate %w : tensor<?x?x?xf32>
       return %n : tensor<?x?x?xf32>
     })",
     {{batch, length, length}},
     {1, 2, 9, 64, 300}},
    {"the front of sorted open rows",
     "(" + argument("%x", {batch, length}) +
         R"() -> (tensor<?x3xf32>, tensor<?x40xf32>) {
       %o = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
       ^bb0(%p: tensor<f32>, %q: tensor<f32>):
         %c = stablehlo.compare GT, %p, %q, TOTALORDER :
             (tensor<f32>, tensor<f32>) -> tensor<i1>
         stablehlo.return %c : tensor<i1>
       }) : (tensor<?x?xf32>) -> tensor<?x?xf32>
       %b = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
       ^bb0(%p: tensor<f32>, %q: tensor<f32>):
         %c = stablehlo.compare LT, %p, %q, FLOAT :
             (tensor<f32>, tensor<f32>) -> tensor<i1>
         stablehlo.return %c : tensor<i1>
       }) : (tensor<?x?xf32>) -> tensor<?x?xf32>
       %size = nn.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
       %n = stablehlo.slice %size [0:1] : (tensor<2xi64>) -> tensor<1xi64>
       %three = stablehlo.constant dense<3> : tensor<1xi64>
       %forty = stablehlo.constant dense<40> : tensor<1xi64>
       %zeros = stablehlo.constant dense<0> : tensor<2xi64>
       %ones = stablehlo.constant dense<1> : tensor<2xi64>
       %few = stablehlo.concatenate %n, %three, dim = 0 :
           (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
       %many = stablehlo.concatenate %n, %forty, dim = 0 :
           (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
       %f = stablehlo.real_dynamic_slice %o, %zeros, %few, %ones :
           (tensor<?x?xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
           -> tensor<?x3xf32>
       %g = stablehlo.real_dynamic_slice %b, %zeros, %many, %ones :
           (tensor<?x?xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
           -> tensor<?x40xf32>
       return %f, %g : tensor<?x3xf32>, tensor<?x40xf32>
     })",
     {{batch, length}},
     {50, 100, 255, 400, 3000}},
    paddedByMode("reflect"),
    paddedByMode("edge"),
    paddedByMode("wrap"),
    blocksPaddedByMode("reflect"),
    blocksPaddedByMode("edge"),
    blocksPaddedByMode("wrap"),
    {"open rows padded in front, behind and on either side",
     "(" + argument("%x", {batch, 3, length}) +
         R"() -> (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>) {
       %v = stablehlo.constant dense<2.5> : tensor<f32>
       %a = stablehlo.pad %x, %v, low = [0, 0, 2], high = [0, 0, 0],
           interior = [0, 0, 0] :
           (tensor<?x3x?xf32>, tensor<f32>) -> tensor<?x3x?xf32>
       %b = stablehlo.pad %x, %v, low = [0, 0, 0], high = [0, 0, 3],
           interior = [0, 0, 0] :
           (tensor<?x3x?xf32>, tensor<f32>) -> tensor<?x3x?xf32>
       %c = stablehlo.pad %b, %v, low = [0, 0, 1], high = [0, 0, 5],
           interior = [0, 0, 0] :
           (tensor<?x3x?xf32>, tensor<f32>) -> tensor<?x3x?xf32>
       return %a, %b, %c :
           tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>
     })",
     {{batch, 3, length}},
     {0, 1, 2, 9, 64, 300}},
    {"causal attention",
     "(" + argument("%q", {batch, 2, length, 16}) +
         R"() -> tensor<?x2x?x16xf32> {
       %o = nn.attention %q, %q, %q scale = 0.5 causal :
           (tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>)
           -> tensor<?x2x?x16xf32>
       return %o : tensor<?x2x?x16xf32>
     })",
     {{batch, 2, length, 16}},
     {1, 17, 64, 90, 300}},
    {"what windows of rows choose",
     choiceOf({batch, 5, length, 7}, {batch, 5, length, 3}, {1, 1, 1, 3},
              {1, 1, 1, 2}),
     {{batch, 5, length, 7}, {batch, 5, length, 3}},
     {0, 1, 4}},
    {"what windows of channels last choose",
     choiceOf({batch, 6, 4, 21}, {batch, 3, 2, 21}, {1, 2, 2, 1}, {1, 2, 2, 1}),
     {{batch, 6, 4, 21}, {batch, 3, 2, 21}},
     {1}},
    {"what windows of any channels choose",
     choiceOf({batch, 6, 4, length}, {batch, 3, 2, length}, {1, 2, 2, 1},
              {1, 2, 2, 1}),
     {{batch, 6, 4, length}, {batch, 3, 2, length}},
     {0, 3, 16, 21, 40}},
    {"what no window chooses",
     choiceOf({batch, 2, 3}, {batch, 0, 3}, {1, 4, 1}, {1, 1, 1}),
     {{batch, 2, 3}, {batch, 0, 3}},
     {1}},
    {"what windows over open rows choose",
     choiceOf({batch, length, 3}, {batch, length, 3}, {1, 3, 1}, {1, 1, 1}, 1),
     {{batch, length, 3}, {batch, length, 3}},
     {1, 2, 9}},
    {"as many as the second to last is from the first",
     "(" + argument("%x", {batch, length}) + R"() -> tensor<?x?xf32> {
       %size = nn.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
       %one = stablehlo.constant dense<1> : tensor<1xi64>
       %zero = stablehlo.constant dense<0> : tensor<1xi64>
       %two = stablehlo.constant dense<1> : tensor<2xi64>
       %zeros = stablehlo.constant dense<0> : tensor<2xi64>
       %n = stablehlo.slice %size [0:1] : (tensor<2xi64>) -> tensor<1xi64>
       %s = stablehlo.slice %size [1:2] : (tensor<2xi64>) -> tensor<1xi64>
       %last = stablehlo.subtract %s, %one : tensor<1xi64>
       %first = stablehlo.minimum %last, %one : tensor<1xi64>
       %end = stablehlo.add %first, %one : tensor<1xi64>
       %ends = stablehlo.concatenate %n, %end, dim = 0 :
           (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
       %y = stablehlo.real_dynamic_slice %x, %zeros, %ends, %two :
           (tensor<?x?xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
           -> tensor<?x?xf32>
       return %y : tensor<?x?xf32>
     })",
     {{batch, length}},
     {0, 1, 2, 9}},
    {"the bits of open rows",
     "(" + argument("%x", {batch, length}) + R"() -> tensor<?x?xf32> {
       %h = stablehlo.bitcast_convert %x :
           (tensor<?x?xf32>) -> tensor<?x?x2xi16>
       %r = stablehlo.reverse %h, dims = [1] : tensor<?x?x2xi16>
       %b = stablehlo.bitcast_convert %r :
           (tensor<?x?x2xi16>) -> tensor<?x?xi32>
       %n = stablehlo.negate %b : tensor<?x?xi32>
       %f = stablehlo.bitcast_convert %b : (tensor<?x?xi32>) -> tensor<?x?xf32>
       return %f : tensor<?x?xf32>
     })",
     {{batch, length}},
     {0, 1, 5, 40}},
};

class DynamicSizes : public ::testing::TestWithParam<DynamicCase> {};

} // namespace

TEST_P(DynamicSizes, AreRunByOneProgram) {
  checkProgram(GetParam(), optionsWithoutMatrixUnits());
}

// Tiles, and what is left of them, are others.
TEST_P(DynamicSizes, OfNarrowerVectors) {
  for (const cpu::Target &target : lesserTargets()) {
    cpu::CpuOptions options;
    options.target = target;
    checkProgram(GetParam(), options);
  }
}

INSTANTIATE_TEST_SUITE_P(Open, DynamicSizes, ::testing::ValuesIn(dynamicCases));

/// What is said of a model that is not compiled so.
static std::string whyClosed(const std::string &body) {
  if (!parseModel(body).entry())
    return "it does not parse";
  auto program = compileRaised(body);
  return program ? "" : program.error().message();
}

TEST(ClosedSizes, AreSaidWithTheReason) {
  const std::string window = whyClosed("(" + argument("%x", {1, 1, length}) +
                                       R"() -> tensor<1x1x1xf32> {
         %y = stablehlo.convolution(%x, %x)
             dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
             window = {lhs_dilate = [2], rhs_dilate = [2]}
             {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
             (tensor<1x1x?xf32>, tensor<1x1x?xf32>) -> tensor<1x1x1xf32>
         return %y : tensor<1x1x1xf32>
       })");
  EXPECT_EQ(window, "stablehlo.convolution has no kernel for dynamic shapes");
  const std::string chosen =
      whyClosed("(" + argument("%x", {batch, 8}) + ", " +
                argument("%s", {batch, 3}) + R"() -> tensor<?x8xf32> {
         %v = stablehlo.constant dense<0.0> : tensor<f32>
         %t = stablehlo.concatenate %s, %s, dim = 0 :
             (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
         %r = "stablehlo.select_and_scatter"(%x, %t, %v) <{
             window_dimensions = array<i64: 1, 3>,
             window_strides = array<i64: 1, 2>}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %c = stablehlo.compare GE, %a, %b :
               (tensor<f32>, tensor<f32>) -> tensor<i1>
           stablehlo.return %c : tensor<i1>
         }, {
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %c = stablehlo.add %a, %b : tensor<f32>
           stablehlo.return %c : tensor<f32>
         }) : (tensor<?x8xf32>, tensor<?x3xf32>, tensor<f32>)
            -> tensor<?x8xf32>
         return %r : tensor<?x8xf32>
       })");
  EXPECT_EQ(chosen, "it would be for sizes only where dimension 0 of operand 1 "
                    "(2*N) == dimension 0 of operand 0 (N)");
  // Only what has no elements has twice as many.
  const std::string none =
      whyClosed("(" + argument("%x", {batch}) + R"() -> tensor<?xf32> {
         %v = nn.shape %x : (tensor<?xf32>) -> tensor<1xi64>
         %n = stablehlo.add %v, %v : tensor<1xi64>
         %z = stablehlo.constant dense<0> : tensor<1xi64>
         %one = stablehlo.constant dense<1> : tensor<1xi64>
         %y = stablehlo.real_dynamic_slice %x, %z, %n, %one :
             (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
             -> tensor<?xf32>
         return %y : tensor<?xf32>
       })");
  EXPECT_EQ(none, "it would be for sizes only where 0 <= -1*N");
}

TEST(DynamicPrograms, CheckTheSizesThatTheyAreGiven) {
  auto program = compileRaised("(" + argument("%x", {batch, length}) + ", " +
                               argument("%y", {batch, 4}) +
                               R"() -> (tensor<?x?xf32>, tensor<?x4xf32>) {
         %a = stablehlo.negate %x : tensor<?x?xf32>
         %b = stablehlo.negate %y : tensor<?x4xf32>
         return %a, %b : tensor<?x?xf32>, tensor<?x4xf32>
       })");
  ASSERT_TRUE(program) << program.error().message();
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(executor);
  auto run = [&](const Shape &x, const Shape &y) {
    Tensor inputs[] = {Tensor(ElementType::F32, x),
                       Tensor(ElementType::F32, y)};
    auto done = (*executor)->run(inputs);
    return done ? std::string() : done.error().message();
  };
  EXPECT_EQ(run({2, 3}, {2, 4}), "");
  EXPECT_EQ(run({2, 3}, {3, 4}),
            "dimension 0 of input 'arg1' is N, which is 2 by the other inputs, "
            "not 3");
  EXPECT_NE(run({2, 3}, {2, 5}).find("expected ?x4xf32, given 2x5xf32"),
            std::string::npos)
      << run({2, 3}, {2, 5});
  EXPECT_EQ(run({5, 1}, {5, 4}), "");
}

/// A step of a recurrent layer: the product is of known sizes, and what is
/// added to it a part of a tensor that is not.
TEST(DynamicPrograms, AddPartsOfDynamicTensorsToKnownProducts) {
  const std::string body = "(" + argument("%x", {length, 6, 8}) + ", " +
                           argument("%h", {6, 2}) + ", " + argument("%p", {1}) +
                           R"() -> tensor<6x8xf32> {
    %i = stablehlo.iota dim = 0 : tensor<8x2xf32>
    %w = stablehlo.sine %i : tensor<8x2xf32>
    %two = stablehlo.constant dense<2.0> : tensor<1xf32>
    %q = stablehlo.multiply %p, %two : tensor<1xf32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.reshape %q : (tensor<1xf32>) -> tensor<f32>
    %n = stablehlo.convert %r : (tensor<f32>) -> tensor<i32>
    %s = stablehlo.dynamic_slice %x, %n, %z, %z, sizes = [1, 6, 8] :
        (tensor<?x6x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>)
        -> tensor<1x6x8xf32>
    %t = stablehlo.reshape %s : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
    %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] :
        (tensor<6x2xf32>, tensor<8x2xf32>) -> tensor<6x8xf32>
    %a = stablehlo.add %t, %y : tensor<6x8xf32>
    return %a : tensor<6x8xf32>
  })";
  Model model = parseModel(body);
  ASSERT_TRUE(model.entry());
  auto program = compileRaised(body);
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(executor) << executor.error().message();
  for (int64_t s : {1, 5, 2}) {
    std::vector<Tensor> inputs = {Tensor(ElementType::F32, {s, 6, 8}),
                                  Tensor(ElementType::F32, {6, 2}),
                                  Tensor(ElementType::F32, {1})};
    for (auto [i, input] : llvm::enumerate(inputs))
      fillRandom(input, i + 1);
    auto expected = interpret(model.entry(), inputs);
    ASSERT_TRUE(expected) << expected.error().message();
    auto got = (*executor)->run(inputs);
    ASSERT_TRUE(got) << got.error().message();
    expectClose((*got)[0], (*expected)[0]);
  }
}

/// A size that is computed in f32 is a multiple only as far as that holds it.
TEST(DynamicPrograms, RepeatAsManyElementsAsFloatsCount) {
  const std::string body =
      "(" + argument("%x", {batch, length}) + R"() -> tensor<?x?xf32> {
    %y = nn.resize %x, scales = [1.0, 3.0], "nearest", "asymmetric", "floor"
        {exclude_outside = false, antialias = false} :
        (tensor<?x?xf32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  })";
  Model model = parseModel(body);
  ASSERT_TRUE(model.entry());
  auto program = compileRaised(body);
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(executor) << executor.error().message();
  for (int64_t s : {4, 1, 0}) {
    std::vector<Tensor> inputs = {Tensor(ElementType::F32, {2, s})};
    fillRandom(inputs[0], 1);
    auto expected = interpret(model.entry(), inputs);
    ASSERT_TRUE(expected) << expected.error().message();
    auto got = (*executor)->run(inputs);
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_TRUE(isSame((*got)[0], (*expected)[0])) << s;
  }
  std::vector<Tensor> large = {Tensor(ElementType::F32, {1, 5592407})};
  auto got = (*executor)->run(large);
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message().find("must be at most 16777216 + -3*S"),
            std::string::npos)
      << got.error().message();
}

TEST(DynamicPrograms, KeepStatesAndMemoryOverSizes) {
  auto program = compileRaised("(" + argument("%x", {batch, 3}) + R"(,
        %s: tensor<2xf32> {sinter.state = "count",
                           sinter.initial = dense<[1.0, 5.0]> : tensor<2xf32>})
       -> (tensor<?x3xf32>, tensor<2xf32> {sinter.state = "count"}) {
         %one = stablehlo.constant dense<1.0> : tensor<2xf32>
         %n = stablehlo.add %s, %one : tensor<2xf32>
         %y = stablehlo.negate %x : tensor<?x3xf32>
         return %y, %n : tensor<?x3xf32>, tensor<2xf32>
       })");
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  ProgramExecutorOptions options;
  options.most = {{"N", 100}};
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1), options);
  ASSERT_TRUE(executor) << executor.error().message();
  ASSERT_EQ((*executor)->states().size(), 1u);
  float count = 1;
  for (int64_t n : {2, 100, 0, 7}) {
    EXPECT_EQ((*executor)->state(0).at<float>(0), count++);
    Tensor input(ElementType::F32, {n, 3});
    fillRandom(input, 1);
    ASSERT_TRUE((*executor)->run(std::span(&input, 1)));
    EXPECT_EQ((*executor)->state(0).at<float>(1), count + 4);
  }
  (*executor)->resetStates();
  EXPECT_EQ((*executor)->state(0).at<float>(0), 1);
}

/// Of what follows from sizes that are bounded, too.
TEST(DynamicPrograms, TakeTheMemoryOfTheLargestSizesBefore) {
  auto program =
      compileRaised("(" + argument("%x", {batch, length}) + ", " +
                    argument("%y", {batch, length}) + R"() -> tensor<?x?xf32> {
         %z = stablehlo.constant dense<0.0> : tensor<f32>
         %w = "stablehlo.reduce_window"(%x, %z) <{
             window_dimensions = array<i64: 1, 3>,
             window_strides = array<i64: 1, 2>}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %c = stablehlo.add %a, %b : tensor<f32>
           stablehlo.return %c : tensor<f32>
         }) : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
         %s = "stablehlo.sort"(%w) <{dimension = 1 : i64}> ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %c = stablehlo.compare LT, %a, %b :
               (tensor<f32>, tensor<f32>) -> tensor<i1>
           stablehlo.return %c : tensor<i1>
         }) : (tensor<?x?xf32>) -> tensor<?x?xf32>
         return %s : tensor<?x?xf32>
       })");
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  ASSERT_FALSE(program->dynamic->following.empty());
  auto shared = std::make_shared<const Program>(std::move(*program));
  auto create = [&](int64_t n, int64_t s) {
    ProgramExecutorOptions options;
    options.most = {{"N", n}, {"S", s}};
    return ProgramExecutor::create(shared, std::make_shared<ThreadPool>(1),
                                   options);
  };
  auto tooLarge = create(1, int64_t(1) << 42);
  ASSERT_FALSE(tooLarge);
  EXPECT_NE(tooLarge.error().message().find("at the largest sizes all"),
            std::string::npos)
      << tooLarge.error().message();
  // Windows of three do not fit there: it is found out when it is run.
  EXPECT_TRUE(create(5, 0));
  auto executor = create(5, 40);
  ASSERT_TRUE(executor) << executor.error().message();
  for (auto [n, s] : {std::pair(5, 40), {1, 3}, {2, 17}}) {
    std::vector<Tensor> inputs(2, Tensor(ElementType::F32, {n, s}));
    fillRandom(inputs[0], 1);
    auto got = (*executor)->run(inputs);
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_EQ((*got)[0].shape(), Shape({n, (s - 3) / 2 + 1}));
  }
}

/// Keys and values of all tokens so far are inputs, and with those of one more
/// token outputs: the inputs of the next run.
TEST(DynamicPrograms, DecodeTokenByToken) {
  const std::string body =
      "(" + argument("%x", {1, 1, 2, 16}) + ", " +
      argument("%past", {1, 2, length, 16}) +
      R"() -> (tensor<1x2x1x16xf32>, tensor<1x2x?x16xf32>) {
       %q = stablehlo.transpose %x, dims = [0, 2, 1, 3] :
           (tensor<1x1x2x16xf32>) -> tensor<1x2x1x16xf32>
       %k = stablehlo.concatenate %past, %q, dim = 2 :
           (tensor<1x2x?x16xf32>, tensor<1x2x1x16xf32>) -> tensor<1x2x?x16xf32>
       %t = stablehlo.transpose %k, dims = [0, 1, 3, 2] :
           (tensor<1x2x?x16xf32>) -> tensor<1x2x16x?xf32>
       %s = stablehlo.dot_general %q, %t, batching_dims = [0, 1] x [0, 1],
           contracting_dims = [3] x [2] :
           (tensor<1x2x1x16xf32>, tensor<1x2x16x?xf32>) -> tensor<1x2x1x?xf32>
       %w = nn.softmax %s, axes = [3] : tensor<1x2x1x?xf32>
       %o = stablehlo.dot_general %w, %k, batching_dims = [0, 1] x [0, 1],
           contracting_dims = [3] x [2] :
           (tensor<1x2x1x?xf32>, tensor<1x2x?x16xf32>) -> tensor<1x2x1x16xf32>
       return %o, %k : tensor<1x2x1x16xf32>, tensor<1x2x?x16xf32>
     })";
  Model model = parseModel(body);
  ASSERT_TRUE(model.entry());
  auto program = compileRaised(body);
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(2));
  ASSERT_TRUE(executor);
  Tensor past(ElementType::F32, {1, 2, 0, 16});
  for (int64_t token = 0; token < 70; ++token) {
    SCOPED_TRACE("token " + std::to_string(token));
    std::vector<Tensor> inputs = {Tensor(ElementType::F32, {1, 1, 2, 16}),
                                  past};
    fillRandom(inputs[0], token);
    auto expected = interpret(model.entry(), inputs);
    ASSERT_TRUE(expected) << expected.error().message();
    auto got = (*executor)->run(inputs);
    ASSERT_TRUE(got) << got.error().message();
    expectClose((*got)[0], (*expected)[0]);
    ASSERT_TRUE(isSame((*got)[1], (*expected)[1]));
    past = (*got)[1];
  }
}
