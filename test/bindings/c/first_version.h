/*===- first_version.h - version 1 of sinter.h ----------------------------===*
 *
 * What programs were built with that the library still has to run: the structs,
 * enumerations and functions of that version. It does not change.
 *
 *===----------------------------------------------------------------------===*/

#ifndef SINTER_FIRST_VERSION_H
#define SINTER_FIRST_VERSION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SINTER_API_VERSION 1
const char *sinter_version(void);
int32_t sinter_api_version(void);

typedef enum sinter_status {
  SINTER_OK = 0,
  SINTER_WRONG_RESULT = 1,
  SINTER_USAGE = 2,
  SINTER_INVALID_MODEL = 3,
  SINTER_UNSUPPORTED = 4,
  SINTER_SYSTEM = 5,
  SINTER_CANCELLED = 6
} sinter_status;

typedef struct sinter_error sinter_error;
sinter_status sinter_error_status(const sinter_error *error);
const char *sinter_error_message(const sinter_error *error);
const char *sinter_error_what(const sinter_error *error);
const char *sinter_error_file(const sinter_error *error);
const char *sinter_error_node(const sinter_error *error);
const char *sinter_error_operator(const sinter_error *error);
const char *sinter_error_hint(const sinter_error *error);
void sinter_error_free(sinter_error *error);

typedef enum sinter_type {
  SINTER_I1 = 0,
  SINTER_I2 = 1,
  SINTER_I4 = 2,
  SINTER_I8 = 3,
  SINTER_I16 = 4,
  SINTER_I32 = 5,
  SINTER_I64 = 6,
  SINTER_UI2 = 7,
  SINTER_UI4 = 8,
  SINTER_UI8 = 9,
  SINTER_UI16 = 10,
  SINTER_UI32 = 11,
  SINTER_UI64 = 12,
  SINTER_F8E4M3 = 13,
  SINTER_F8E4M3FN = 14,
  SINTER_F8E4M3FNUZ = 15,
  SINTER_F8E4M3B11FNUZ = 16,
  SINTER_F8E5M2 = 17,
  SINTER_F8E5M2FNUZ = 18,
  SINTER_BF16 = 19,
  SINTER_F16 = 20,
  SINTER_F32 = 21,
  SINTER_F64 = 22,
  SINTER_C64 = 23,
  SINTER_C128 = 24
} sinter_type;
const char *sinter_type_name(sinter_type type);
size_t sinter_type_size(sinter_type type);

typedef struct sinter_tensor {
  size_t struct_size;
  sinter_type type;
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides;
  void *data;
} sinter_tensor;

typedef struct sinter_value_info {
  size_t struct_size;
  const char *name;
  sinter_type type;
  int32_t rank;
  const int64_t *shape;
  const char *const *symbols;
  int32_t feeds_shapes;
} sinter_value_info;

typedef struct sinter_options sinter_options;
sinter_status sinter_options_new(sinter_options **options,
                                 sinter_error **error);
sinter_status sinter_options_set(sinter_options *options, const char *name,
                                 const char *value, sinter_error **error);

typedef void (*sinter_log_callback)(void *user, const char *line);
sinter_status sinter_options_set_log(sinter_options *options,
                                     sinter_log_callback log, void *user,
                                     sinter_error **error);

typedef void (*sinter_print_callback)(void *user, const char *text,
                                      size_t size);
sinter_status sinter_options_set_print(sinter_options *options,
                                       sinter_print_callback print, void *user,
                                       sinter_error **error);

typedef void (*sinter_progress_callback)(void *user, const char *stage,
                                         uint64_t done, uint64_t total);
sinter_status sinter_options_set_progress(sinter_options *options,
                                          sinter_progress_callback progress,
                                          void *user, sinter_error **error);
sinter_status sinter_options_free(sinter_options *options,
                                  sinter_error **error);

typedef struct sinter_model sinter_model;
sinter_status sinter_model_open(const char *path, const sinter_options *options,
                                sinter_model **model, sinter_error **error);
sinter_status sinter_model_open_memory(const void *bytes, size_t size,
                                       const char *name, const char *folder,
                                       const sinter_options *options,
                                       sinter_model **model,
                                       sinter_error **error);
size_t sinter_model_input_count(const sinter_model *model);
size_t sinter_model_output_count(const sinter_model *model);
sinter_status sinter_model_input(const sinter_model *model, size_t index,
                                 sinter_value_info *info, sinter_error **error);
sinter_status sinter_model_output(const sinter_model *model, size_t index,
                                  sinter_value_info *info,
                                  sinter_error **error);
sinter_status sinter_model_save(const sinter_model *model, const char *path,
                                const sinter_options *options,
                                sinter_error **error);

