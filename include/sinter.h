/*===- sinter.h - Sinter in C ---------------------------------------------===*
 *
 *     sinter_model      a model: its inputs, outputs and states; read from a
 *                       file or from memory, rewritten, saved
 *     sinter_session    a model that is compiled and runs
 *     sinter_binding    inputs and outputs of a session in memory of the
 *                       caller, bound once and run often
 *     sinter_trainer    a model in training, step by step
 *     sinter_snapshot   values of states, to go back to
 *     sinter_thread_pool  threads that sessions run on, the host's own perhaps
 *
 * Every function that can fail returns a sinter_status and, through its last
 * parameter, an error that says what is wrong, where, and what would help. That
 * parameter may be NULL. No function prints, exits or lets an exception out.
 *
 * Strings are UTF-8. Options have the names and values of the command's
 * options, without dashes in front: "threads" = "2", "shape" = "x:1x3x224x224".
 *
 * Threads may share every object. A function that frees an object and returns a
 * status fails while another thread uses it; what the others free must be in
 * no use; all that an object gave out by pointers, strings
 * included, lives as long as the object, unless said otherwise.
 *
 * Every struct begins with its size, which the caller sets: sinter_tensor t =
 * {sizeof(t)}. Later versions add members at the end and functions, and change
 * none. docs/c-api.md has the rules.
 *
 *===----------------------------------------------------------------------===*/

#ifndef SINTER_H
#define SINTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define SINTER_API
#else
#define SINTER_API __attribute__((visibility("default")))
#endif

/* In C any value of its integer type may stand in an enumeration, and callers
   err. In C++ it may if that type is named. */
#ifdef __cplusplus
#define SINTER_ENUM_TYPE : int32_t
#else
#define SINTER_ENUM_TYPE
#endif

/** The version of this header. It grows with each release that adds to it. */
#define SINTER_API_VERSION 2

/** Sinter's version, "0.1.0". */
SINTER_API const char *sinter_version(void);
/** The SINTER_API_VERSION that the library was built with. */
SINTER_API int32_t sinter_api_version(void);

/*===- Errors -------------------------------------------------------------===*/

/** How a call ended. The values are the exit codes of the command. */
typedef enum sinter_status SINTER_ENUM_TYPE {
  SINTER_OK = 0,
  SINTER_WRONG_RESULT = 1,  /**< A comparison failed, a bound does not hold. */
  SINTER_USAGE = 2,         /**< The call makes no sense: see the message. */
  SINTER_INVALID_MODEL = 3, /**< The file is not a valid model. */
  SINTER_UNSUPPORTED = 4,   /**< The model uses what is not supported. */
  SINTER_SYSTEM = 5,        /**< I/O, memory or the operating system failed. */
  SINTER_CANCELLED = 6      /**< sinter_cancellation_cancel was called. */
} sinter_status;

/** What went wrong in a call, to be freed by who made the call. */
typedef struct sinter_error sinter_error;

/** Its status. */
SINTER_API sinter_status sinter_error_status(const sinter_error *error);
/** All of it in one line: "model.onnx: node 'conv1' (Conv): ...; ...". */
SINTER_API const char *sinter_error_message(const sinter_error *error);
/** What is wrong. */
SINTER_API const char *sinter_error_what(const sinter_error *error);
/** The file, the node and its operator, by the file's names; what would help.
    Each is "" if it is not known. */
SINTER_API const char *sinter_error_file(const sinter_error *error);
SINTER_API const char *sinter_error_node(const sinter_error *error);
SINTER_API const char *sinter_error_operator(const sinter_error *error);
SINTER_API const char *sinter_error_hint(const sinter_error *error);
/** Frees ERROR; NULL is ignored. */
SINTER_API void sinter_error_free(sinter_error *error);

/*===- Tensors ------------------------------------------------------------===*/

/** What a tensor's elements are. Each takes whole bytes: I1 is a byte 0 or 1;
    I2 and I4 are sign-extended to a byte, UI2 and UI4 zero-extended; complex
    numbers are two reals side by side; a STRING is a sinter_string. */
typedef enum sinter_type SINTER_ENUM_TYPE {
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
  SINTER_C128 = 24,
  SINTER_STRING = 25
} sinter_type;

/** An element of type SINTER_STRING: SIZE bytes, usually of UTF-8, which may
    contain zeros. DATA may be NULL if SIZE is 0. The strings of an input have
   to live until the call returns, those of an output do as long as the tensor.
 */
typedef struct sinter_string {
  const char *data;
  size_t size;
} sinter_string;

