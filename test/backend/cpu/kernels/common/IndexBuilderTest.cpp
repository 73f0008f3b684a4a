//===- IndexBuilderTest.cpp -----------------------------------------------===//
//
// Covers: backend/cpu/kernels/common IndexBuilder

#include "backend/cpu/kernels/common/IndexBuilder.h"
#include "backend/cpu/KernelRunner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr int64_t tasks = 50;

using Body = llvm::function_ref<void(IndexBuilder &, Value task,
                                     llvm::function_ref<void(Value)> put)>;

/// A kernel that keeps what \p body puts for task t: for each value
/// out[t] = out[t] * 31 + value.
class Written {
public:
  explicit Written(Body body) {
    Location loc = UnknownLoc::get(&runner.context());
    auto type =
        MemRefType::get({tasks}, IntegerType::get(&runner.context(), 64));
    KernelBuffer buffers[] = {{type, /*isWritten=*/true}};
    createKernel(
        runner.module(), loc, "kernel", buffers,
        [&](OpBuilder &builder, Location loc, Value task, ValueRange memrefs) {
          IndexBuilder code(builder, loc);
          Value out = memrefs[0];
          body(code, task, [&](Value value) {
            Type i64 = builder.getI64Type();
            Value number = value.getType().isIndex()
                               ? code.create<arith::IndexCastOp>(i64, value)
                               : code.create<arith::ExtUIOp>(i64, value);
            Value factor = code.create<arith::ConstantIntOp>(31, 64);
            Value old = code.create<memref::LoadOp>(out, task);
            Value sum = code.create<arith::AddIOp>(
                code.create<arith::MulIOp>(old, factor), number);
            builder.create<memref::StoreOp>(loc, sum, out, task);
          });
        });
    isValid = succeeded(verify(runner.module()));
  }

  /// How many operations of a kind there are.
  template <typename Op> int count() {
    int found = 0;
    runner.module()->walk([&](Op) { ++found; });
    return found;
  }

  std::vector<int64_t> run() {
    EXPECT_TRUE(isValid);
    runner.compile();
    struct alignas(64) Array {
      int64_t values[tasks] = {};
    } out;
    void *buffers[] = {&out};
    runner.kernel("kernel")(buffers, 0, tasks);
    return {std::begin(out.values), std::end(out.values)};
  }

  bool isValid = false;

private:
  KernelRunner runner;
};

/// What the kernel should leave, of what \p valuesOf puts for each task.
std::vector<int64_t>
expected(llvm::function_ref<void(int64_t, llvm::function_ref<void(int64_t)>)>
             valuesOf) {
  std::vector<int64_t> all;
  for (int64_t task = 0; task < tasks; ++task) {
    // Of 64 bits, as in the kernel.
    uint64_t value = 0;
    valuesOf(task, [&](int64_t put) {
      value = value * 31 + static_cast<uint64_t>(put);
    });
    all.push_back(static_cast<int64_t>(value));
  }
  return all;
}

TEST(IndexBuilder, ComputesWhatItSays) {
  constexpr int64_t numbers[] = {0, 1, 2, 3, 7, 16, 49, 50};
  for (bool isConstant : {false, true}) {
    Written written([&](IndexBuilder &code, Value task, auto put) {
      for (int64_t number : numbers) {
        // A constant folds; the variable of a loop does not.
        auto putAll = [&](Value b) {
          for (Value a : {task, code.index(5)}) {
            put(code.add(a, b));
            put(code.add(b, a));
            put(code.sub(a, b));
            put(code.mul(a, b));
            put(code.mul(b, a));
            put(code.div(a, code.add(b, 1)));
            put(code.rem(a, code.add(b, 1)));
            put(code.min(a, b));
            put(code.max(a, b));
            put(code.less(a, b));
            put(code.less(b, a));
            put(code.equal(a, b));
            put(code.inRange(code.sub(a, b), 4));
            put(code.both(code.less(a, b), code.less(b, code.index(20))));
            put(code.select(code.less(a, b), a, b));
          }
        };
        if (isConstant)
          putAll(code.index(number));
        else
          code.loop(code.index(number), code.index(number + 1), 1, putAll);
      }
    });
    EXPECT_EQ(written.run(), expected([&](int64_t task, auto put) {
                for (int64_t b : numbers)
                  for (int64_t a : {task, int64_t(5)}) {
                    put(a + b);
                    put(a + b);
                    put(a - b);
                    put(a * b);
                    put(a * b);
                    put(a / (b + 1));
                    put(a % (b + 1));
                    put(std::min(a, b));
                    put(std::max(a, b));
                    put(a < b);
                    put(b < a);
                    put(a == b);
                    put(a - b >= 0 && a - b < 4);
                    put(a < b && b < 20);
                    put(a < b ? a : b);
                  }
              }))
        << (isConstant ? "with constants" : "with values");
  }
}