typedef struct sinter_files sinter_files;
size_t sinter_files_count(const sinter_files *files);
const char *sinter_files_name(const sinter_files *files, size_t index);
const void *sinter_files_data(const sinter_files *files, size_t index,
                              size_t *size);
void sinter_files_free(sinter_files *files);
sinter_status sinter_model_save_memory(const sinter_model *model,
                                       const char *name,
                                       const sinter_options *options,
                                       sinter_files **files,
                                       sinter_error **error);
sinter_status sinter_model_optimize(const sinter_model *model,
                                    const sinter_options *options,
                                    sinter_model **result, char **report,
                                    sinter_error **error);

typedef int32_t (*sinter_sample_callback)(void *user, size_t index,
                                          sinter_tensor *inputs,
                                          size_t input_count);
sinter_status sinter_model_quantize(const sinter_model *model,
                                    const sinter_options *options,
                                    sinter_sample_callback sample, void *user,
                                    size_t sample_count, sinter_model **result,
                                    char **report, sinter_error **error);
sinter_status sinter_model_free(sinter_model *model, sinter_error **error);
void sinter_string_free(char *string);

typedef struct sinter_session sinter_session;
typedef struct sinter_cancellation sinter_cancellation;
sinter_status sinter_compile(const sinter_model *model,
                             const sinter_options *options,
                             sinter_session **session, sinter_error **error);
size_t sinter_session_input_count(const sinter_session *session);
size_t sinter_session_output_count(const sinter_session *session);
sinter_status sinter_session_input(const sinter_session *session, size_t index,
                                   sinter_value_info *info,
                                   sinter_error **error);
sinter_status sinter_session_output(const sinter_session *session, size_t index,
                                    sinter_value_info *info,
                                    sinter_error **error);

typedef struct sinter_value sinter_value;
sinter_status sinter_value_tensor(const sinter_value *value,
                                  sinter_tensor *tensor, sinter_error **error);
void sinter_value_free(sinter_value *value);
sinter_status sinter_session_run(sinter_session *session,
                                 const sinter_tensor *inputs,
                                 size_t input_count, sinter_tensor *outputs,
                                 size_t output_count, sinter_value **values,
                                 const sinter_cancellation *cancellation,
                                 sinter_error **error);
size_t sinter_session_state_count(const sinter_session *session);
sinter_status sinter_session_state(const sinter_session *session, size_t index,
                                   sinter_value_info *info,
                                   sinter_error **error);
sinter_status sinter_session_read_state(sinter_session *session, size_t index,
                                        const sinter_tensor *to,
                                        sinter_error **error);
sinter_status sinter_session_write_state(sinter_session *session, size_t index,
                                         const sinter_tensor *from,
                                         sinter_error **error);
sinter_status sinter_session_reset_states(sinter_session *session,
                                          sinter_error **error);
sinter_status sinter_session_free(sinter_session *session,
                                  sinter_error **error);

typedef struct sinter_binding sinter_binding;
sinter_status sinter_binding_new(sinter_session *session,
                                 sinter_binding **binding,
                                 sinter_error **error);
sinter_status sinter_binding_set_input(sinter_binding *binding, size_t index,
                                       const sinter_tensor *tensor,
                                       sinter_error **error);
sinter_status sinter_binding_set_output(sinter_binding *binding, size_t index,
                                        const sinter_tensor *tensor,
                                        sinter_error **error);
sinter_status sinter_binding_run(sinter_binding *binding,
                                 const sinter_cancellation *cancellation,
                                 sinter_error **error);
sinter_status sinter_binding_output(const sinter_binding *binding, size_t index,
                                    sinter_tensor *tensor,
                                    sinter_error **error);
sinter_status sinter_binding_reset_states(sinter_binding *binding,
                                          sinter_error **error);
int32_t sinter_binding_copies_input(const sinter_binding *binding,
                                    size_t index);
int32_t sinter_binding_copies_output(const sinter_binding *binding,
                                     size_t index);
sinter_status sinter_binding_free(sinter_binding *binding,
                                  sinter_error **error);
sinter_status sinter_cancellation_new(sinter_cancellation **cancellation,
                                      sinter_error **error);
void sinter_cancellation_cancel(sinter_cancellation *cancellation);
void sinter_cancellation_reset(sinter_cancellation *cancellation);
void sinter_cancellation_free(sinter_cancellation *cancellation);
sinter_status sinter_load_compiler(sinter_error **error);
sinter_status sinter_set_compiler_library(const char *path,
                                          sinter_error **error);

#ifdef __cplusplus
}
#endif

#endif
