//===- Error.cpp - errors of the C interface ------------------------------===//

#include "bindings/c/Handles.h"

extern "C" {

sinter_status sinter_error_status(const sinter_error *error) {
  return error ? static_cast<sinter_status>(error->error.kind) : SINTER_OK;
}

const char *sinter_error_message(const sinter_error *error) {
  return error ? error->message.c_str() : "";
}

const char *sinter_error_what(const sinter_error *error) {
  return error ? error->error.what.c_str() : "";
}

const char *sinter_error_file(const sinter_error *error) {
  return error ? error->error.file.c_str() : "";
}

const char *sinter_error_node(const sinter_error *error) {
  return error ? error->error.node.c_str() : "";
}

const char *sinter_error_operator(const sinter_error *error) {
  return error ? error->error.op.c_str() : "";
}

const char *sinter_error_hint(const sinter_error *error) {
  return error ? error->error.hint.c_str() : "";
}

void sinter_error_free(sinter_error *error) { delete error; }

} // extern "C"
