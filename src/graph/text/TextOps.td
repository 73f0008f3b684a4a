//===- TextOps.td - tensors of strings ------------------------------------===//

#ifndef SINTER_GRAPH_TEXT_TEXTOPS
#define SINTER_GRAPH_TEXT_TEXTOPS

include "graph/stablehlo/StablehloBase.td"

def Text_Dialect : Dialect {
  let name = "text";
  let cppNamespace = "::sinter::text";
  let summary = "Strings as elements of tensors, and what computes with them";
  let description = [{
    An element of `tensor<...x!text.string>` is a text of any length: bytes,
    usually UTF-8. A constant of them is written `dense<["a", "b"]>`. Operations
    that move elements (`MovesElements`) move strings, too, and
    `stablehlo.compare` EQ and NE compares them; nothing else of `stablehlo` and
    `nn` takes them. What reads or makes texts is an operation here. Errors that
    depend on texts (a number that is none) are errors of the run.
  }];
  let useDefaultTypePrinterParser = 1;
  let usePropertiesForAttributes = 1;
}

def Text_String : TypeDef<Text_Dialect, "String"> {
  let mnemonic = "string";
  let summary = "A text";
}

def Text_Strings : Ranked<[Text_String], "tensor of strings">;
def Text_Keys : Ranked1D<[Text_String], "vector of strings">;
def Text_Numbers :
    Ranked<[Stablehlo_Float, Stablehlo_Pred, Stablehlo_Int],
           "tensor of numbers">;
def Text_Indices : RankedTensorOf<[I64]>;

/// Computes each element of the result from the elements at its place.
class Text_ElementwiseOp<string mnemonic> :
    Op<Text_Dialect, mnemonic, [Pure, Elementwise, SameOperandsAndResultShape]>;

def Text_FormatOp : Text_ElementwiseOp<"format"> {
  let summary = "Numbers as texts";
  let description = [{
    Integers in decimal, `i1` as 1 and 0. Floats with as few digits as tell them
    from others of their type, with a point (`0.5`, `1.0`) from 1e-4 to below
    1e16, else as `1e-05`; `nan`, `inf` and `-inf`.
  }];
  let arguments = (ins Text_Numbers:$operand);
  let results = (outs Text_Strings:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def Text_ParseOp : Text_ElementwiseOp<"parse"> {
  let summary = "Texts as numbers";
  let description = [{
    A float is written as in C (`1e-5`, `3.14`, `NaN`, `+INF`), rounded to the
    result's type; an integer in decimal digits with or without a sign; a
    boolean is an integer that is not 0. White space around it counts for
    nothing. Any other text, or an integer that the type does not have, is an
    error.
  }];
  let arguments = (ins Text_Strings:$operand);
  let results = (outs Text_Numbers:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def Text_ConcatOp : Text_ElementwiseOp<"concat"> {
  let summary = "The texts of both operands, one behind the other";
  let arguments = (ins Text_Strings:$lhs, Text_Strings:$rhs);
  let results = (outs Text_Strings:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
}

def Text_ChangeCaseOp : Text_ElementwiseOp<"change_case"> {
  let summary = "Texts in upper or lower case";
  let description = [{
    Each character by itself becomes its simple upper-case or lower-case one
    (Unicode's; towupper of C.UTF-8). The locale's language matters for Turkish
    and Azerbaijani, whose letters are i with and without a dot. Text that is no
    UTF-8 is an error.
  }];
  let arguments = (ins Text_Strings:$operand, BoolAttr:$upper, StrAttr:$locale);
  let results = (outs Text_Strings:$result);
  let assemblyFormat = [{
    $operand `upper` `=` $upper `locale` `=` $locale attr-dict
      `:` functional-type(operands, results)
  }];
}

def Text_FullMatchOp : Text_ElementwiseOp<"full_match"> {
  let summary = "Whether a regular expression matches the whole text";
  let description = "`pattern` is in RE2's syntax, of UTF-8.";
  let arguments = (ins Text_Strings:$operand, StrAttr:$pattern);
  let results = (outs Stablehlo_PredTensor:$result);
  let assemblyFormat = [{
    $operand `,` $pattern attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Text_RankOp :
    Op<Text_Dialect, "rank", [Pure, SameOperandsAndResultShape]> {
  let summary = "How many other texts among the elements are less";
  let description = [{
    Equal texts count once, so equal elements have equal ranks. Texts are
    ordered by their bytes, which is by code points for UTF-8.
  }];
  let arguments = (ins Text_Strings:$operand);
  let results = (outs Text_Indices:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def Text_FindOp : Op<Text_Dialect, "find", [Pure]> {
  let summary = "The index of the first key that is equal, or -1";
  let arguments = (ins Text_Strings:$operand, Text_Keys:$keys);
  let results = (outs Text_Indices:$result);
  let assemblyFormat = [{
    $operand `in` $keys attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Text_SplitOp : Op<Text_Dialect, "split", [Pure]> {
  let summary = "The parts of each text, and how many there are";
  let description = [{
    Parts lie between occurrences of `delimiter`; an empty one stands for white
    space of any length, and white space at both ends is no part. After `most`
    delimiters the rest is one part. The last dimension of the first result, the
    parts, is as long as the most parts of a text; what a text has less is
    empty. Its size depends on data.
  }];
  let arguments = (ins Text_Strings:$operand, StrAttr:$delimiter,
                       OptionalAttr<I64Attr>:$most);
  let results = (outs Text_Strings:$parts, Text_Indices:$counts);
  let assemblyFormat = [{
    $operand `by` $delimiter (`most` `=` $most^)? attr-dict
      `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SINTER_GRAPH_TEXT_TEXTOPS
