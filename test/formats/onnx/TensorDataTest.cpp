//===- TensorDataTest.cpp -------------------------------------------------===//
//
// Covers: formats/onnx/file DataFiller Payloads TensorData

#include "formats/onnx/file/TensorData.h"

#include <gtest/gtest.h>

#include "formats/onnx/TestModel.h"
#include "formats/onnx/file/DataTypes.h"
#include "runtime/Strings.h"

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx::test;

namespace {

TensorProto proto(int32_t type, std::initializer_list<int64_t> dims) {
  TensorProto tensor;
  tensor.set_data_type(type);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  return tensor;
}

/// The elements as integers, or the error.
std::string read(const TensorProto &tensor) {
  Result<Tensor> result = decodeTensor(tensor, {});
  if (!result)
    return errorOf(result);
  std::string text;
  for (int64_t i = 0; i < result->size(); ++i)
    text += (i ? " " : "") + std::to_string(result->toInteger(i));
  return text;
}

/// The error of reading \p tensor as the initialiser 'w' of a model, so that
/// its data are left in the file if they are large.
std::string readInModel(const TensorProto &tensor) {
  ModelProto model = addModel();
  *model.mutable_graph()->mutable_initializer(0) = tensor;
  model.mutable_graph()->mutable_initializer(0)->set_name("w");
  Result<OnnxFile> file = load(model);
  if (!file)
    return errorOf(file);
  return errorOf(file->tensorOf(file->model().graph().initializer(0)));
}

template <typename... Values>
TensorProto with32(TensorProto tensor, Values... values) {
  (tensor.add_int32_data(values), ...);
  return tensor;
}

} // namespace

TEST(TensorData, ReadsTypedFields) {
  EXPECT_EQ(read(with32(proto(TensorProto::INT32, {2}), -5, 7)), "-5 7");
  EXPECT_EQ(read(with32(proto(TensorProto::INT8, {2}), -128, 127)), "-128 127");
  EXPECT_EQ(read(with32(proto(TensorProto::UINT8, {2}), 0, 255)), "0 255");
  EXPECT_EQ(read(with32(proto(TensorProto::UINT16, {1}), 65535)), "65535");
  EXPECT_EQ(read(with32(proto(TensorProto::BOOL, {2}), 0, 2)), "0 1");
  EXPECT_EQ(read(with32(proto(TensorProto::FLOAT16, {1}), 0x4200)), "3");
  EXPECT_EQ(read(with32(proto(TensorProto::BFLOAT16, {1}), 0xc040)), "-3");
  EXPECT_EQ(read(with32(proto(TensorProto::FLOAT8E4M3FN, {1}), 0x40)), "2");
  EXPECT_EQ(read(with32(proto(TensorProto::INT4, {3}), 0x8f, 0x07)), "-1 -8 7");
  EXPECT_EQ(read(with32(proto(TensorProto::UINT4, {2}), 0x8f)), "15 8");
  EXPECT_EQ(read(with32(proto(TensorProto::INT2, {4}), 0xe4)), "0 1 -2 -1");
  TensorProto tensor = proto(TensorProto::INT64, {1});
  tensor.add_int64_data(INT64_MIN);
  EXPECT_EQ(read(tensor), "-9223372036854775808");
  tensor = proto(TensorProto::UINT32, {1});
  tensor.add_uint64_data(4294967295);
  EXPECT_EQ(read(tensor), "4294967295");
  tensor = proto(TensorProto::DOUBLE, {1});
  tensor.add_double_data(4);
  EXPECT_EQ(read(tensor), "4");
  tensor = proto(TensorProto::COMPLEX64, {1});
  tensor.add_float_data(5);
  tensor.add_float_data(6);
  EXPECT_EQ(read(tensor), "5");
}

