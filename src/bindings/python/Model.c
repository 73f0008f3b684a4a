/*===- Model.c - a model --------------------------------------------------===*/

#include "Extension.h"

typedef struct {
  holder base;
  sinter_model *model;
} model_object;

static PyTypeObject *model_type;

PyObject *model_new(sinter_model *model, PyObject *callbacks) {
  model_object *made = holder_new(model_type, callbacks);
  if (!made) {
    sinter_model_free(model, NULL);
    return NULL;
  }
  made->model = model;
  PyObject_GC_Track(made);
  return (PyObject *)made;
}

static void model_dealloc(model_object *self) {
  PyObject_GC_UnTrack(self);
  sinter_model_free(self->model, NULL);
  holder_end(&self->base);
}

/** open(path, contents, folder, options): the model in the file PATH or, if
    CONTENTS are not None, in these bytes. */
static PyObject *open_model(PyObject *module, PyObject *arguments) {
  const char *path, *folder;
  PyObject *contents, *dictionary;
  if (!PyArg_ParseTuple(arguments, "sOzO!:open", &path, &contents, &folder,
                        &PyDict_Type, &dictionary))
    return NULL;
  options given;
  if (options_take(&given, dictionary) < 0)
    return NULL;
  Py_buffer bytes = {0};
  if (contents != Py_None &&
      PyObject_GetBuffer(contents, &bytes, PyBUF_SIMPLE) < 0) {
    options_release(&given);
    Py_XDECREF(given.callbacks);
    return NULL;
  }
  sinter_model *model = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      contents == Py_None
          ? sinter_model_open(path, given.options, &model, &error)
          : sinter_model_open_memory(bytes.buf, (size_t)bytes.len, path, folder,
                                     given.options, &model, &error);
  Py_END_ALLOW_THREADS if (contents != Py_None) PyBuffer_Release(&bytes);
  options_release(&given);
  if (status == SINTER_OK)
    return model_new(model, given.callbacks);
  Py_XDECREF(given.callbacks);
  return raise_error(error);
}

static sinter_status input_info(const void *model, size_t index,
                                sinter_value_info *info, sinter_error **error) {
  return sinter_model_input(model, index, info, error);
}

static sinter_status output_info(const void *model, size_t index,
                                 sinter_value_info *info,
                                 sinter_error **error) {
  return sinter_model_output(model, index, info, error);
}

static PyObject *model_inputs(model_object *self, PyObject *ignored) {
  return infos(self->model, sinter_model_input_count(self->model), input_info);
}

static PyObject *model_outputs(model_object *self, PyObject *ignored) {
  return infos(self->model, sinter_model_output_count(self->model),
               output_info);
}

static PyObject *model_compile(model_object *self, PyObject *dictionary) {
  return session_of(self->model, dictionary);
}

static PyObject *model_train(model_object *self, PyObject *dictionary) {
  return trainer_of(self->model, dictionary);
}

static PyObject *model_save(model_object *self, PyObject *arguments) {
  const char *path;
  PyObject *dictionary;
  if (!PyArg_ParseTuple(arguments, "sO!:save", &path, &PyDict_Type,
                        &dictionary))
    return NULL;
  options given;
  if (options_take(&given, dictionary) < 0)
    return NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_model_save(self->model, path, given.options, &error);
  Py_END_ALLOW_THREADS options_release(&given);
  Py_XDECREF(given.callbacks);
  return status == SINTER_OK ? Py_NewRef(Py_None) : raise_error(error);
}

static PyObject *model_save_memory(model_object *self, PyObject *arguments) {
  const char *name;
  PyObject *dictionary;
  if (!PyArg_ParseTuple(arguments, "sO!:save_memory", &name, &PyDict_Type,
                        &dictionary))
    return NULL;
  options given;
  if (options_take(&given, dictionary) < 0)
    return NULL;
  sinter_files *files = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status = sinter_model_save_memory(
      self->model, name, given.options, &files, &error);
  Py_END_ALLOW_THREADS options_release(&given);
  Py_XDECREF(given.callbacks);
  if (status != SINTER_OK)
    return raise_error(error);
  PyObject *all = PyDict_New();
  for (size_t i = 0; all && i < sinter_files_count(files); ++i) {
    size_t size = 0;
    const void *data = sinter_files_data(files, i, &size);
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    if (!bytes ||
        PyDict_SetItemString(all, sinter_files_name(files, i), bytes) < 0)
      Py_CLEAR(all);
    Py_XDECREF(bytes);
  }
  sinter_files_free(files);
  return all;
}

/** TEXT as a str, and frees it. */
static PyObject *text_of(char *text) {
  PyObject *result = PyUnicode_FromString(text);
  sinter_string_free(text);
  return result;
}

