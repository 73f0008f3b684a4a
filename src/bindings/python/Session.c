/*===- Session.c - sessions and bindings ----------------------------------===*/

#include "Extension.h"
#include "RunClock.h"

typedef struct {
  holder base;
  sinter_session *session;
  size_t outputs;
  run_clock clock;
} session_object;

typedef struct {
  PyObject_HEAD sinter_binding *binding;
  PyObject *session;
  size_t inputs, outputs;
  /* What is bound: those of inputs, then those of outputs. */
  array *arrays;
  char *is_bound;
  run_clock clock;
} binding_object;

static PyTypeObject *session_type, *binding_type;

/*===- Sessions -----------------------------------------------------------===*/

PyObject *session_of(sinter_model *model, PyObject *dictionary) {
  options given;
  if (options_take(&given, dictionary) < 0)
    return NULL;
  sinter_session *session = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_compile(model, given.options, &session, &error);
  Py_END_ALLOW_THREADS options_release(&given);
  if (status != SINTER_OK) {
    Py_XDECREF(given.callbacks);
    return raise_error(error);
  }
  session_object *made = holder_new(session_type, given.callbacks);
  if (!made) {
    sinter_session_free(session, NULL);
    return NULL;
  }
  made->session = session;
  made->outputs = sinter_session_output_count(session);
  clock_start(&made->clock);
  PyObject_GC_Track(made);
  return (PyObject *)made;
}

static void session_dealloc(session_object *self) {
  PyObject_GC_UnTrack(self);
  sinter_session_free(self->session, NULL);
  holder_end(&self->base);
}

static sinter_status input_info(const void *session, size_t index,
                                sinter_value_info *info, sinter_error **error) {
  return sinter_session_input(session, index, info, error);
}

static sinter_status output_info(const void *session, size_t index,
                                 sinter_value_info *info,
                                 sinter_error **error) {
  return sinter_session_output(session, index, info, error);
}

static sinter_status state_info(const void *session, size_t index,
                                sinter_value_info *info, sinter_error **error) {
  return sinter_session_state(session, index, info, error);
}

static PyObject *session_inputs(session_object *self, PyObject *ignored) {
  return infos(self->session, sinter_session_input_count(self->session),
               input_info);
}

static PyObject *session_outputs(session_object *self, PyObject *ignored) {
  return infos(self->session, sinter_session_output_count(self->session),
               output_info);
}

static PyObject *session_states(session_object *self, PyObject *ignored) {
  return infos(self->session, sinter_session_state_count(self->session),
               state_info);
}

/** What one call of run() holds. */
typedef struct {
  size_t input_count, output_count;
  /* Those of inputs, then those of outputs; TAKEN of them have memory. */
  array *arrays;
  sinter_tensor *tensors;
  sinter_value **values;
  size_t taken;
  /* Where the three are unless there are many. */
  array few_arrays[4];
  sinter_tensor few_tensors[4];
  sinter_value *few_values[4];
} call;

static void call_end(call *held) {
  for (size_t i = 0; i < held->taken; ++i)
    array_release(&held->arrays[i]);
  if (held->arrays != held->few_arrays) {
    PyMem_Free(held->arrays);
    PyMem_Free(held->tensors);
    PyMem_Free((void *)held->values);
  }
}

/** Takes OBJECT as the next input or output; None as nothing. */
static int take_next(call *held, PyObject *object) {
  const size_t place = held->taken;
  const int is_output = place >= held->input_count;
  held->tensors[place] = (sinter_tensor){sizeof(sinter_tensor)};
  if (is_output && object == Py_None) {
    held->arrays[place].has_buffer = 0;
    held->arrays[place].owner = NULL;
  } else {
    if (array_take(&held->arrays[place], object, is_output,
                   is_output ? "an output" : "an input") < 0)
      return -1;
    held->tensors[place] = held->arrays[place].tensor;
  }
  ++held->taken;
  return 0;
}

/** Takes the arrays of a call, which is to end in any case; OUTPUTS may be
    None, or have None for those that the library makes. */