/** "f32"; NULL if TYPE is none. */
SINTER_API const char *sinter_type_name(sinter_type type);
/** Bytes of an element; 0 if TYPE is none. */
SINTER_API size_t sinter_type_size(sinter_type type);

/** Elements in memory. Nothing is copied of inputs and to outputs whose
    elements are row-major without gaps and aligned as their type is.
    The struct stays as it is, since arrays of it are passed. */
typedef struct sinter_tensor {
  size_t struct_size;
  sinter_type type;
  int32_t rank;
  const int64_t *shape;
  /** Bytes from one element to the next along each dimension, which may be
      zero or negative; NULL: row-major without gaps. */
  const int64_t *strides;
  /** The element whose indices are all 0, at any address. */
  void *data;
} sinter_tensor;

/** An input, output or state, as the model declares it. */
typedef struct sinter_value_info {
  size_t struct_size;
  const char *name;
  sinter_type type;
  /** -1: the model does not say how many dimensions there are. */
  int32_t rank;
  /** -1 for each dynamic dimension. */
  const int64_t *shape;
  /** The names of dynamic dimensions; "" for those that have none. Outputs
      have those of the inputs that they follow, where that is known. */
  const char *const *symbols;
  /** Not 0 if sizes of other tensors follow from its values. */
  int32_t feeds_shapes;
  /** Since version 2: other names by which options may call an input, that of
      a parameter in the program that exported it, say. */
  size_t alias_count;
  const char *const *aliases;
} sinter_value_info;

/*===- Threads ------------------------------------------------------------===*/

/** What sessions run on. Since version 2. */
typedef struct sinter_thread_pool sinter_thread_pool;

/** THREADS threads of their own, the one that calls a run among them; 0: as
    many as there are processors. Errors: SINTER_USAGE for more than the library
    allows, 4096. */
SINTER_API sinter_status sinter_thread_pool_new(size_t threads,
                                                sinter_thread_pool **pool,
                                                sinter_error **error);
/** Part INDEX of a piece of work. */
typedef void (*sinter_task)(void *task_data, size_t index);
/** Threads of the host. */
typedef struct sinter_host_threads {
  size_t struct_size;
  void *user;
  /** The most tasks of a piece of work, 1 to 1024: how many may run at once. */
  size_t threads;
  /** Calls TASK(TASK_DATA, i) once for each i from 0 to COUNT - 1, on any
      threads and in any order, and returns when all of these calls have. Called
      by the thread that runs a session, and by several at once. Tasks that it
      leaves out that thread does itself. */
  void (*run)(void *user, size_t count, sinter_task task, void *task_data);
} sinter_host_threads;
/** The pool whose work HOST does: no thread of ours runs kernels. HOST is
    copied; it may be called until the pool, and the last session that was made
    with it, is freed. Errors: SINTER_USAGE for threads that are not 1 to 1024,
    and without a function. */
SINTER_API sinter_status
sinter_thread_pool_of_host(const sinter_host_threads *host,
                           sinter_thread_pool **pool, sinter_error **error);
/** How many threads it has; 0 if POOL is none. */
SINTER_API size_t sinter_thread_pool_size(const sinter_thread_pool *pool);
/** Frees POOL. Sessions that were made with it keep its threads. */
SINTER_API sinter_status sinter_thread_pool_free(sinter_thread_pool *pool,
                                                 sinter_error **error);

/*===- Options ------------------------------------------------------------===*/

/** Options by the names of the command's. */
typedef struct sinter_options sinter_options;

/** Makes options without any. */
SINTER_API sinter_status sinter_options_new(sinter_options **options,
                                            sinter_error **error);
/** Adds an option. One that may be repeated on the command line may be set
    several times. A flag takes "true". What does not exist, or has no such
    value, is an error of the call that gets the options. */
SINTER_API sinter_status sinter_options_set(sinter_options *options,
                                            const char *name, const char *value,
                                            sinter_error **error);
/** Gets what a user should know, one LINE a call. It may be called from any
    thread until the object made with these options is freed. */
typedef void (*sinter_log_callback)(void *user, const char *line);
/** Sets who gets notes, that a model runs on the interpreter, say. */
SINTER_API sinter_status sinter_options_set_log(sinter_options *options,
                                                sinter_log_callback log,
                                                void *user,
                                                sinter_error **error);
/** Gets TEXT, SIZE bytes that the model prints when it runs, from the thread
    that runs it. */
typedef void (*sinter_print_callback)(void *user, const char *text,
                                      size_t size);
/** Without PRINT, what a model prints goes nowhere. */
SINTER_API sinter_status sinter_options_set_print(sinter_options *options,
                                                  sinter_print_callback print,
                                                  void *user,
                                                  sinter_error **error);