static PyObject *model_compare(model_object *self, PyObject *arguments) {
  model_object *other;
  PyObject *inputs, *dictionary;
  if (!PyArg_ParseTuple(arguments, "O!OO!:compare", model_type, &other, &inputs,
                        &PyDict_Type, &dictionary))
    return NULL;
  options given;
  if (options_take(&given, dictionary) < 0)
    return NULL;
  arrays taken;
  if (arrays_take(&taken, inputs, "an input") < 0) {
    options_release(&given);
    Py_XDECREF(given.callbacks);
    return NULL;
  }
  char *report = NULL;
  sinter_error *error = NULL;
  Py_BEGIN_ALLOW_THREADS sinter_model_compare(self->model, other->model,
                                              taken.tensors, taken.count,
                                              given.options, &report, &error);
  Py_END_ALLOW_THREADS arrays_release(&taken);
  options_release(&given);
  Py_XDECREF(given.callbacks);
  if (!report)
    return raise_error(error);
  /* The report says whether they differ. */
  sinter_error_free(error);
  return text_of(report);
}

static PyObject *model_view(model_object *self, PyObject *dictionary) {
  options given;
  if (options_take(&given, dictionary) < 0)
    return NULL;
  char *page = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_model_view(self->model, given.options, &page, &error);
  Py_END_ALLOW_THREADS options_release(&given);
  Py_XDECREF(given.callbacks);
  if (status != SINTER_OK)
    return raise_error(error);
  return text_of(page);
}

static PyObject *model_compile_to(model_object *self, PyObject *arguments) {
  PyObject *path, *dictionary;
  options given;
  if (!PyArg_ParseTuple(arguments, "O&O", PyUnicode_FSConverter, &path,
                        &dictionary))
    return NULL;
  if (options_take(&given, dictionary) < 0) {
    Py_DECREF(path);
    return NULL;
  }
  char *report = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  const char *name = PyBytes_AsString(path);
  Py_BEGIN_ALLOW_THREADS status = sinter_model_compile_to(
      self->model, name, given.options, &report, &error);
  Py_END_ALLOW_THREADS options_release(&given);
  Py_XDECREF(given.callbacks);
  Py_DECREF(path);
  if (status != SINTER_OK)
    return raise_error(error);
  return text_of(report);
}

/** (model, report) of what a rewrite gave. */
static PyObject *rewritten(sinter_status status, sinter_model *model,
                           char *report, PyObject *callbacks,
                           sinter_error *error) {
  if (status != SINTER_OK) {
    sinter_string_free(report);
    Py_XDECREF(callbacks);
    return raise_error(error);
  }
  PyObject *made = model_new(model, callbacks);
  PyObject *both = made ? Py_BuildValue("(Ns)", made, report) : NULL;
  sinter_string_free(report);
  return both;
}

static PyObject *model_optimize(model_object *self, PyObject *dictionary) {
  options given;
  if (options_take(&given, dictionary) < 0)
    return NULL;
  sinter_model *result = NULL;
  char *report = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status = sinter_model_optimize(
      self->model, given.options, &result, &report, &error);
  Py_END_ALLOW_THREADS options_release(&given);
  return rewritten(status, result, report, given.callbacks, error);
}

/** What quantize() and evaluate() call for samples. */
typedef struct {
  PyObject *sample;
  array *arrays;
  size_t taken;
  /* What the callback raised, in a thread of the library. */
  PyObject *error_type, *error_value, *error_trace;
} sampler;

static void release_sample(sampler *samples) {
  for (size_t i = 0; i < samples->taken; ++i)
    array_release(&samples->arrays[i]);
  samples->taken = 0;
}

/** Fills in INPUTS, COUNT of them, and behind them TARGET, unless it is NULL,
    by the list that sample(INDEX) gives. */
static int32_t take_arrays(sampler *samples, size_t index,
                           sinter_tensor *inputs, size_t count,
                           sinter_tensor *target) {
  const PyGILState_STATE state = PyGILState_Ensure();
  release_sample(samples);
  PyObject *all =
      PyObject_CallFunction(samples->sample, "n", (Py_ssize_t)index);
  int32_t failed = !all;
  for (size_t i = 0; !failed && i < count + (target != NULL); ++i) {
    PyObject *each = PySequence_GetItem(all, (Py_ssize_t)i);
    failed = !each || array_take(&samples->arrays[i], each, 0, "a sample") < 0;
    Py_XDECREF(each);
    if (failed)
      break;
    ++samples->taken;
    *(i < count ? &inputs[i] : target) = samples->arrays[i].tensor;
  }
  Py_XDECREF(all);
  if (failed && !samples->error_type)
    PyErr_Fetch(&samples->error_type, &samples->error_value,
                &samples->error_trace);
  PyGILState_Release(state);
  return failed;
}

static int32_t take_sample(void *user, size_t index, sinter_tensor *inputs,
                           size_t count) {
  return take_arrays(user, index, inputs, count, NULL);
}

static int32_t take_labelled_sample(void *user, size_t index,
                                    sinter_tensor *inputs, size_t count,
                                    sinter_tensor *target) {
  return take_arrays(user, index, inputs, count, target);
}

/** Takes the options, and room for the arrays of a sample of MODEL and its
    target; -1 with an exception, and nothing taken, if one of them fails. */