static int call_begin(call *held, PyObject *inputs, PyObject *outputs,
                      size_t output_count) {
  held->taken = 0;
  held->arrays = held->few_arrays;
  held->tensors = held->few_tensors;
  held->values = held->few_values;
  const Py_ssize_t input_count = PySequence_Size(inputs);
  const Py_ssize_t out_count =
      outputs == Py_None ? (Py_ssize_t)output_count : PySequence_Size(outputs);
  if (input_count < 0 || out_count < 0)
    return -1;
  if (out_count != (Py_ssize_t)output_count) {
    PyErr_Format(PyExc_ValueError, "the model has %zu outputs; given: %zd",
                 output_count, out_count);
    return -1;
  }
  held->input_count = (size_t)input_count;
  held->output_count = output_count;
  const size_t count = (size_t)input_count + output_count;
  if (count > sizeof(held->few_values) / sizeof(held->few_values[0])) {
    held->arrays = PyMem_Malloc(count * sizeof(array));
    held->tensors = PyMem_Malloc(count * sizeof(sinter_tensor));
    held->values =
        (sinter_value **)PyMem_Malloc(count * sizeof(sinter_value *));
    if (!held->arrays || !held->tensors || !held->values) {
      PyErr_NoMemory();
      return -1;
    }
  }
  for (size_t i = 0; i < output_count; ++i)
    held->values[i] = NULL;
  for (size_t i = 0; i < count; ++i) {
    const int is_output = i >= (size_t)input_count;
    PyObject *each =
        !is_output ? PySequence_GetItem(inputs, (Py_ssize_t)i)
        : outputs == Py_None
            ? Py_NewRef(Py_None)
            : PySequence_GetItem(outputs, (Py_ssize_t)i - input_count);
    const int done = each ? take_next(held, each) : -1;
    Py_XDECREF(each);
    if (done < 0)
      return -1;
  }
  return 0;
}

/** The results of a call, a list: those of OUTPUTS, or of the library. */
static PyObject *results_of(call *held, PyObject *outputs) {
  PyObject *results = PyList_New((Py_ssize_t)held->output_count);
  for (size_t i = 0; i < held->output_count; ++i) {
    sinter_value *value = held->values[i];
    if (!results) {
      sinter_value_free(value);
      continue;
    }
    PyObject *each =
        value ? tensor_new(value) : PySequence_GetItem(outputs, (Py_ssize_t)i);
    if (!each || PyList_SetItem(results, (Py_ssize_t)i, each) < 0)
      Py_CLEAR(results);
  }
  return results;
}

/** Bytes of all inputs, or the largest number if they are more. */
static size_t input_bytes(const call *held) {
  size_t sum = 0;
  for (size_t i = 0; i < held->input_count; ++i) {
    size_t bytes = sinter_type_size(held->tensors[i].type);
    for (int k = 0; k < held->tensors[i].rank; ++k)
      if (__builtin_mul_overflow(bytes, held->tensors[i].shape[k], &bytes))
        return SIZE_MAX;
    if (__builtin_add_overflow(sum, bytes, &sum))
      return SIZE_MAX;
  }
  return sum;
}

/** Calls sinter._interrupts.run(OBJECT.run_here, STOP, ...). */
static PyObject *run_interruptibly(PyObject *object, PyObject *stop,
                                   PyObject *inputs, PyObject *outputs) {
  PyObject *module = PyImport_ImportModule("sinter._interrupts");
  PyObject *function = module ? PyObject_GetAttrString(module, "run") : NULL;
  PyObject *here = function ? PyObject_GetAttrString(object, "run_here") : NULL;
  PyObject *result = here ? PyObject_CallFunctionObjArgs(function, here, stop,
                                                         inputs, outputs, NULL)
                          : NULL;
  Py_XDECREF(module);
  Py_XDECREF(function);
  Py_XDECREF(here);
  return result;
}

/** run(inputs, outputs=None, cancellation=None). One that may take long goes to
    sinter._interrupts, which calls run_here(), unless HERE is not 0. */
static PyObject *run(session_object *self, PyObject *const *arguments,
                     Py_ssize_t argument_count, int here) {
  if (argument_count < 1 || argument_count > 3)
    return PyErr_Format(PyExc_TypeError, "run() takes 1 to 3 arguments");
  PyObject *outputs = argument_count > 1 ? arguments[1] : Py_None;
  PyObject *stop = argument_count > 2 ? arguments[2] : Py_None;
  const sinter_cancellation *cancellation;
  if (cancellation_of(stop, &cancellation) < 0)
    return NULL;
  call held;
  if (call_begin(&held, arguments[0], outputs, self->outputs) < 0) {
    call_end(&held);
    return NULL;
  }
  const size_t bytes = input_bytes(&held);
  if (!here && !clock_knows_short(&self->clock, bytes)) {
    call_end(&held);
    return run_interruptibly((PyObject *)self, stop, arguments[0], outputs);
  }
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS const int64_t begin = clock_now();
  status = sinter_session_run(self->session, held.tensors, held.input_count,
                              held.tensors + held.input_count, self->outputs,
                              held.values, cancellation, &error);
  clock_tell(&self->clock, bytes, clock_now() - begin);
  Py_END_ALLOW_THREADS PyObject *results =
      status == SINTER_OK ? results_of(&held, outputs) : raise_error(error);
  call_end(&held);
  return results;
}