/** Gets how far long work is: DONE of TOTAL of STAGE, "compile" say. Any thread
    may call it, but for one call of the library one at a time. */
typedef void (*sinter_progress_callback)(void *user, const char *stage,
                                         uint64_t done, uint64_t total);
/** Sets who gets the progress of long calls. */
SINTER_API sinter_status sinter_options_set_progress(
    sinter_options *options, sinter_progress_callback progress, void *user,
    sinter_error **error);
/** Memory of the caller for what a session allocates: results, states,
    temporaries, aligned copies of inputs. Weights and code are not among that.
    Threads call both functions at once, and may do so until the last session,
    value and snapshot that was made with it is freed. */
typedef struct sinter_allocator {
  size_t struct_size;
  void *user;
  /** Gives SIZE bytes, at least 1, at a multiple of ALIGNMENT, a power of two
      up to 4096; NULL if there are none: the call that needs them fails with
      SINTER_SYSTEM. */
  void *(*allocate)(void *user, size_t size, size_t alignment);
  /** Takes back what allocate gave for the same SIZE and ALIGNMENT. */
  void (*release)(void *user, void *memory, size_t size, size_t alignment);
} sinter_allocator;
/** Since version 2. Sessions and trainers allocate by ALLOCATOR, which is
    copied; NULL: the library does it. */
SINTER_API sinter_status sinter_options_set_allocator(
    sinter_options *options, const sinter_allocator *allocator,
    sinter_error **error);
/** Since version 2. Sessions and trainers run on POOL; NULL: on the threads of
    the process, which all others share. The pool may be freed before them. */
SINTER_API sinter_status sinter_options_set_thread_pool(
    sinter_options *options, const sinter_thread_pool *pool,
    sinter_error **error);
/** Ends runs and long calls from another thread. */
typedef struct sinter_cancellation sinter_cancellation;
/** Since version 2. CANCELLATION (may be NULL: nothing ends them) ends the
   calls that get these options, soon and with SINTER_CANCELLED: sinter_compile,
   sinter_model_optimize, sinter_model_quantize, sinter_model_compare,
   sinter_model_evaluate, sinter_model_view, sinter_model_compile_to and
   sinter_trainer_new. So it does
   with what sessions and trainers made with them compile later, and with steps
   and evaluations of a trainer, before the program runs; a run has a
   cancellation of its own. Model, trainer and cache stay as they were, and
   calls work again once it is reset. It may be freed before the options and
   what was made with them. */
SINTER_API sinter_status sinter_options_set_cancellation(
    sinter_options *options, const sinter_cancellation *cancellation,
    sinter_error **error);
/** Frees OPTIONS. What was made with them keeps what it needs of them. */
SINTER_API sinter_status sinter_options_free(sinter_options *options,
                                             sinter_error **error);

/*===- Models -------------------------------------------------------------===*/

/** A model: its inputs, outputs and states. It can be rewritten, saved and
    compiled. */
typedef struct sinter_model sinter_model;

/** Opens the model at PATH, a file or folder of any format that the command
    reads. OPTIONS (may be NULL): shape, bind, function, params,
    random-parameters. Errors: SINTER_SYSTEM if the file cannot be read,
    SINTER_INVALID_MODEL if it is no valid model, SINTER_UNSUPPORTED with all
    operators that are not supported, SINTER_USAGE for options that do not fit
    the model. */
SINTER_API sinter_status sinter_model_open(const char *path,
                                           const sinter_options *options,
                                           sinter_model **model,
                                           sinter_error **error);
/** The same for the contents of a file: BYTES, SIZE of them, which are copied.
    NAME (may be NULL: "model") is what messages call it; its extension decides
    if the contents can be of several formats. FOLDER (may be NULL: there are
    none) has the files to which it refers, external data say. OPTIONS (may be
    NULL) and errors are the same. */
SINTER_API sinter_status sinter_model_open_memory(
    const void *bytes, size_t size, const char *name, const char *folder,
    const sinter_options *options, sinter_model **model, sinter_error **error);

/** How many inputs and outputs MODEL has, and what they are. Errors:
    SINTER_USAGE if there is no input or output INDEX. */
SINTER_API size_t sinter_model_input_count(const sinter_model *model);
SINTER_API size_t sinter_model_output_count(const sinter_model *model);
SINTER_API sinter_status sinter_model_input(const sinter_model *model,
                                            size_t index,
                                            sinter_value_info *info,
                                            sinter_error **error);
