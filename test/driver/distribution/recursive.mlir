module {
  func.func @again() {
    "interpreter.run_parallel"() {programs = [[@again]]} : () -> ()
    return
  }
  func.func @main() {
    "interpreter.run_parallel"() {programs = [[@again]]} : () -> ()
    return
  }
}
