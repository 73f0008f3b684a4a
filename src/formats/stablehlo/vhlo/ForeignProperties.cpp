//===- ForeignProperties.cpp - properties of other dialects' operations ---===//

#include "formats/stablehlo/vhlo/ForeignProperties.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

/// The reader interface for MLIR's generated code.
class Reader : public DialectBytecodeReader {
public:
  Reader(ArrayRef<uint8_t> bytes, const BytecodeFile &file,
         EntryReader &entries, Location location)
      : reader(bytes), file(file), entries(entries), location(location) {}

  bool empty() const { return reader.empty(); }

  InFlightDiagnostic emitError(const Twine &message) const override {
    return mlir::emitError(location, message);
  }
  FailureOr<const DialectVersion *>
  getDialectVersion(StringRef) const override {
    return failure();
  }
  MLIRContext *getContext() const override { return location.getContext(); }
  uint64_t getBytecodeVersion() const override { return file.version(); }

  LogicalResult readAttribute(Attribute &result) override {
    uint64_t index;
    if (reader.number(index))
      result = entries.attribute(index);
    return success(static_cast<bool>(result));
  }
  LogicalResult readOptionalAttribute(Attribute &result) override {
    uint64_t index;
    bool isThere;
    if (!reader.flagged(index, isThere))
      return failure();
    if (isThere)
      result = entries.attribute(index);
    return success(!isThere || result);
  }
  LogicalResult readType(Type &result) override {
    uint64_t index;
    if (reader.number(index))
      result = entries.type(index);
    return success(static_cast<bool>(result));
  }
  FailureOr<AsmDialectResourceHandle> readResourceHandle() override {
    return failure();
  }
  LogicalResult readVarInt(uint64_t &result) override {
    return success(reader.number(result));
  }
  LogicalResult readSignedVarInt(int64_t &result) override {
    return success(reader.signedNumber(result));
  }
  FailureOr<APInt> readAPIntWithKnownWidth(unsigned) override {
    return failure();
  }
  FailureOr<APFloat>
  readAPFloatWithKnownSemantics(const llvm::fltSemantics &) override {
    return failure();
  }
  LogicalResult readString(StringRef &result) override {
    uint64_t index;
    if (!reader.number(index) || index >= file.strings().size())
      return failure();
    result = file.strings()[index];
    return success();
  }
  LogicalResult readBlob(ArrayRef<char> &) override { return failure(); }
  LogicalResult readBool(bool &result) override {
    uint8_t byte;
    if (!reader.byte(byte))
      return failure();
    result = byte != 0;
    return success();
  }

private:
  ByteReader reader;
  const BytecodeFile &file;
  EntryReader &entries;
  Location location;
};

} // namespace

bool readForeignProperties(ArrayRef<uint8_t> bytes, const BytecodeFile &file,
                           EntryReader &entries, OperationState &state) {
  auto *known = state.name.getInterface<BytecodeOpInterface>();
  Reader reader(bytes, file, entries, state.location);
  return known && succeeded(known->readProperties(reader, state)) &&
         reader.empty();
}

} // namespace sinter::vhlo