SINTER_API sinter_status sinter_model_output(const sinter_model *model,
                                             size_t index,
                                             sinter_value_info *info,
                                             sinter_error **error);

/** The states, tensors whose values stay from run to run, as the model declares
    them. Since version 2.
    There are none of a model that cannot be read before sizes or values of its
    inputs are known: then a session has them. Errors: SINTER_USAGE if there is
    no state INDEX. */
SINTER_API size_t sinter_model_state_count(const sinter_model *model);
SINTER_API sinter_status sinter_model_state(const sinter_model *model,
                                            size_t index,
                                            sinter_value_info *info,
                                            sinter_error **error);
/** What a model's file says of itself. Texts are "", numbers 0, where it does
    not say, or its format has no such thing. */
typedef struct sinter_model_info {
  size_t struct_size;
  /** "onnx", "paddle", "stablehlo", and the version that the file is written
      in: ONNX's IR version "8", Paddle's "2.6.0". */
  const char *format;
  const char *format_version;
  /** What wrote the file. */
  const char *producer;
  const char *producer_version;
  /** ONNX's namespace of the model. */
  const char *domain;
  /** The name of ONNX's graph, or of StableHLO's module. */
  const char *graph;
  const char *description;
  /** Of the model itself. */
  int64_t version;
  /** ONNX's operator sets: domains, "" being ONNX's own, and versions. */
  size_t operator_set_count;
  const char *const *operator_set_domains;
  const int64_t *operator_set_versions;
  /** ONNX's metadata_props, or the attributes of StableHLO's module. */
  size_t metadata_count;
  const char *const *metadata_names;
  const char *const *metadata_values;
} sinter_model_info;
/** Since version 2: what the file of MODEL says of itself. */
SINTER_API sinter_status sinter_model_describe(const sinter_model *model,
                                               sinter_model_info *info,
                                               sinter_error **error);
/** The value of the first entry called NAME; NULL if there is none. Since
    version 2. */
SINTER_API const char *sinter_model_metadata(const sinter_model *model,
                                             const char *name);

/** Writes the model to PATH, whose extension names the format. The file of the
    model itself is not replaced. OPTIONS (may be NULL): target-version. Errors:
    SINTER_SYSTEM if it cannot be written, SINTER_UNSUPPORTED with all that the
    format has no form for, SINTER_USAGE for an extension of no format and for
    the model's own file. */
SINTER_API sinter_status sinter_model_save(const sinter_model *model,
                                           const char *path,
                                           const sinter_options *options,
                                           sinter_error **error);

/** Files in memory. */
typedef struct sinter_files sinter_files;
/** How many there are, and the name and contents of file INDEX, which live as
    long as FILES. SIZE gets the bytes. */
SINTER_API size_t sinter_files_count(const sinter_files *files);
SINTER_API const char *sinter_files_name(const sinter_files *files,
                                         size_t index);
SINTER_API const void *sinter_files_data(const sinter_files *files,
                                         size_t index, size_t *size);
/** Frees FILES; NULL is ignored. */
SINTER_API void sinter_files_free(sinter_files *files);
/** As sinter_model_save, to memory. NAME is that of the file, "model.onnx". The
    first of FILES is the model, others are what it refers to. OPTIONS (may be
    NULL) and errors are the same. */
SINTER_API sinter_status sinter_model_save_memory(const sinter_model *model,
                                                  const char *name,
                                                  const sinter_options *options,
                                                  sinter_files **files,
                                                  sinter_error **error);

/** Simplifies the model: RESULT is a new one of the same format. OPTIONS (may
    be NULL): those of `sinter optimize`. REPORT (may be NULL) gets what was
    done, as JSON, to be freed with sinter_string_free. Errors:
    SINTER_WRONG_RESULT if verify-numerics finds a difference, SINTER_CANCELLED,
    and those of reading and saving. */
SINTER_API sinter_status sinter_model_optimize(const sinter_model *model,
                                               const sinter_options *options,
                                               sinter_model **result,
                                               char **report,
                                               sinter_error **error);

/** Gives the inputs of sample INDEX: one tensor an input, whose memory stays
    until the next call. Returns 0, or another number to end the call that asks,
    which fails. */
typedef int32_t (*sinter_sample_callback)(void *user, size_t index,
                                          sinter_tensor *inputs,
                                          size_t input_count);
/** Makes an 8-bit model of a float one by SAMPLE_COUNT samples. OPTIONS (may be
    NULL): those of `sinter quantize`. REPORT (may be NULL) as above. Errors:
    SINTER_WRONG_RESULT if max-loss cannot be held, SINTER_USAGE for samples
    that do not fit the inputs, SINTER_CANCELLED, also where SAMPLE ended the
    call, and those of running the model. */
