//===- LayoutOps.td - operations on activations blocked by channel --------===//
//
// An activation [N, C, H, W] becomes [N, CB, H, W, L]: CB blocks of L channels,
// L being the number of f32 lanes of a vector. The lanes of the last block
// beyond channel C hold anything and are read by nobody.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_IR_LAYOUTOPS
#define SINTER_BACKEND_CPU_IR_LAYOUTOPS

include "graph/interfaces/Interfaces.td"

def Cpu_PackOp :
    Cpu_Op<"pack", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "[N, C, H, W] to blocks of channels";
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_UnpackOp :
    Cpu_Op<"unpack", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Blocks of channels back to [N, C, H, W]";
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_ConvolutionOp :
    Cpu_Op<"convolution", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Convolution into blocks of channels";
  let description = [{
    The weights are [K, C / groups, R, S]; where `packed_from` says that they
    were, they lie as the kernel reads them. The input is blocked or, for the
    few channels of an image, [N, C, H, W]. Lists are [height, width];
    how much padding stands after the last row and column follows from the
    result's size, and is `padding_high` where that is not known; times are
    estimated for `estimated_area`, the result's [height, width], then. Bytes count as their distances from `zero_point`, or from
    `zero`, one element like theirs, where that is there; they, or the words of i16 that hold them, are multiplied by
    bytes and summed in i32, or channel by channel by f32 and summed in that. An
    input of bf16 is multiplied by bf16 and summed in f32, or channel by channel by f32. An
    input of f32 may have weights of f16, bf16 or i8, or of i4 where channels and
    blocks come in eights, or in parts of eight. With `fast`, products may
    be replaced by fewer ones of sums (Winograd), which changes results of
    floats by about 1e-5 of the greatest; of bytes it says that no sum of 3x3
    products leaves 26 bits, so that results stay exact.
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
    /// Whether eight neighbours of what is summed up are in one block, or are
    /// whole ones.
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

def Cpu_ByteProductOp :
    Cpu_Op<"byte_product", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "dot_general of bytes, summed in i32";
  let description = [{
    The last dimensions of `lhs`, of bytes or the words of i16 that hold them, are contracted with dimensions `contracting` of
    `weights`, a constant of signed bytes; the result has what is left of both.
    Sums wrap.

    Example: `cpu.byte_product(%x, %w) {contracting = array<i64: 0>}` of
    128x768xui8 and 768x3072xi8 is 128x3072xi32.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$weights,
                       DenseI64ArrayAttr:$contracting);
  let results = (outs AnyRankedTensor:$result);
  let extraClassDeclaration = [{
    /// The dimensions of `lhs` that are contracted.
    ::llvm::SmallVector<int64_t> lhsContracting();
  }];
  let hasVerifier = 1;
}

def Cpu_DistanceProductOp :
    Cpu_Op<"distance_product", [Pure, AttrSizedOperandSegments,
                                DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "dot_general of the distances of bytes from two numbers";
  let description = [{
    Bytes count as their distances from `lhs_zero` and `rhs_zero`, one element
    of i32 each, or from 0 where that is not there. With `turned`, the highest bit of the bytes of `rhs`
    is turned before, which are of the other sign then. The bytes of either may be words of i16 that hold them; those of `rhs` are not turned then. The lists are those of
    dot_general. Sums are of 32 bits, and wrap.
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
    /// What elements of `rhs` are once they are turned.
    ::mlir::IntegerType multipliedRhs();
  }];
  let hasVerifier = 1;
}

def Cpu_NarrowProductOp :
    Cpu_Op<"narrow_product", [Pure, AttrSizedOperandSegments,
                              DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "dot_general by weights of fewer bits, summed in f32";
  let description = [{
    The last dimensions of `lhs`, of f32, or of bf16 by weights of bf16 without
    numbers of blocks, are contracted with dimensions `contracting` of
    `weights`, a constant; the result has what is left of both. An element of
    the weights stands for (element - zero) * scale: `scales` and `zeros`, where
    they are, are [blocks, columns], with `block` neighbours along what is
    contracted to one number. Where there are neither, `block` is 0. Where
    `columns` is not 0, so many neighbours among the columns of one row have a
    number in common: `block` is 1, and numbers are [rows, blocks].

    Example: `cpu.narrow_product(%x, %w, %s) {contracting = array<i64: 0>,
    block = 32 : i64}` of 1x768xf32, 768x3072xi4 and 24x3072xf32 is 1x3072xf32.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$weights,
                       Optional<AnyRankedTensor>:$scales,
                       Optional<AnyRankedTensor>:$zeros,
                       DenseI64ArrayAttr:$contracting, I64Attr:$block,
                       DefaultValuedAttr<I64Attr, "0">:$columns);
  let results = (outs AnyRankedTensor:$result);
  let extraClassDeclaration = [{
    /// The dimensions of `lhs` that are contracted.
    ::llvm::SmallVector<int64_t> lhsContracting();
    /// Of blocks of columns: as many make whole vectors of every machine.
    static constexpr int64_t columnUnit = 16;
  }];
  let hasVerifier = 1;
}

class Cpu_PartsOp<string name> :
    Cpu_Op<name, [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let arguments = (ins AnyRankedTensor:$operand, I64Attr:$images, I64Attr:$rows,
                       I64Attr:$columns, I64Attr:$width, I64Attr:$tile_rows,
                       I64Attr:$unit_rows, DenseI64ArrayAttr:$border,
                       I64Attr:$beyond);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_CutPartsOp : Cpu_PartsOp<"cut_parts"> {
  let summary = "f32 in the parts that matrix units multiply";
  let description = [{
    The operand is rows of columns, of one matrix or of each of some images
    whose channels are columns and which are `width` pixels wide; the result is
    bytes, as many as kernels/TileParts.h says: the parts of all rows, among
    zeros for so many rows and columns of pixels (`border`: above, on the left,
    below, on the right), words for tiles of `tile_rows` of every `unit_rows`,
    and room for `beyond` more rows. Where sizes are open, those of the product
    say what images, rows and widths there are, not the attributes. What these bytes are is known to kernels;
    for the oracle, the operand's bits and zeros.
  }];
}

def Cpu_JoinPartsOp : Cpu_PartsOp<"join_parts"> {
  let summary = "What cut_parts has cut";
  let description = [{
    A kernel of a product reads the parts as they are.
  }];
}

def Cpu_ExtremesOp :
    Cpu_Op<"extremes", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "The least and the greatest number of each lane, in rows";
  let description = [{
    The operand, whose last dimension are lanes, is what the kernel stores; the
    results are as many numbers as lanes a row. Which numbers a row stands for
    is the kernel's affair: those of a task are in one or more rows. For the
    oracle, each row stands for all.
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$least, AnyRankedTensor:$greatest);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_LookupOp :
    Cpu_Op<"lookup", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "What a table has for each byte";
  let description = [{
    The table has an element of the result's type, a byte as well, for each of
    the 256 bytes in the order of their bits: that for -1 is the last.
  }];
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat =
      "$operand `,` $table attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Cpu_PoolOp :
    Cpu_Op<"pool", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "The greatest or the mean element of each window";
  let description = [{
    `kind` is "max", "average_window" (divided by the window's size) or
    "average_present" (divided by how much of it lies in the operand). Elements
    are f32, or bytes, or the words of i16 that hold them: the greatest is one of them, means are f32, of their
    distances from `zero_point`. Of f16 and bf16 both are f32. Others are converted before and after.
    Where sizes are not known, `padding_high` says how much padding stands after the last row and column.
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
  let summary = "What parts of the images add to the gradient of weights";
  let description = [{
    For each input channel, output channel and tap of the window the sum, over
    the pixels of `gradient`, of the input's pixel under the tap times the
    gradient's. Both are blocked; the result is
    [parts, K / L, C / L, R, S, L, L], each part that of as many images (the
    last of fewer at times; of a number that is not known, the last ones of none
    at times), and of input channels before output channels. Strides, dilations and padding are
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
  let summary = "What each image adds to the gradient of depthwise weights";
  let description = [{
    For each tap of the window the sum, over the pixels of `gradient`, of the
    input's pixel under it times the gradient's; all blocked. The result is
    [N, C / L, R, S, L]. Strides, dilations and padding are the convolution's,
    [height, width].
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$gradient,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$padding_low);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def Cpu_AttentionOp :
    Cpu_Op<"attention", [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "nn.attention on tensors as they lie in memory";
  let description = [{
    `query_dims` and its like say which dimension of the operand (or result) each
    of nn.attention's is. The last ones of value and result stay the last, and
    one of the key's last two does.
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