static PyObject *session_run(session_object *self, PyObject *const *arguments,
                             Py_ssize_t count) {
  return run(self, arguments, count, 0);
}

static PyObject *session_run_here(session_object *self,
                                  PyObject *const *arguments,
                                  Py_ssize_t count) {
  return run(self, arguments, count, 1);
}

/** read_state(index, array) and write_state(index, array). */
static PyObject *move_state(session_object *self, PyObject *arguments,
                            int writes) {
  Py_ssize_t index;
  PyObject *object;
  if (!PyArg_ParseTuple(arguments, "nO", &index, &object))
    return NULL;
  array taken;
  if (array_take(&taken, object, !writes, "a state") < 0)
    return NULL;
  sinter_error *error = NULL;
  const sinter_status status =
      writes ? sinter_session_write_state(self->session, (size_t)index,
                                          &taken.tensor, &error)
             : sinter_session_read_state(self->session, (size_t)index,
                                         &taken.tensor, &error);
  array_release(&taken);
  return status == SINTER_OK ? Py_NewRef(Py_None) : raise_error(error);
}

static PyObject *session_read_state(session_object *self, PyObject *arguments) {
  return move_state(self, arguments, 0);
}

static PyObject *session_write_state(session_object *self,
                                     PyObject *arguments) {
  return move_state(self, arguments, 1);
}

static PyObject *session_reset_states(session_object *self, PyObject *ignored) {
  sinter_error *error = NULL;
  return sinter_session_reset_states(self->session, &error) == SINTER_OK
             ? Py_NewRef(Py_None)
             : raise_error(error);
}

/*===- Bindings -----------------------------------------------------------===*/

static PyObject *session_bind(session_object *self, PyObject *ignored) {
  binding_object *made = PyObject_GC_New(binding_object, binding_type);
  if (!made)
    return NULL;
  made->binding = NULL;
  made->session = Py_NewRef((PyObject *)self);
  clock_start(&made->clock);
  made->inputs = sinter_session_input_count(self->session);
  made->outputs = sinter_session_output_count(self->session);
  made->arrays = PyMem_Calloc(made->inputs + made->outputs + 1, sizeof(array));
  made->is_bound = PyMem_Calloc(made->inputs + made->outputs + 1, 1);
  sinter_error *error = NULL;
  if (!made->arrays || !made->is_bound) {
    Py_DECREF(made);
    return PyErr_NoMemory();
  }
  if (sinter_binding_new(self->session, &made->binding, &error) != SINTER_OK) {
    Py_DECREF(made);
    return raise_error(error);
  }
  PyObject_GC_Track(made);
  return (PyObject *)made;
}

static int binding_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((binding_object *)self)->session);
  return 0;
}