SINTER_API sinter_status sinter_model_quantize(
    const sinter_model *model, const sinter_options *options,
    sinter_sample_callback sample, void *user, size_t sample_count,
    sinter_model **result, char **report, sinter_error **error);

/** Runs both models, and compares outputs, states and, by their names, tensors
    between; what EXPECTED computes is right. INPUTS are its inputs; NULL and 0:
    random ones, at several sizes of dynamic dimensions. OPTIONS (may be NULL):
    those of `sinter compare` about two models, such as rtol, atol, range-atol,
    min-snr, min-cosine, backend, shape, outputs-only. REPORT (may be NULL) as
    above, also if they differ: that of `sinter compare --json`. Since
    version 2. Errors: SINTER_WRONG_RESULT if they differ, SINTER_CANCELLED, and
    those of running both. */
SINTER_API sinter_status sinter_model_compare(
    const sinter_model *expected, const sinter_model *model,
    const sinter_tensor *inputs, size_t input_count,
    const sinter_options *options, char **report, sinter_error **error);

/** As sinter_sample_callback, and what is right of the sample: TARGET. */
typedef int32_t (*sinter_labelled_sample_callback)(void *user, size_t index,
                                                   sinter_tensor *inputs,
                                                   size_t input_count,
                                                   sinter_tensor *target);
/** How right MODEL is on samples whose right answers are known: metrics with
    confidence intervals. SAMPLE gives SAMPLE_COUNT of them, in order: of models
    with a batch one row each, or a whole one; targets are labels, or arrays of
    an output's shape, and their first dimension is that of the inputs. NULL and
    0: the samples are those of the option data. OTHER (may be NULL) is another
    model on the same samples, for differences. OPTIONS (may be NULL): those of
    `sinter evaluate`, such as data, truth, labels, metric, batch, at-least,
    max-loss. REPORT (may be NULL) as above, also if a bound does not hold: that
    of `sinter evaluate --json`. Since version 2. Errors: SINTER_WRONG_RESULT if
    a bound does not hold, SINTER_USAGE for samples and metrics that do not fit
    the model, SINTER_CANCELLED, also where SAMPLE ended the call, and those of
    running. */
SINTER_API sinter_status sinter_model_evaluate(
    const sinter_model *model, const sinter_model *other,
    const sinter_options *options, sinter_labelled_sample_callback sample,
    void *user, size_t sample_count, char **report, sinter_error **error);

/** A page for browsers, one HTML file: the graph as it was read, the one that
    is compiled, and the kernels of its program. OPTIONS (may be NULL): those of
    `sinter inspect --html` about the model and how to compile it, and measure
    (a flag): measured times. PAGE is freed with sinter_string_free. Since
    version 2. Errors: SINTER_CANCELLED, and those of compiling. */
SINTER_API sinter_status sinter_model_view(const sinter_model *model,
                                           const sinter_options *options,
                                           char **page, sinter_error **error);

/** Compiles MODEL ahead of time, to code that needs no library, as `sinter
    compile` does. OUTPUT is a file ending with .o, .a, .so, .s or .ll, which
    gets a header beside it, or a folder. OPTIONS (may be NULL): those of
    `sinter compile`, such as name, shape, weights, target, cpu, features,
    parallel (a flag), debug-info (a flag), force (a flag: replaces files that
    exist). REPORT (may be NULL) as above: that of `sinter compile --json`,
    which has the paths of all files. Since version 2. Errors: SINTER_USAGE for
    files that exist, SINTER_UNSUPPORTED for what needs the library at run time,
    SINTER_CANCELLED, and those of compiling; nothing is written then. */
SINTER_API sinter_status sinter_model_compile_to(const sinter_model *model,
                                                 const char *output,
                                                 const sinter_options *options,
                                                 char **report,
                                                 sinter_error **error);

/** Frees MODEL, which sessions and trainers need no more. */
SINTER_API sinter_status sinter_model_free(sinter_model *model,
                                           sinter_error **error);
/** Frees a text that a call gave; NULL is ignored. */
SINTER_API void sinter_string_free(char *string);

/*===- Runs ---------------------------------------------------------------===*/

/** A compiled model. */
typedef struct sinter_session sinter_session;

/** Compiles MODEL, or finds its program in the cache. It happens now if the
    sizes of all inputs are known, and by dynamic dimensions if the model has
    such; else, and where values of inputs decide what is compiled, at the first
    run. OPTIONS (may be NULL): those of `sinter run` that say how to compile,
    such as threads, cpu, precision, cache-dir. Errors: SINTER_UNSUPPORTED if
    the model cannot be compiled or this machine cannot run it, SINTER_USAGE for
    shapes that the model does not take, SINTER_CANCELLED. */
