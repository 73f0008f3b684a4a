// sinter-lsp-server: MLIR's language server, which knows Sinter's dialects.
// Without a test: MLIR's own server with our dialects registered

#include "RegisterAll.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  sinter::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
