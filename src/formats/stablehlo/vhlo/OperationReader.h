//===- OperationReader.h - the operations of a portable artifact ----------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_OPERATIONREADER_H
#define SINTER_FORMATS_STABLEHLO_VHLO_OPERATIONREADER_H

#include "formats/stablehlo/vhlo/EntryReader.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"

namespace sinter::vhlo {

/// The values visible in the current region, by number.
struct Scope {
  std::vector<mlir::Value> values;
  /// The number of the next value of each region, the innermost last.
  llvm::SmallVector<size_t> next;
};

/// An operation in the file's form.
struct RawOperation {
  llvm::StringRef dialect, name;
  mlir::LocationAttr location;
  mlir::NamedAttrList attributes;
  llvm::SmallVector<mlir::Type> results;
  llvm::SmallVector<mlir::Value> operands;
  uint64_t regions = 0;
  bool isIsolated = false;
  /// For an operation of another known dialect: its state with the properties
  /// in that dialect's encoding.
  std::optional<mlir::OperationState> foreign;
};

/// Reads the section of operations, and translates each to StableHLO. Functions
/// that are not supported are left out, if others remain.
class OperationReader {
public:
  OperationReader(const BytecodeFile &file, EntryReader &entries,
                  mlir::MLIRContext *context)
      : file(file), entries(entries), context(context) {}

  /// Reads the one module of the file; null with error().
  mlir::OwningOpRef<mlir::ModuleOp> read();

  /// The functions that were left out, and the reason.
  const llvm::MapVector<mlir::StringAttr, std::string> &leftOut() const {
    return missing;
  }

  Error takeError() {
    return entries.error() ? *entries.error() : std::move(*firstError);
  }

private:
  bool fail(ErrorKind kind, const llvm::Twine &message) {
    if (!firstError)
      firstError = Error{kind, message.str()};
    return false;
  }
  bool broken(const llvm::Twine &what) {
    return fail(ErrorKind::InvalidModel, "has a broken " + what);
  }
  bool failed() const { return firstError || entries.error(); }

  bool readRaw(ByteReader &reader, RawOperation &raw);
  bool readProperties(ByteReader &reader, const BytecodeFile::OperationName &,
                      RawOperation &raw);
  bool readOperands(ByteReader &reader, RawOperation &raw);
  bool skipUseOrders(ByteReader &reader, size_t values);
  /// Reads an operation of the module or of a block in it.
  bool readOperation(ByteReader &reader, mlir::Block *block);
  bool canLeaveOut(const RawOperation &raw) const;
  bool readFunction(ByteReader &reader, const RawOperation &raw,
                    mlir::Block *block);
  void leaveOutCallers(mlir::ModuleOp module);
  bool readRegions(ByteReader &reader, const RawOperation &raw,
                   mlir::Operation *op);
  bool readRegion(ByteReader &reader, mlir::Region &region);
  bool readBlock(ByteReader &reader, mlir::Block *block);
  bool readArguments(ByteReader &reader, mlir::Block *block);
  bool define(mlir::ValueRange values, const llvm::Twine &what);
  bool readForeign(ByteReader &reader, RawOperation &raw, mlir::Block *block);

  /// The operation of StableHLO, with empty regions.
  mlir::Operation *translate(const RawOperation &raw, mlir::Block *block);
  mlir::Operation *create(mlir::OperationName name, const RawOperation &raw,
                          const mlir::NamedAttrList &attributes,
                          mlir::Block *block);

  const BytecodeFile &file;
  EntryReader &entries;
  mlir::MLIRContext *context;
  std::vector<Scope> scopes;
  std::optional<Error> firstError;
  llvm::MapVector<mlir::StringAttr, std::string> missing;
  unsigned depth = 0;
};

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_OPERATIONREADER_H