static int sampler_start(sampler *samples, PyObject *sample,
                         const sinter_model *model, options *given,
                         PyObject *dictionary) {
  if (options_take(given, dictionary) < 0)
    return -1;
  *samples = (sampler){sample, NULL, 0, NULL, NULL, NULL};
  samples->arrays =
      PyMem_Calloc(sinter_model_input_count(model) + 1, sizeof(array));
  if (samples->arrays)
    return 0;
  PyErr_NoMemory();
  options_release(given);
  Py_XDECREF(given->callbacks);
  return -1;
}

/** Frees it, and raises what the callback raised. */
static void sampler_end(sampler *samples) {
  release_sample(samples);
  PyMem_Free(samples->arrays);
  if (samples->error_type)
    PyErr_Restore(samples->error_type, samples->error_value,
                  samples->error_trace);
}

static PyObject *model_quantize(model_object *self, PyObject *arguments) {
  PyObject *dictionary, *sample;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(arguments, "O!On:quantize", &PyDict_Type, &dictionary,
                        &sample, &count))
    return NULL;
  options given;
  sampler samples;
  if (sampler_start(&samples, sample, self->model, &given, dictionary) < 0)
    return NULL;
  sinter_model *result = NULL;
  char *report = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_model_quantize(self->model, given.options, take_sample, &samples,
                            (size_t)count, &result, &report, &error);
  Py_END_ALLOW_THREADS options_release(&given);
  sampler_end(&samples);
  return rewritten(status, result, report, given.callbacks, error);
}

static PyObject *model_evaluate(model_object *self, PyObject *arguments) {
  PyObject *other, *dictionary, *sample;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(arguments, "OO!On:evaluate", &other, &PyDict_Type,
                        &dictionary, &sample, &count))
    return NULL;
  if (other != Py_None && !PyObject_TypeCheck(other, model_type))
    return PyErr_Format(PyExc_TypeError, "expected a Model");
  options given;
  sampler samples;
  if (sampler_start(&samples, sample, self->model, &given, dictionary) < 0)
    return NULL;
  const sinter_model *against =
      other == Py_None ? NULL : ((model_object *)other)->model;
  char *report = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status = sinter_model_evaluate(
      self->model, against, given.options, count ? take_labelled_sample : NULL,
      &samples, (size_t)count, &report, &error);
  Py_END_ALLOW_THREADS options_release(&given);
  Py_XDECREF(given.callbacks);
  sampler_end(&samples);
  if (status == SINTER_OK)
    return text_of(report);
  /* What misses a bound has a report, too. */
  sinter_string_free(report);
  return raise_error(error);
}

static PyMethodDef model_methods[] = {
    {"inputs", (PyCFunction)model_inputs, METH_NOARGS,
     "[(name, type, shape)] of the inputs."},
    {"outputs", (PyCFunction)model_outputs, METH_NOARGS,
     "[(name, type, shape)] of the outputs."},
    {"compile", (PyCFunction)model_compile, METH_O,
     "A session, by a dictionary of options."},
    {"train", (PyCFunction)model_train, METH_O,
     "A trainer, by a dictionary of options."},
    {"save", (PyCFunction)model_save, METH_VARARGS, "save(path, options)"},
    {"save_memory", (PyCFunction)model_save_memory, METH_VARARGS,
     "save_memory(name, options) -> {name: bytes}, the model first"},
    {"compare", (PyCFunction)model_compare, METH_VARARGS,
     "compare(other, inputs, options) -> report"},
    {"view", (PyCFunction)model_view, METH_O,
     "The page of the model, by a dictionary of options."},
    {"compile_to", (PyCFunction)model_compile_to, METH_VARARGS,
     "compile_to(path, options) -> report"},
    {"optimize", (PyCFunction)model_optimize, METH_O,
     "optimize(options) -> (model, report)"},
    {"quantize", (PyCFunction)model_quantize, METH_VARARGS,
     "quantize(options, sample, count) -> (model, report); sample(index) gives "
     "a list of arrays"},
    {"evaluate", (PyCFunction)model_evaluate, METH_VARARGS,
     "evaluate(other, options, sample, count) -> report; sample(index) gives a "
     "list of arrays, the target last"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot model_slots[] = {{Py_tp_dealloc, model_dealloc},
                                    {Py_tp_traverse, holder_traverse},
                                    {Py_tp_methods, model_methods},
                                    {Py_tp_doc, "A model of the C interface."},
                                    {0, NULL}};

static PyType_Spec model_spec = {
    "sinter._sinter.Model", sizeof(model_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
        Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    model_slots};

static PyMethodDef functions[] = {
    {"open", open_model, METH_VARARGS,
     "open(path, contents, folder, options) -> Model"},
    {NULL, NULL, 0, NULL}};

int add_model_type(PyObject *module) {
  model_type = (PyTypeObject *)PyType_FromSpec(&model_spec);
  if (!model_type || PyModule_AddFunctions(module, functions) < 0)
    return -1;
  return PyModule_AddObjectRef(module, "Model", (PyObject *)model_type);
}
