/*===- first_version.c - a program for version 1 of sinter.h --------------===*
 *
 * Compiles y = 2 x and runs it with a session and a binding. The exit code is
 * the line of what went wrong, modulo 256, or 0.
 *
 *===----------------------------------------------------------------------===*/

#include "first_version.h"

#include <string.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition))                                                          \
      return __LINE__;                                                         \
  } while (0)

static const char text[] =
    "func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {\n"
    "  %y = stablehlo.add %x, %x : tensor<?x3xf32>\n"
    "  return %y : tensor<?x3xf32>\n"
    "}\n";

/* What lies behind a struct of the caller belongs to somebody else. */
static int check_info(const sinter_model *model) {
  struct {
    sinter_value_info info;
    char behind[64];
  } given;
  memset(&given, 0x5a, sizeof(given));
  given.info.struct_size = sizeof(given.info);
  CHECK(sinter_model_input(model, 0, &given.info, NULL) == SINTER_OK);
  CHECK(!strcmp(given.info.name, "arg0"));
  CHECK(given.info.type == SINTER_F32 && given.info.rank == 2);
  CHECK(given.info.shape[0] == -1 && given.info.shape[1] == 3);
  CHECK(!strcmp(given.info.symbols[1], "") && given.info.feeds_shapes == 0);
  for (size_t i = 0; i < sizeof(given.behind); ++i)
    CHECK(given.behind[i] == 0x5a);
  return 0;
}

static int check_binding(sinter_session *session, const sinter_tensor *input,
                         const sinter_tensor *output) {
  sinter_binding *binding;
  CHECK(sinter_binding_new(session, &binding, NULL) == SINTER_OK);
  CHECK(sinter_binding_set_input(binding, 0, input, NULL) == SINTER_OK);
  CHECK(sinter_binding_set_output(binding, 0, output, NULL) == SINTER_OK);
  CHECK(sinter_binding_run(binding, NULL, NULL) == SINTER_OK);
  CHECK(sinter_binding_free(binding, NULL) == SINTER_OK);
  return 0;
}

int main(void) {
  CHECK(sinter_api_version() >= SINTER_API_VERSION);
  sinter_options *options;
  CHECK(sinter_options_new(&options, NULL) == SINTER_OK);
  CHECK(sinter_options_set(options, "no-cache", "true", NULL) == SINTER_OK);
  sinter_model *model;
  CHECK(sinter_model_open_memory(text, strlen(text), "twice.mlir", NULL,
                                 options, &model, NULL) == SINTER_OK);
  int line = check_info(model);
  CHECK(line == 0);
  sinter_session *session;
  CHECK(sinter_compile(model, options, &session, NULL) == SINTER_OK);
  float x[] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
  const int64_t shape[] = {2, 3}, columns[] = {4, 8};
  const sinter_tensor input = {sizeof(input), SINTER_F32, 2, shape, NULL, x};
  sinter_tensor output = {sizeof(output), SINTER_F32, 2, shape, columns, y};
  CHECK(sinter_session_run(session, &input, 1, &output, 1, NULL, NULL, NULL) ==
        SINTER_OK);
  CHECK(y[1] == 8 && y[4] == 6 && y[5] == 12);
  output.strides = NULL;
  line = check_binding(session, &input, &output);
  CHECK(line == 0);
  CHECK(y[1] == 4 && y[4] == 10 && y[5] == 12);
  sinter_error *error;
  CHECK(sinter_session_run(session, &input, 0, &output, 1, NULL, NULL,
                           &error) == SINTER_USAGE);
  CHECK(sinter_error_status(error) == SINTER_USAGE);
  CHECK(strstr(sinter_error_message(error), "expected 1 inputs"));
  sinter_error_free(error);
  CHECK(sinter_session_free(session, NULL) == SINTER_OK);
  CHECK(sinter_model_free(model, NULL) == SINTER_OK);
  CHECK(sinter_options_free(options, NULL) == SINTER_OK);
  return 0;
}
