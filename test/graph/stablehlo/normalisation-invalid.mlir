// RUN: sinter-opt %s -split-input-file -verify-diagnostics

func.func @batch_norm_inference_c3(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{(C3) scale is not one number a feature}}
  %r = "stablehlo.batch_norm_inference"(%x, %w, %v, %v, %v)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c1(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{(C1) feature_index is not a dimension of the operand}}
  %r = "stablehlo.batch_norm_inference"(%x, %w, %v, %v, %v)
      {epsilon = 0.1 : f32, feature_index = 2 : i64}
      : (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c2(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<3xf64>) {
  // expected-error@+1 {{(C2) (C3) scale has another element type than the operand}}
  %r = "stablehlo.batch_norm_inference"(%x, %w, %v, %v, %v)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c4(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{(C4) offset is not one number a feature}}
  %r = "stablehlo.batch_norm_inference"(%x, %v, %w, %v, %v)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c5(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{(C5) mean is not one number a feature}}
  %r = "stablehlo.batch_norm_inference"(%x, %v, %v, %w, %v)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_inference_c6(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{(C6) variance is not one number a feature}}
  %r = "stablehlo.batch_norm_inference"(%x, %v, %v, %v, %w)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_training_c3(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{(C3) scale is not one number a feature}}
  %r:3 = "stablehlo.batch_norm_training"(%x, %w, %v)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_training_c1(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{(C1) feature_index is not a dimension of the operand}}
  %r:3 = "stablehlo.batch_norm_training"(%x, %w, %v)
      {epsilon = 0.1 : f32, feature_index = 2 : i64}
      : (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_training_c2(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<3xf64>) {
  // expected-error@+1 {{(C2) (C3) scale has another element type than the operand}}
  %r:3 = "stablehlo.batch_norm_training"(%x, %w, %v)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_training_c4(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{(C4) offset is not one number a feature}}
  %r:3 = "stablehlo.batch_norm_training"(%x, %v, %w)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c1(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>, %g: tensor<2x4xf32>, %h: tensor<2x3xf64>) {
  // expected-error@+1 {{(C1) feature_index is not a dimension of the operand}}
  %r:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %x)
      {epsilon = 0.1 : f32, feature_index = 2 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c2(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>, %g: tensor<2x4xf32>, %h: tensor<2x3xf64>) {
  // expected-error@+1 {{(C2) grad_output has another element type than the operand}}
  %r:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %h)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf64>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c3(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>, %g: tensor<2x4xf32>, %h: tensor<2x3xf64>) {
  // expected-error@+1 {{(C3) grad_output has another shape than the operand}}
  %r:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %g)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c4(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>, %g: tensor<2x4xf32>, %h: tensor<2x3xf64>) {
  // expected-error@+1 {{(C4) mean is not one number a feature}}
  %r:3 = "stablehlo.batch_norm_grad"(%x, %v, %w, %v, %x)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_grad_c5(%x: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>, %g: tensor<2x4xf32>, %h: tensor<2x3xf64>) {
  // expected-error@+1 {{(C5) scale is not one number a feature}}
  %r:3 = "stablehlo.batch_norm_grad"(%x, %w, %v, %v, %x)
      {epsilon = 0.1 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