SINTER_API sinter_status sinter_compile(const sinter_model *model,
                                        const sinter_options *options,
                                        sinter_session **session,
                                        sinter_error **error);

/** How many inputs and outputs SESSION has, and what they are. Errors:
    SINTER_USAGE if there is no input or output INDEX. */
SINTER_API size_t sinter_session_input_count(const sinter_session *session);
SINTER_API size_t sinter_session_output_count(const sinter_session *session);
SINTER_API sinter_status sinter_session_input(const sinter_session *session,
                                              size_t index,
                                              sinter_value_info *info,
                                              sinter_error **error);
SINTER_API sinter_status sinter_session_output(const sinter_session *session,
                                               size_t index,
                                               sinter_value_info *info,
                                               sinter_error **error);

/** A tensor that the library owns. */
typedef struct sinter_value sinter_value;
/** Its elements, row-major; they live as long as VALUE. */
SINTER_API sinter_status sinter_value_tensor(const sinter_value *value,
                                             sinter_tensor *tensor,
                                             sinter_error **error);
/** Frees VALUE; NULL is ignored. */
SINTER_API void sinter_value_free(sinter_value *value);

/** Runs the model. OUTPUTS has one entry an output. One whose data is NULL gets
    memory of the library: VALUES, which has one entry an output then, gets what
    owns it, and the entry its type and shape. Else VALUES may be NULL.
    CANCELLATION may be NULL. Threads may call it at once; runs of one session
    happen one after the other. Errors: SINTER_USAGE for tensors of other types
    or shapes than the model's, naming the first, SINTER_CANCELLED, and those of
    compiling where that happens at a run. */
SINTER_API sinter_status sinter_session_run(
    sinter_session *session, const sinter_tensor *inputs, size_t input_count,
    sinter_tensor *outputs, size_t output_count, sinter_value **values,
    const sinter_cancellation *cancellation, sinter_error **error);

/** States: tensors whose values stay from run to run. These are of
   sinter_session_run; each binding has states of its own. Errors: SINTER_USAGE
   if there is no state INDEX, and for a tensor of another type or shape. */
SINTER_API size_t sinter_session_state_count(const sinter_session *session);
SINTER_API sinter_status sinter_session_state(const sinter_session *session,
                                              size_t index,
                                              sinter_value_info *info,
                                              sinter_error **error);
SINTER_API sinter_status sinter_session_read_state(sinter_session *session,
                                                   size_t index,
                                                   const sinter_tensor *to,
                                                   sinter_error **error);
SINTER_API sinter_status sinter_session_write_state(sinter_session *session,
                                                    size_t index,
                                                    const sinter_tensor *from,
                                                    sinter_error **error);
SINTER_API sinter_status sinter_session_reset_states(sinter_session *session,
                                                     sinter_error **error);

/** Values of all states of a session or a binding: what it was at some time.
    Since version 2. */
typedef struct sinter_snapshot sinter_snapshot;
/** Copies the states between two runs: it waits for one that is under way. */
SINTER_API sinter_status sinter_session_snapshot(sinter_session *session,
                                                 sinter_snapshot **snapshot,
                                                 sinter_error **error);
/** Sets all states to those of SNAPSHOT, or none. The snapshot may be of
    another session, binding or process. Errors: SINTER_USAGE if a name, type or
    shape differs. */
SINTER_API sinter_status sinter_session_restore(sinter_session *session,
                                                const sinter_snapshot *snapshot,
                                                sinter_error **error);
/** The snapshot as bytes, to be kept and opened again, by later versions as
    well, SIZE of them. They live as long as the snapshot. NULL if it is none.
 */
SINTER_API const void *sinter_snapshot_data(const sinter_snapshot *snapshot,
                                            size_t *size);
/** Copies BYTES, SIZE of them, those of a snapshot. Errors: SINTER_SYSTEM if
    they are damaged. */
SINTER_API sinter_status sinter_snapshot_open(const void *bytes, size_t size,
                                              sinter_snapshot **snapshot,
                                              sinter_error **error);
/** How many states it has, and the name and the value of state INDEX; both live
    as long as the snapshot. Errors: SINTER_USAGE if there is no such state. */