static void binding_dealloc(binding_object *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  PyObject_GC_UnTrack(self);
  sinter_binding_free(self->binding, NULL);
  for (size_t i = 0;
       self->arrays && self->is_bound && i < self->inputs + self->outputs; ++i)
    if (self->is_bound[i])
      array_release(&self->arrays[i]);
  PyMem_Free(self->arrays);
  PyMem_Free(self->is_bound);
  Py_DECREF(self->session);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static PyObject *bind(binding_object *self, PyObject *arguments,
                      int is_output) {
  Py_ssize_t index;
  PyObject *object;
  if (!PyArg_ParseTuple(arguments, "nO", &index, &object))
    return NULL;
  const size_t count = is_output ? self->outputs : self->inputs;
  if (index < 0 || (size_t)index >= count) {
    PyErr_Format(PyExc_IndexError, "there is no %s %zd",
                 is_output ? "output" : "input", index);
    return NULL;
  }
  array taken;
  if (array_take(&taken, object, is_output,
                 is_output ? "an output" : "an input") < 0)
    return NULL;
  sinter_error *error = NULL;
  const sinter_status status =
      is_output ? sinter_binding_set_output(self->binding, (size_t)index,
                                            &taken.tensor, &error)
                : sinter_binding_set_input(self->binding, (size_t)index,
                                           &taken.tensor, &error);
  if (status != SINTER_OK) {
    array_release(&taken);
    return raise_error(error);
  }
  const size_t place = (is_output ? self->inputs : 0) + (size_t)index;
  if (self->is_bound[place])
    array_release(&self->arrays[place]);
  self->arrays[place] = taken;
  self->is_bound[place] = 1;
  return Py_NewRef(Py_None);
}

static PyObject *binding_set_input(binding_object *self, PyObject *arguments) {
  return bind(self, arguments, 0);
}

static PyObject *binding_set_output(binding_object *self, PyObject *arguments) {
  return bind(self, arguments, 1);
}

static PyObject *run_binding(binding_object *self,
                             const sinter_cancellation *cancellation) {
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS const int64_t begin = clock_now();
  status = sinter_binding_run(self->binding, cancellation, &error);
  clock_tell(&self->clock, 0, clock_now() - begin);
  Py_END_ALLOW_THREADS return status == SINTER_OK ? Py_NewRef(Py_None)
                                                  : raise_error(error);
}

static PyObject *binding_run(binding_object *self, PyObject *ignored) {
  return clock_knows_short(&self->clock, 0)
             ? run_binding(self, NULL)
             : run_interruptibly((PyObject *)self, Py_None, NULL, NULL);
}

static PyObject *binding_run_here(binding_object *self, PyObject *stop) {
  const sinter_cancellation *cancellation;
  return cancellation_of(stop, &cancellation) < 0
             ? NULL
             : run_binding(self, cancellation);
}

static PyObject *binding_copies(binding_object *self, PyObject *ignored) {
  PyObject *all = PyList_New(0);
  for (size_t i = 0; all && i < self->inputs + self->outputs; ++i) {
    const int copies =
        i < self->inputs
            ? sinter_binding_copies_input(self->binding, i)
            : sinter_binding_copies_output(self->binding, i - self->inputs);
    if (PyList_Append(all, copies ? Py_True : Py_False) < 0)
      Py_CLEAR(all);
  }
  return all;
}

/*===- The types ----------------------------------------------------------===*/

static PyMethodDef session_methods[] = {
    {"inputs", (PyCFunction)session_inputs, METH_NOARGS,
     "[(name, type, shape)] of the inputs."},
    {"outputs", (PyCFunction)session_outputs, METH_NOARGS,
     "[(name, type, shape)] of the outputs."},
    {"states", (PyCFunction)session_states, METH_NOARGS,
     "[(name, type, shape)] of the states."},
    {"run", (PyCFunction)(void (*)(void))session_run, METH_FASTCALL,
     "run(inputs, outputs=None, cancellation=None) -> [result]"},
    {"run_here", (PyCFunction)(void (*)(void))session_run_here, METH_FASTCALL,
     "As run(), in this thread."},
    {"read_state", (PyCFunction)session_read_state, METH_VARARGS,
     "read_state(index, array)"},
    {"write_state", (PyCFunction)session_write_state, METH_VARARGS,
     "write_state(index, array)"},
    {"reset_states", (PyCFunction)session_reset_states, METH_NOARGS,
     "Makes every state what it was before the first run."},
    {"bind", (PyCFunction)session_bind, METH_NOARGS, "A new binding."},
    {NULL, NULL, 0, NULL}};

static PyMethodDef binding_methods[] = {
    {"set_input", (PyCFunction)binding_set_input, METH_VARARGS,
     "set_input(index, array)"},
    {"set_output", (PyCFunction)binding_set_output, METH_VARARGS,
     "set_output(index, array)"},
    {"run", (PyCFunction)binding_run, METH_NOARGS, "Runs the model."},
    {"run_here", (PyCFunction)binding_run_here, METH_O,
     "run_here(cancellation): as run(), in this thread."},
    {"copies", (PyCFunction)binding_copies, METH_NOARGS,
     "Whether each input, then each output, has to be copied."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot session_slots[] = {
    {Py_tp_dealloc, session_dealloc},
    {Py_tp_traverse, holder_traverse},
    {Py_tp_methods, session_methods},
    {Py_tp_doc, "A session of the C interface."},
    {0, NULL}};

static PyType_Slot binding_slots[] = {
    {Py_tp_dealloc, binding_dealloc},
    {Py_tp_traverse, binding_traverse},
    {Py_tp_methods, binding_methods},
    {Py_tp_doc, "A binding of the C interface."},
    {0, NULL}};

enum {
  type_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
               Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE
};

static PyType_Spec session_spec = {"sinter._sinter.Session",
                                   sizeof(session_object), 0, type_flags,
                                   session_slots};
static PyType_Spec binding_spec = {"sinter._sinter.Binding",
                                   sizeof(binding_object), 0, type_flags,
                                   binding_slots};

int add_session_type(PyObject *module) {
  session_type = (PyTypeObject *)PyType_FromSpec(&session_spec);
  binding_type = (PyTypeObject *)PyType_FromSpec(&binding_spec);
  if (!session_type || !binding_type ||
      PyModule_AddObjectRef(module, "Session", (PyObject *)session_type) < 0)
    return -1;
  return PyModule_AddObjectRef(module, "Binding", (PyObject *)binding_type);
}
