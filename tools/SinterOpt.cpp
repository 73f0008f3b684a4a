// sinter-opt: runs any pipeline of passes on text, as mlir-opt does.

#include "RegisterAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  sinter::registerAllDialects(registry);
  sinter::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Sinter's pass driver\n", registry));
}
