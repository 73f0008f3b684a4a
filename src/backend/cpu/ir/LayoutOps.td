//===- LayoutOps.td - operations on activations blocked by channel --------===//
//
// An activation [N, C, H, W] becomes [N, CB, H, W, L]: CB blocks of L channels,
// L being the number of f32 lanes of a vector. The lanes of the last block
// beyond channel C are undefined, and never read.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_IR_LAYOUTOPS
#define SINTER_BACKEND_CPU_IR_LAYOUTOPS

include "graph/interfaces/Interfaces.td"

def Cpu_PackOp :
    Cpu_Op<"pack", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "[N, C, H, W] to the blocked layout";
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_UnpackOp :
    Cpu_Op<"unpack", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "The blocked layout back to [N, C, H, W]";
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_ConvolutionOp :
    Cpu_Op<"convolution", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Convolution with a blocked result";
  let description = [{
    The weights are [K, C / groups, R, S] or, with `packed_from`, which then has
    that shape, in the kernel's packed layout. The input is blocked or, for the
    few channels of an image, [N, C, H, W]. Lists are [height, width].

    Padding after the last row and column follows from the result's size; if
    that is dynamic, it is `padding_high`, and the cost model assumes the
    result's [height, width] to be `estimated_area`.

    An int8 input, possibly in 16-bit lanes, has the zero point `zero_point` or,
    if it is there, `zero`, a tensor of one element. It is multiplied by int8
    weights and accumulated in i32; a depthwise convolution multiplies by f32
    and accumulates in f32. A bf16 input has bf16 weights, or f32 ones if
    depthwise, and accumulates in f32. An f32 input may have weights of f16,
    bf16 or i8, or of i4 if channels and blocks are multiples of eight, or
    divide eight.

    With `fast`, Winograd's method may be used. For floats it changes results by
    about 1e-5 of the largest; for int8 the attribute means that no sum of 3x3
    products exceeds 26 bits, so that results are exact.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weights,
                       Optional<AnyRankedTensor>:$zero,
                       I64Attr:$output_channels, I64Attr:$groups,
                       OptionalAttr<DenseI64ArrayAttr>:$packed_from,
                       UnitAttr:$fast,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$padding_low,
                       DefaultValuedAttr<I64Attr, "0">:$zero_point,
                       OptionalAttr<DenseI64ArrayAttr>:$padding_high,
                       OptionalAttr<DenseI64ArrayAttr>:$estimated_area);
  let results = (outs AnyRankedTensor:$result);
  let extraClassDeclaration = [{
    bool hasPlanarInput() {
      return ::mlir::cast<::mlir::RankedTensorType>(getInput().getType())
                 .getRank() == 4;
    }
    /// K, C / groups, R, S.
    ::llvm::ArrayRef<int64_t> kernelShape() {
      if (auto shape = getPackedFrom())
        return *shape;
      return ::mlir::cast<::mlir::RankedTensorType>(getWeights().getType())
          .getShape();
    }
    ::mlir::LogicalResult verifyElements();
    /// Whether eight neighbours along the reduction are in one block, or are
    /// whole blocks.
    bool takesGroupsOfEight() {
      const int64_t lanes =
          ::mlir::cast<::mlir::RankedTensorType>(getResult().getType())
              .getShape()
              .back();
      return !hasPlanarInput() && kernelShape()[1] % 8 == 0 &&
             (lanes % 8 == 0 || 8 % lanes == 0);
    }
    /// As many groups as input and output channels.
    bool isDepthwise() {
      return kernelShape()[1] == 1 && !hasPlanarInput() &&
             static_cast<int64_t>(getGroups()) == kernelShape()[0];
    }
  }];
  let hasVerifier = 1;
}

