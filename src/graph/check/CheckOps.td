//===- CheckOps.td - self-checks of test programs -------------------------===//

#ifndef SINTER_GRAPH_CHECK_CHECKOPS
#define SINTER_GRAPH_CHECK_CHECKOPS

include "graph/stablehlo/StablehloBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::sinter::check";
  let summary = "Expectations in self-checking programs";
  let description = [{
    The public test programs of StableHLO check their values with these
    operations. A check that fails ends the run with an error.
    runtime/Comparison.h defines each kind of comparison.
  }];
  let usePropertiesForAttributes = 1;
}

class Check_Op<string mnemonic, list<Trait> traits = []> :
    Op<Check_Dialect, mnemonic, traits>;

def Check_ExpectEqOp : Check_Op<"expect_eq", [SameTypeOperands]> {
  let summary = "The values are equal; NaN equals nothing";
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Check_ExpectEqConstOp :
    Check_Op<"expect_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "The values are those of the constant; NaN equals nothing";
  let arguments = (ins Stablehlo_Tensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [SameTypeOperands]> {
  let summary = "The values differ by the tolerance at most";
  let arguments = (ins
    Stablehlo_FloatComplexTensor:$lhs, Stablehlo_FloatComplexTensor:$rhs,
    DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` type($lhs)
  }];
}

def Check_ExpectAlmostEqConstOp :
    Check_Op<"expect_almost_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "The values differ from the constant by the tolerance at most";
  let arguments = (ins
    Stablehlo_FloatComplexTensor:$lhs, ElementsAttr:$value,
    DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = [{
    $lhs `,` $value (`,` `tolerance` `=` $tolerance^)? attr-dict
  }];
}

def Check_ExpectCloseOp :
    Check_Op<"expect_close", [AllTypesMatch<["actual", "expected"]>]> {
  let summary = "The values are within a distance in ULP";
  let description = [{
    The number of representable values from one to the other (units in the last
    place) is at least min_ulp_difference and at most max_ulp_difference.
  }];
  let arguments = (ins
    Stablehlo_FloatComplexTensor:$actual, Stablehlo_FloatComplexTensor:$expected,
    DefaultValuedAttr<UI64Attr, "1">:$max_ulp_difference,
    DefaultValuedOptionalAttr<UI64Attr, "0">:$min_ulp_difference);
  let assemblyFormat = [{
    $actual `,` $expected `,` `max_ulp_difference` `=` $max_ulp_difference
    (`,` `min_ulp_difference` `=` $min_ulp_difference^)?
    `:` attr-dict type($actual) `,` type($expected)
  }];
}

def Check_ExpectSerializedEqOp : Check_Op<"expect_serialized_eq"> {
  let summary = "The values are what a probe has written";
  let description = [{
    `iter` counts the times that interpreter.probe has run with this id, from 0.
  }];
  let arguments = (ins
    Stablehlo_Tensor:$expected, StrAttr:$probe_id,
    DefaultValuedOptionalAttr<UI32Attr, "0">:$iteration);
  let assemblyFormat = [{
    $expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iteration^)?
    attr-dict `:` type($expected)
  }];
}

#endif // SINTER_GRAPH_CHECK_CHECKOPS