TEST(IndexBuilder, FoldsConstants) {
  Written written([](IndexBuilder &code, Value task, auto) {
    EXPECT_EQ(code.constantOf(code.add(code.index(2), 3)), 5);
    EXPECT_EQ(code.constantOf(code.sub(code.index(2), 3)), -1);
    EXPECT_EQ(code.constantOf(code.mul(code.index(2), 3)), 6);
    EXPECT_EQ(code.constantOf(code.div(code.index(7), 3)), 2);
    EXPECT_EQ(code.constantOf(code.rem(code.index(7), 3)), 1);
    EXPECT_EQ(code.constantOf(code.min(code.index(7), code.index(3))), 3);
    EXPECT_EQ(code.constantOf(code.max(code.index(7), code.index(3))), 7);
    EXPECT_EQ(code.constantOf(code.mul(task, 0)), 0);
    EXPECT_EQ(code.constantOf(code.rem(task, 1)), 0);
    EXPECT_EQ(code.add(task, 0), task);
    EXPECT_EQ(code.add(code.index(0), task), task);
    EXPECT_EQ(code.sub(task, 0), task);
    EXPECT_EQ(code.mul(task, 1), task);
    EXPECT_EQ(code.mul(code.index(1), task), task);
    EXPECT_EQ(code.div(task, 1), task);
    // Left to run time, where it may never be computed.
    EXPECT_FALSE(code.constantOf(code.div(code.index(7), 0)));
    EXPECT_FALSE(code.constantOf(code.rem(code.index(7), 0)));
  });
  EXPECT_TRUE(written.isValid);
}

TEST(IndexBuilder, KnowsTheBoundsOfLoops) {
  Written written([](IndexBuilder &code, Value task, auto) {
    code.loop(code.index(3), code.index(8), 1, [&](Value i) {
      EXPECT_EQ(code.knownTruth(code.less(i, code.index(8))), true);
      EXPECT_EQ(code.knownTruth(code.less(i, code.index(7))), std::nullopt);
      EXPECT_EQ(code.knownTruth(code.less(i, code.index(3))), false);
      EXPECT_EQ(code.knownTruth(code.inRange(i, 8)), true);
      EXPECT_EQ(code.knownTruth(code.inRange(i, 7)), std::nullopt);
      EXPECT_EQ(code.knownTruth(code.inRange(i, 3)), false);
      EXPECT_EQ(code.knownTruth(code.inRange(code.sub(i, 3), 5)), true);
      EXPECT_EQ(code.knownTruth(code.inRange(code.sub(i, 4), 5)), std::nullopt);
      EXPECT_EQ(code.knownTruth(code.inRange(code.sub(i, 8), 5)), false);
      EXPECT_EQ(code.select(code.inRange(i, 8), i, task), i);
      code.when(
          code.inRange(i, 3), [] { ADD_FAILURE() << "never there"; }, [] {});
    });
  });
  EXPECT_EQ(written.count<scf::IfOp>(), 0);
  EXPECT_TRUE(written.isValid);
}

TEST(IndexBuilder, ComputesOnceWhereItDominates) {
  Written written([](IndexBuilder &code, Value task, auto put) {
    Value isSmall = code.less(task, code.index(9));
    // What a branch computed is computed anew behind it and in the other one.
    code.when(
        isSmall, [&] { put(code.mul(task, 3)); },
        [&] { put(code.mul(task, 3)); });
    code.loop(code.index(0), code.index(2), 1, [&](Value i) {
      put(code.mul(task, 3));
      put(code.add(i, task));
    });
    put(code.mul(task, 3));
    // From here on it stays.
    code.when(isSmall, [&] { put(code.mul(task, 3)); });
    put(code.mul(task, 3));
    put(code.branch(
        code.equal(task, code.index(1)),
        [&] { return IndexBuilder::Carried{code.mul(task, 3)}; },
        [&] { return IndexBuilder::Carried{code.mul(task, 5)}; })[0]);
  });
  // 3 * task in both branches, in the loop and behind it, and 5 * task; each
  // put() multiplies once, too.
  constexpr int puts = 8;
  EXPECT_EQ(written.count<arith::MulIOp>() - puts, 5);
  EXPECT_EQ(written.run(), expected([](int64_t task, auto put) {
              put(task * 3);
              for (int64_t i : {0, 1}) {
                put(task * 3);
                put(i + task);
              }
              put(task * 3);
              if (task < 9)
                put(task * 3);
              put(task * 3);
              put(task == 1 ? task * 3 : task * 5);
            }));
}

} // namespace