SINTER_API size_t sinter_snapshot_state_count(const sinter_snapshot *snapshot);
SINTER_API const char *
sinter_snapshot_state_name(const sinter_snapshot *snapshot, size_t index);
SINTER_API sinter_status sinter_snapshot_state(const sinter_snapshot *snapshot,
                                               size_t index,
                                               sinter_tensor *tensor,
                                               sinter_error **error);
/** Frees SNAPSHOT; NULL is ignored. */
SINTER_API void sinter_snapshot_free(sinter_snapshot *snapshot);

/** Frees SESSION, of which there must be no binding. */
SINTER_API sinter_status sinter_session_free(sinter_session *session,
                                             sinter_error **error);

/** Inputs and outputs of one session, bound once and run often: a run looks up
    no name and checks no tensor again, unless one has to be copied or values
    decide what runs. One run of a binding at a time; bindings of one session
    run side by side. */
typedef struct sinter_binding sinter_binding;
/** Makes a binding of SESSION, with nothing bound. */
SINTER_API sinter_status sinter_binding_new(sinter_session *session,
                                            sinter_binding **binding,
                                            sinter_error **error);
/** The tensor's memory is read by each run; its shape and strides are copied.
    All inputs are to be bound. Errors: SINTER_USAGE if there is no input INDEX,
    and for a tensor of another type or shape. */
SINTER_API sinter_status sinter_binding_set_input(sinter_binding *binding,
                                                  size_t index,
                                                  const sinter_tensor *tensor,
                                                  sinter_error **error);
/** The tensor's memory is written by each run. Outputs that are not bound are
    of the library: see sinter_binding_output. Errors: SINTER_USAGE if there is
    no output INDEX, and for a tensor of another type or shape. */
SINTER_API sinter_status sinter_binding_set_output(sinter_binding *binding,
                                                   size_t index,
                                                   const sinter_tensor *tensor,
                                                   sinter_error **error);
/** Runs the model on what the bound memory holds. CANCELLATION may be NULL.
    Errors: SINTER_USAGE if an input is not bound or the binding already runs,
    SINTER_CANCELLED, and those of sinter_session_run. */
SINTER_API sinter_status sinter_binding_run(
    sinter_binding *binding, const sinter_cancellation *cancellation,
    sinter_error **error);
/** Output INDEX of the last run, in its memory; it lives until the next.
   Errors: SINTER_USAGE if there is no such output, or no run yet. */
SINTER_API sinter_status sinter_binding_output(const sinter_binding *binding,
                                               size_t index,
                                               sinter_tensor *tensor,
                                               sinter_error **error);
/** Makes every state of the binding what it was before its first run. */
SINTER_API sinter_status sinter_binding_reset_states(sinter_binding *binding,
                                                     sinter_error **error);
/** As of a session. A binding has states once all its inputs are bound. Since
    version 2. Errors: SINTER_USAGE as for a session. */
SINTER_API sinter_status sinter_binding_read_state(sinter_binding *binding,
                                                   size_t index,
                                                   const sinter_tensor *to,
                                                   sinter_error **error);
SINTER_API sinter_status sinter_binding_write_state(sinter_binding *binding,
                                                    size_t index,
                                                    const sinter_tensor *from,
                                                    sinter_error **error);
SINTER_API sinter_status sinter_binding_snapshot(sinter_binding *binding,
                                                 sinter_snapshot **snapshot,
                                                 sinter_error **error);
SINTER_API sinter_status sinter_binding_restore(sinter_binding *binding,
                                                const sinter_snapshot *snapshot,
                                                sinter_error **error);
/** Not 0 if a run has to copy the input or output, since it is not
    row-major without gaps, or not aligned. */
SINTER_API int32_t sinter_binding_copies_input(const sinter_binding *binding,
                                               size_t index);
SINTER_API int32_t sinter_binding_copies_output(const sinter_binding *binding,
                                                size_t index);
/** Frees BINDING. */
SINTER_API sinter_status sinter_binding_free(sinter_binding *binding,
                                             sinter_error **error);

/** Cancels runs, and calls with options that have it
    (sinter_options_set_cancellation), from another thread; they end soon with
    SINTER_CANCELLED. It stays cancelled until it is reset. */
SINTER_API sinter_status sinter_cancellation_new(
    sinter_cancellation **cancellation, sinter_error **error);
SINTER_API void sinter_cancellation_cancel(sinter_cancellation *cancellation);
SINTER_API void sinter_cancellation_reset(sinter_cancellation *cancellation);
SINTER_API void sinter_cancellation_free(sinter_cancellation *cancellation);

/*===- Training -----------------------------------------------------------===*/

/** A model in training. One call at a time works; others wait. Since
    version 2. */
typedef struct sinter_trainer sinter_trainer;

