//===- ProgramTest.cpp - compiled graphs against the oracle ---------------===//
//
// Covers: backend/cpu/fusion CollapseDimensions FusionConditions FusionGroup
// Covers: backend/cpu/ir LayerName OperationKind
// Covers: backend/cpu/program Schedule ScheduleControlFlow ScheduleKernels
// Covers: backend/cpu/legalize Flatten
// Covers: backend/cpu/pipeline Prepare
// Covers: backend/cpu/program MemoryPlan

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter::test;

TEST(Program, AddsAndTakesTheMaximum) {
  EXPECT_EQ(differs(R"((%a: tensor<3x5xf32>, %b: tensor<3x5xf32>)
      -> tensor<3x5xf32> {
    %0 = stablehlo.add %a, %b : tensor<3x5xf32>
    %1 = stablehlo.maximum %0, %b : tensor<3x5xf32>
    return %1 : tensor<3x5xf32>
  })"),
            "");
}

TEST(Program, ReturnsAnInputAndAConstant) {
  EXPECT_EQ(differs(R"((%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xi32>) {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    return %a, %0 : tensor<3xf32>, tensor<2xi32>
  })"),
            "");
}
