//===- DilatedRows.cpp - dilated convolutions as dense ones ---------------===//

#include "backend/cpu/layout/DilatedRows.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

static nn::Size partsOf(TensorBuilder &emit, const nn::Size &size, int64_t of) {
  return emit.quotient(emit.sum(size, of - 1), of);
}

DilatedRows::DilatedRows(TensorBuilder &emit, Value blocked, int64_t dilation)
    : dilation(dilation), images(nn::Size::of(blocked, 0)),
      height(nn::Size::of(blocked, 2)), width(nn::Size::of(blocked, 3)),
      rows(partsOf(emit, height, dilation)),
      columns(partsOf(emit, width, dilation)) {}

Value DilatedRows::resized(TensorBuilder &emit, Value x, int64_t dimension,
                           const nn::Size &size, int64_t most) {
  const nn::Size now = nn::Size::of(x, dimension);
  if (!now.isKnown() || !size.isKnown()) {
    return emit.slice(emit.padEnd(x, dimension, most), dimension, 0, size);
  }
  const int64_t missing = size.known() - now.known();
  return missing < 0 ? emit.slice(x, dimension, 0, size)
                     : emit.padEnd(x, dimension, missing);
}

Value DilatedRows::apart(TensorBuilder &emit, Value blocked) const {
  const nn::Sizes sizes = emit.sizes(blocked);
  const nn::Size d = dilation, blocks = sizes[1], lanes = sizes[4];
  Value x = resized(emit, blocked, 2, emit.product(rows, d), dilation - 1);
  x = resized(emit, x, 3, emit.product(columns, d), dilation - 1);
  x = emit.reshape(x, {images, blocks, rows, d, columns, d, lanes});
  x = emit.transpose(x, {0, 1, 3, 5, 2, 4, 6});
  x = emit.padEnd(x, 4, 1);
  return emit.reshape(x, {images, blocks,
                          emit.product(emit.sum(rows, 1), dilation * dilation),
                          columns, lanes});
}

Value DilatedRows::together(TensorBuilder &emit, Value blocked) const {
  const nn::Sizes sizes = emit.sizes(blocked);
  const nn::Size d = dilation, blocks = sizes[1], lanes = sizes[4];
  Value x = emit.reshape(
      blocked, {images, blocks, d, d, emit.sum(rows, 1), columns, lanes});
  x = emit.slice(x, 4, 0, rows);
  x = emit.transpose(x, {0, 1, 4, 2, 5, 3, 6});
  x = emit.reshape(x, {images, blocks, emit.product(rows, d),
                       emit.product(columns, d), lanes});
  x = resized(emit, x, 2, height, 0);
  return resized(emit, x, 3, width, 0);
}

} // namespace sinter::cpu