TEST(TensorData, ReadsRawData) {
  TensorProto tensor = proto(TensorProto::INT4, {3});
  tensor.set_raw_data("\x8f\x07");
  EXPECT_EQ(read(tensor), "-1 -8 7");
  tensor = proto(TensorProto::BOOL, {3});
  tensor.set_raw_data(std::string("\0\1\x02", 3));
  EXPECT_EQ(read(tensor), "0 1 1");
  tensor = proto(TensorProto::INT16, {});
  tensor.set_raw_data("\xff\xff");
  EXPECT_EQ(read(tensor), "-1");
  EXPECT_EQ(read(proto(TensorProto::FLOAT, {0, 5})), "");
}

TEST(TensorData, LargeTypedFieldsStayInTheFile) {
  TensorProto numbers = proto(TensorProto::INT64, {1000});
  TensorProto reals = proto(TensorProto::FLOAT, {1000});
  TensorProto bytes = proto(TensorProto::INT8, {1000});
  for (int i = 0; i < 1000; ++i) {
    numbers.add_int64_data(i - 500);
    reals.add_float_data(i);
    bytes.add_int32_data(i % 256 - 128);
  }
  ModelProto model = addModel();
  for (TensorProto *tensor : {&numbers, &reals, &bytes}) {
    tensor->set_name("w");
    *model.mutable_graph()->mutable_initializer(0) = *tensor;
    Result<OnnxFile> file = load(model);
    ASSERT_EQ(errorOf(file), "");
    const TensorProto &kept = file->model().graph().initializer(0);
    EXPECT_EQ(kept.payload_size(), 1);
    EXPECT_LT(kept.ByteSizeLong(), 50u);
    Result<Tensor> got = file->tensorOf(kept);
    Result<Tensor> expected = decodeTensor(*tensor, {});
    ASSERT_EQ(errorOf(got) + errorOf(expected), "");
    EXPECT_EQ(std::memcmp(got->data(), expected->data(), got->bytes()), 0);
  }
  bytes.set_int32_data(999, 256);
  EXPECT_CONTAINS(readInModel(bytes), "has the number 256 in its data");
}

TEST(TensorData, ChecksSizes) {
  for (int size : {4, 400}) {
    TensorProto tensor = floatTensor("w", size);
    tensor.set_dims(0, size + 1);
    EXPECT_EQ(readInModel(tensor),
              "test.onnx: tensor 'w': has " + std::to_string(size * 4) +
                  " bytes of data, its shape " + std::to_string(size + 1) +
                  "xf32 says " + std::to_string(size * 4 + 4));
    tensor.set_dims(0, size - 1);
    EXPECT_CONTAINS(readInModel(tensor), "bytes of data, its shape");
    tensor.add_float_data(1);
    EXPECT_CONTAINS(readInModel(tensor), "has its data twice");
  }
  EXPECT_CONTAINS(read(proto(TensorProto::FLOAT, {2})), "has no data");
  EXPECT_CONTAINS(read(with32(proto(TensorProto::INT32, {3}), 1, 2)),
                  "has 2 numbers of data, its shape 3xi32 says 3");
  EXPECT_CONTAINS(read(with32(proto(TensorProto::INT8, {1}), 300)),
                  "has the number 300 in its data, which is no i8");
}

TEST(TensorData, RefusesImpossibleShapes) {
  EXPECT_CONTAINS(read(proto(TensorProto::FLOAT, {-1})),
                  "has the negative dimension -1");
  constexpr int64_t large = int64_t(1) << 32;
  EXPECT_CONTAINS(read(proto(TensorProto::FLOAT, {large, large})),
                  "more elements than 64 bits can count");
  EXPECT_CONTAINS(read(proto(TensorProto::DOUBLE, {large, large / 4})),
                  "more elements than 64 bits can count");
  EXPECT_CONTAINS(read(proto(TensorProto::INT4, {INT64_MAX})), "has no data");
}

TEST(TensorData, Strings) {
  TensorProto text = proto(TensorProto::STRING, {2});
  text.add_string_data("a");
  EXPECT_CONTAINS(read(text), "has 1 strings of data");
  text.add_string_data(std::string("\0b", 2));
  Result<Tensor> tensor = decodeTensor(text, {});
  ASSERT_TRUE(tensor);
  EXPECT_EQ(stringAt(*tensor, 1), std::string_view("\0b", 2));
  TensorProto raw = proto(TensorProto::STRING, {1});
  raw.set_raw_data("12345678");
  EXPECT_CONTAINS(read(raw), "never are");
}

