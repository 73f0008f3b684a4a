/*===- Extension.h - the module sinter._sinter ----------------------------===*
 *
 * Objects of the C interface as Python objects, in the limited API of CPython
 * 3.11: one file serves this and later versions. What is made for people is
 * written in Python above it (sinter/__init__.py).
 *
 *===----------------------------------------------------------------------===*/

#ifndef SINTER_BINDINGS_PYTHON_EXTENSION_H
#define SINTER_BINDINGS_PYTHON_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <string.h>

#include "sinter.h"

/** The largest rank of a tensor from Python, as numpy has it. */
#define SINTER_MOST_DIMENSIONS 64

/*===- Errors (Errors.c) --------------------------------------------------===*/

/** Raises ERROR, which is freed, as an exception of sinter's tree. Returns
    NULL. */
PyObject *raise_error(sinter_error *error);
/** Makes the exceptions. Returns 0, or -1 with an exception. */
int add_errors(PyObject *module);

/*===- Tensors of Python (Arrays.c) ---------------------------------------===*/

/** Memory of a Python object as a tensor. */
typedef struct array {
  sinter_tensor tensor;
  int read_only;
  int has_buffer;
  Py_buffer buffer;
  /* What else keeps the memory: a DLPack capsule, or a sinter.Tensor. */
  PyObject *owner;
  int64_t shape[SINTER_MOST_DIMENSIONS];
  int64_t strides[SINTER_MOST_DIMENSIONS];
} array;

/** Takes the memory of OBJECT, to write to it if WRITABLE is not 0: of one with
    the buffer protocol, or with __dlpack__; of an array of elements that
    neither has (ml_dtypes); if it is only read, of what its __array__ gives.
    WHAT is for messages. Returns 0, or -1 with an exception. */
int array_take(array *taken, PyObject *object, int writable, const char *what);
/** Takes the strings of an array of texts, bytes or objects, to read them.
    Returns 1 if OBJECT is none. */
int array_take_strings(array *taken, PyObject *object, const char *what);
/** A list of str of all elements of TENSOR, which are strings. */
PyObject *list_of_strings(const sinter_tensor *tensor);
/** Gives it back. */
void array_release(array *taken);
/** Memory of all objects of a sequence. */
typedef struct arrays {
  array *all;
  sinter_tensor *tensors;
  size_t count;
} arrays;

/** Takes the memory of the objects in SEQUENCE, to read it. Returns 0, or -1
    with an exception. */
int arrays_take(arrays *taken, PyObject *sequence, const char *what);
void arrays_release(arrays *taken);
/** The type of elements that buffers call FORMAT and that take SIZE bytes; -1
    if there is none. */
int type_of_format(const char *format, Py_ssize_t size);
/** What buffers call elements of TYPE; NULL if they cannot. */
const char *format_of_type(sinter_type type);

/** The type of this name, "f32"; -1 if there is none. */
int type_of_name(const char *name);

/*===- Types (a file for each) --------------------------------------------===*/

/** A new sinter.Tensor, which owns VALUE. */
PyObject *tensor_new(sinter_value *value);
/** The tensor of OBJECT if it is a sinter.Tensor, else NULL; it lives as long
   as OBJECT. */
const sinter_tensor *tensor_of(PyObject *object, int *read_only);

/** Options of the library, and the callables that they call, a list, which is
   to outlive what is made with them. */
typedef struct options {
  sinter_options *options;
  PyObject *callbacks;
} options;

/** Takes OBJECT: None, or a dictionary of strings, or of lists of these; "log",
    "progress" and "print" are callables, "cancellation" is a
    sinter._sinter.Cancellation. Returns 0, or -1 with an exception. */
int options_take(options *taken, PyObject *object);
/** Frees the options, not the callables. */
void options_release(options *taken);

/** What objects begin with that are made with options. The collector sees the
    callables, which may refer to the object. */
typedef struct {
  PyObject_HEAD PyObject *callbacks;
} holder;

/** A new object of TYPE, which owns CALLBACKS, for its other members to be set;
    NULL with an exception, and CALLBACKS is released. */
void *holder_new(PyTypeObject *type, PyObject *callbacks);
int holder_traverse(PyObject *self, visitproc visit, void *arg);
/** Ends an object whose other members are released. */
void holder_end(holder *self);

/** Describes value INDEX of an object of the C interface. */
typedef sinter_status info_call(const void *object, size_t index,
                                sinter_value_info *info, sinter_error **error);
/** [(name, type, shape)] of COUNT values of OBJECT. */
PyObject *infos(const void *object, size_t count, info_call *call);

/** The cancellation of OBJECT, a sinter._sinter.Cancellation or None, to *TO.
    Returns 0, or -1 with an exception. */
int cancellation_of(PyObject *object, const sinter_cancellation **to);

int add_tensor_type(PyObject *module);
int add_cancellation_type(PyObject *module);
int add_model_type(PyObject *module);
int add_session_type(PyObject *module);
int add_trainer_type(PyObject *module);

/** A new object that owns MODEL and CALLBACKS; NULL with an exception. */
PyObject *model_new(sinter_model *model, PyObject *callbacks);
/** A new trainer of MODEL, by a dictionary of options. */
PyObject *trainer_of(const sinter_model *model, PyObject *dictionary);
/** A new session of MODEL, by a dictionary of options. */
PyObject *session_of(sinter_model *model, PyObject *dictionary);

#endif /* SINTER_BINDINGS_PYTHON_EXTENSION_H */