def Cpu_Int8ProductOp :
    Cpu_Op<"int8_product", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "int8 matmul by constant weights, accumulated in i32";
  let description = [{
    Contracts the last dimensions of `lhs`, of int8, possibly in 16-bit lanes,
    with dimensions `contracting` of `weights`, a constant of signed int8; the
    result has the other dimensions of both. Accumulators wrap.

    Example: `cpu.int8_product(%x, %w) {contracting = array<i64: 0>}` of
    128x768xui8 and 768x3072xi8 is 128x3072xi32.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$weights,
                       DenseI64ArrayAttr:$contracting);
  let results = (outs AnyRankedTensor:$result);
  let extraClassDeclaration = [{
    /// The contracting dimensions of `lhs`.
    ::llvm::SmallVector<int64_t> lhsContracting();
  }];
  let hasVerifier = 1;
}

def Cpu_ZeroPointProductOp :
    Cpu_Op<"zero_point_product", [Pure, AttrSizedOperandSegments,
                                DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "int8 matmul with run-time zero points";
  let description = [{
    The operands, of int8, have the zero points `lhs_zero` and `rhs_zero`,
    tensors of one i32 element, or 0 without them. With `turned`, the sign bit
    of `rhs` is flipped first, which changes its signedness. Either operand may
    be in 16-bit lanes; then `rhs` is not flipped. The lists are those of
    dot_general. Accumulators are i32, and wrap.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
                       Optional<AnyRankedTensor>:$lhs_zero,
                       Optional<AnyRankedTensor>:$rhs_zero,
                       DenseI64ArrayAttr:$lhs_batching,
                       DenseI64ArrayAttr:$rhs_batching,
                       DenseI64ArrayAttr:$lhs_contracting,
                       DenseI64ArrayAttr:$rhs_contracting,
                       UnitAttr:$turned);
  let results = (outs AnyRankedTensor:$result);
  let extraClassDeclaration = [{
    /// Operand 0 or 1.
    ::sinter::stablehlo::ProductSide getSide(unsigned side);
    /// The element type of `rhs` after flipping.
    ::mlir::IntegerType multipliedRhs();
  }];
  let hasVerifier = 1;
}

def Cpu_LowBitProductOp :
    Cpu_Op<"low_bit_product", [Pure, AttrSizedOperandSegments,
                              DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Matmul by low-bit weights, accumulated in f32";
  let description = [{
    Contracts the last dimensions of `lhs`, of f32, or of bf16 by bf16 weights
    without scales, with dimensions `contracting` of `weights`, a constant; the
    result has the other dimensions of both. The value of a weight is (element -
    zero) * scale: `scales` and `zeros`, if present, are [blocks, columns], one
    for `block` neighbours along the contracted dimensions. Without both,
    `block` is 0. If `columns` is not 0, that many neighbouring columns of a row
    share a scale and zero: `block` is 1, and both are [rows, blocks].

    Example: `cpu.low_bit_product(%x, %w, %s) {contracting = array<i64: 0>,
    block = 32 : i64}` of 1x768xf32, 768x3072xi4 and 24x3072xf32 is 1x3072xf32.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$weights,
                       Optional<AnyRankedTensor>:$scales,
                       Optional<AnyRankedTensor>:$zeros,
                       DenseI64ArrayAttr:$contracting, I64Attr:$block,
                       DefaultValuedAttr<I64Attr, "0">:$columns);
  let results = (outs AnyRankedTensor:$result);
  let extraClassDeclaration = [{
    /// The contracting dimensions of `lhs`.
    ::llvm::SmallVector<int64_t> lhsContracting();
    /// The divisor of `columns`, which makes whole vectors on every machine.
    static constexpr int64_t columnUnit = 16;
  }];
  let hasVerifier = 1;
}

class Cpu_TermsOp<string name> :
    Cpu_Op<name, [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let arguments = (ins AnyRankedTensor:$operand, I64Attr:$images, I64Attr:$rows,
                       I64Attr:$columns, I64Attr:$width, I64Attr:$tile_rows,
                       I64Attr:$unit_rows, DenseI64ArrayAttr:$border,
                       I64Attr:$beyond);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_SplitTermsOp : Cpu_TermsOp<"split_terms"> {
  let summary = "f32 split into bf16 terms for AMX";
  let description = [{
    The operand is a matrix, or one per image, with the channels as columns and
    images of `width` pixels; the result is bytes in the layout of
    kernels/amx/TileTerms.h: the split terms of all rows, surrounded by a
    `border` of zeros (rows and columns of pixels: above, left, below, right),
    one word per tile of `tile_rows` of every `unit_rows`, and room for `beyond`
    more rows. If sizes are dynamic, images, rows and widths are those of the
    matmul or convolution, not the attributes. Only kernels interpret the bytes;
    the interpreter uses the operand's bits and zeros.
  }];
}

def Cpu_RecombineTermsOp : Cpu_TermsOp<"recombine_terms"> {
  let summary = "f32 from the terms of split_terms";
  let description = [{
    A matmul kernel reads the split terms directly.
  }];
}

def Cpu_MinMaxOp :
    Cpu_Op<"min_max", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Minima and maxima of each lane, in rows";
  let description = [{
    The last dimension of the operand is lanes; its kernel stores it. The
    results have rows of one minimum or maximum per lane. Which elements a row
    covers is up to the kernel: those of a task are in one or more rows. In the
    interpreter each row covers all.
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$least, AnyRankedTensor:$greatest);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_LookupOp :
    Cpu_Op<"lookup", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "256-entry look-up table of an int8 tensor";
  let description = [{
    The table has an element of the result's type, int8 as well, for each of the
    256 bytes by their bits: the entry for -1 is the last.
  }];
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat =
      "$operand `,` $table attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_PoolOp :
    Cpu_Op<"pool", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Max or average pooling";
  let description = [{
    `kind` is "max", "average_window" (divided by the window's size) or
    "average_present" (divided by its size without padding). Elements are f32,
    or int8, possibly in 16-bit lanes: maxima are int8, means are f32, relative
    to `zero_point`. For f16 and bf16 both are f32. Other types are converted
    before and after. If sizes are dynamic, `padding_high` is the padding after
    the last row and column.
  }];
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$kind,
                       DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$padding_low,
                       DefaultValuedAttr<I64Attr, "0">:$zero_point,
                       OptionalAttr<DenseI64ArrayAttr>:$padding_high);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def Cpu_WeightGradientOp :
    Cpu_Op<"weight_gradient", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Partial sums of the gradient of convolution weights";
  let description = [{
    For each input channel, output channel and kernel position the sum, over the
    pixels of `gradient`, of the input's pixel at that position times the
    gradient's. Both are blocked; the result is [parts, K / L, C / L, R, S, L,
    L], with input channels before output channels. Each part is the sum over an
    equal number of images (the last of fewer, if need be; if the number is
    dynamic, the last parts may have none). Strides, dilations and padding are
    the convolution's, [height, width].
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$gradient,
                       I64Attr:$input_channels, I64Attr:$output_channels,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$padding_low);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def Cpu_DepthwiseGradientOp :
    Cpu_Op<"depthwise_gradient", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Each image's share of the gradient of depthwise weights";
  let description = [{
    For each kernel position the sum, over the pixels of `gradient`, of the
    input's pixel at that position times the gradient's; all blocked. The result
    is [N, C / L, R, S, L]. Strides, dilations and padding are the
    convolution's, [height, width].
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$gradient,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$padding_low);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def Cpu_AttentionOp :
    Cpu_Op<"attention", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "nn.attention on tensors in any dimension order";
  let description = [{
    `query_dims` and its like map the dimensions of nn.attention to those of the
    operand (or result). The last ones of value and result stay the last; one of
    the key's last two stays the last.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, Optional<AnyRankedTensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal, UnitAttr:$chosen,
                       DenseI64ArrayAttr:$query_dims,
                       DenseI64ArrayAttr:$key_dims,
                       DenseI64ArrayAttr:$value_dims,
                       DenseI64ArrayAttr:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

#endif // SINTER_BACKEND_CPU_IR_LAYOUTOPS