TEST(TensorData, NamesUnsupportedTypes) {
  auto kindOf = [](const TensorProto &tensor) {
    return decodeTensor(tensor, {}).error().kind;
  };
  EXPECT_EQ(kindOf(proto(99, {1})), ErrorKind::Unsupported);
  EXPECT_CONTAINS(read(proto(99, {1})), "has elements of type data type 99");
  EXPECT_CONTAINS(read(proto(0, {1})), "has no data type");
  TensorProto wrong = proto(TensorProto::INT64, {1});
  wrong.add_float_data(1);
  EXPECT_CONTAINS(read(wrong), "has its data in float_data, where elements of "
                               "type INT64 never are");
}

TEST(TensorData, PackingIsUnpackingBackwards) {
  for (ElementType type :
       {ElementType::I4, ElementType::UI4, ElementType::I2, ElementType::UI2}) {
    Tensor tensor(type, {5});
    for (int i = 0; i < 5; ++i)
      tensor.set<int8_t>(
          i, static_cast<int8_t>(
                 i % 4 - (classOf(type) == ElementClass::SInt ? 2 : 0)));
    Tensor packed = packedForFile(tensor);
    TensorProto back = proto(*dataTypeOf(type), {5});
    back.set_raw_data(packed.data(), packed.bytes());
    Result<Tensor> result = decodeTensor(back, {});
    ASSERT_EQ(errorOf(result), "");
    EXPECT_EQ(std::memcmp(result->data(), tensor.data(), 5), 0);
  }
}

static SparseTensorProto sparse(std::initializer_list<int64_t> dims,
                                std::initializer_list<int64_t> indexDims,
                                std::initializer_list<int64_t> indices) {
  SparseTensorProto tensor;
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  *tensor.mutable_values() = floatTensor("s", int(*indexDims.begin()));
  for (int64_t i = 0; i < *indexDims.begin(); ++i)
    tensor.mutable_values()->mutable_raw_data()->replace(i * 4, 4,
                                                         "\0\0\x80\x3f", 4);
  *tensor.mutable_indices() = proto(TensorProto::INT64, indexDims);
  for (int64_t index : indices)
    tensor.mutable_indices()->add_int64_data(index);
  return tensor;
}

static std::string readSparse(const SparseTensorProto &tensor) {
  Result<Tensor> result = decodeSparse(tensor, {});
  if (!result)
    return errorOf(result);
  std::string text;
  for (int64_t i = 0; i < result->size(); ++i)
    text += std::to_string(result->toInteger(i));
  return text;
}

TEST(TensorData, MakesSparseTensorsDense) {
  EXPECT_EQ(readSparse(sparse({2, 3}, {2}, {1, 5})), "010001");
  EXPECT_EQ(readSparse(sparse({2, 3}, {2, 2}, {0, 1, 1, 2})), "010001");
  EXPECT_EQ(readSparse(sparse({2, 3}, {0}, {})), "000000");
  for (int64_t bad : {int64_t(6), int64_t(-1), INT64_MAX, INT64_MIN})
    EXPECT_CONTAINS(readSparse(sparse({2, 3}, {1}, {bad})),
                    "has an index outside its shape 2x3xf32 at entry 0");
  EXPECT_CONTAINS(readSparse(sparse({2, 3}, {1, 2}, {0, 3})), "outside");
  EXPECT_CONTAINS(readSparse(sparse({2, 3}, {2}, {1, 1})), "do not ascend");
  EXPECT_CONTAINS(readSparse(sparse({2, 3}, {1, 3}, {0, 0, 0})),
                  "do not go together");
  EXPECT_CONTAINS(readSparse(sparse({1 << 20, 1 << 20}, {1}, {0})),
                  "too large to make dense");
}