/** Makes MODEL ready for steps on batches of the caller's. OPTIONS (may be
    NULL): those of `sinter train` about a step, such as loss, optimizer, lr,
    trainable, seed, accumulate, memory-limit, and how to compile it; format, as
    of sinter_model_optimize. The model may be freed before the trainer. Errors:
    SINTER_USAGE for losses that do not fit the model's outputs,
    SINTER_UNSUPPORTED if an operation has no gradient, SINTER_CANCELLED. */
SINTER_API sinter_status sinter_trainer_new(const sinter_model *model,
                                            const sinter_options *options,
                                            sinter_trainer **trainer,
                                            sinter_error **error);
/** How many arrays a batch has, and their names: the inputs of the model, then
    the targets of the losses. NULL if there is no such array. */
SINTER_API size_t sinter_trainer_array_count(const sinter_trainer *trainer);
SINTER_API const char *sinter_trainer_array_name(const sinter_trainer *trainer,
                                                 size_t index);
/** A step on BATCH, COUNT arrays of as many samples each, along their first
    dimension. Batches of other sizes compile another program. LOSS (may be
    NULL) gets the loss before the step. Errors: SINTER_WRONG_RESULT if the loss
    or a gradient is not finite, with the first tensor that is not: the weights
    stay, and further steps are refused; SINTER_USAGE for arrays that do not fit
    the model. */
SINTER_API sinter_status sinter_trainer_step(sinter_trainer *trainer,
                                             const sinter_tensor *batch,
                                             size_t count, double *loss,
                                             sinter_error **error);
/** The loss of a batch as the model would run: without dropout, by the running
    statistics of batch norms. The weights stay. LOSS (may be NULL) gets it.
    Errors: as of sinter_trainer_step. */
SINTER_API sinter_status sinter_trainer_evaluate(sinter_trainer *trainer,
                                                 const sinter_tensor *batch,
                                                 size_t count, double *loss,
                                                 sinter_error **error);
/** The learning rate of further steps, which RATE gets or is: the option lr,
    until it is set. */
SINTER_API sinter_status sinter_trainer_learning_rate(
    const sinter_trainer *trainer, double *rate, sinter_error **error);
SINTER_API sinter_status sinter_trainer_set_learning_rate(
    sinter_trainer *trainer, double rate, sinter_error **error);
/** A new model with the weights as they are; before the first batch, those of
    the trained model's file. */
SINTER_API sinter_status sinter_trainer_model(const sinter_trainer *trainer,
                                              sinter_model **model,
                                              sinter_error **error);
/** Frees TRAINER. Models that it gave stay. */
SINTER_API sinter_status sinter_trainer_free(sinter_trainer *trainer,
                                             sinter_error **error);

/*===- Code compiled ahead of time ----------------------------------------===*/

/** A tensor of a sinter_runtime_call. */
typedef struct sinter_runtime_tensor {
  const char *type; /**< "f32", as `sinter inspect` names it. */
  size_t rank;
  const int64_t *shape;
  void *data; /**< Dense, row-major. */
} sinter_runtime_tensor;
/** What code of `sinter compile --with-runtime` calls: a Fourier transform, a
    solver, random numbers. */
typedef struct sinter_runtime_call {
  size_t struct_size; /**< sizeof(sinter_runtime_call) */
  const char *function;
  const char *configuration;            /**< Of the function. */
  const sinter_runtime_tensor *tensors; /**< Inputs, then outputs. */
  size_t inputs;
  size_t outputs;
  uint64_t *random; /**< Two words, 0 at the begin of a run. */
} sinter_runtime_call;
/** Makes CALL, for code of `sinter compile --with-runtime`, which is made to be
    the only caller. Since version 2. Errors: SINTER_UNSUPPORTED if this version
    of the library lacks the function, and those of the function. */
SINTER_API sinter_status sinter_call_runtime(const sinter_runtime_call *call);
/** What the last such call of this thread that failed says of it. */
SINTER_API const char *sinter_runtime_error(void);

/*===- The compiler -------------------------------------------------------===*/

/** The compiler is a library of its own, which is loaded when a model is read
    or compiled: a program in the cache runs without. This loads it now. Errors:
    SINTER_SYSTEM if it is not found or is of another build. */
SINTER_API sinter_status sinter_load_compiler(sinter_error **error);
/** Names its file, in place of the one beside this library. Errors:
    SINTER_USAGE if it is loaded already. */
SINTER_API sinter_status sinter_set_compiler_library(const char *path,
                                                     sinter_error **error);

#ifdef __cplusplus
}
#endif

#endif /* SINTER_H */
