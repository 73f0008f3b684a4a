/*===- Session.c - sessions and bindings ----------------------------------===*/

#include "Extension.h"

typedef struct {
  PyObject_HEAD sinter_session *session;
  PyObject *log;
} session_object;

typedef struct {
  PyObject_HEAD sinter_binding *binding;
  PyObject *session;
  size_t inputs, outputs;
  /* What is bound: those of inputs, then those of outputs. */
  array *arrays;
  char *is_bound;
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
    Py_XDECREF(given.log);
    return raise_error(error);
  }
  session_object *made = PyObject_New(session_object, session_type);
  if (!made) {
    sinter_session_free(session, NULL);
    Py_XDECREF(given.log);
    return NULL;
  }
  made->session = session;
  made->log = given.log;
  return (PyObject *)made;
}

static void session_dealloc(session_object *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  sinter_session_free(self->session, NULL);
  Py_XDECREF(self->log);
  PyObject_Free(self);
  Py_DECREF(type);
}

typedef sinter_status info_call(const sinter_session *, size_t,
                                sinter_value_info *, sinter_error **);

static PyObject *infos(const sinter_session *session, size_t count,
                       info_call *call) {
  PyObject *all = PyList_New(0);
  for (size_t i = 0; all && i < count; ++i) {
    sinter_value_info info = {0};
    info.struct_size = sizeof(info);
    sinter_error *error = NULL;
    if (call(session, i, &info, &error) != SINTER_OK) {
      Py_DECREF(all);
      return raise_error(error);
    }
    PyObject *each = info_to_python(&info);
    if (!each || PyList_Append(all, each) < 0)
      Py_CLEAR(all);
    Py_XDECREF(each);
  }
  return all;
}

static PyObject *session_inputs(session_object *self, PyObject *ignored) {
  return infos(self->session, sinter_session_input_count(self->session),
               sinter_session_input);
}

static PyObject *session_outputs(session_object *self, PyObject *ignored) {
  return infos(self->session, sinter_session_output_count(self->session),
               sinter_session_output);
}

static PyObject *session_states(session_object *self, PyObject *ignored) {
  return infos(self->session, sinter_session_state_count(self->session),
               sinter_session_state);
}

/** What one call of run() holds. */
typedef struct {
  size_t input_count, output_count;
  array *inputs, *outputs;
  sinter_tensor *input_tensors, *output_tensors;
  sinter_value **values;
  size_t inputs_taken, outputs_taken;
} call;

static void call_end(call *held) {
  for (size_t i = 0; i < held->inputs_taken; ++i)
    array_release(&held->inputs[i]);
  for (size_t i = 0; i < held->outputs_taken; ++i)
    array_release(&held->outputs[i]);
  PyMem_Free(held->inputs);
  PyMem_Free(held->outputs);
  PyMem_Free(held->input_tensors);
  PyMem_Free(held->output_tensors);
  PyMem_Free(held->values);
}

/** Takes the arrays of a call; OUTPUTS may be None, or have None for those that
    the library makes. */
static int call_begin(call *held, PyObject *inputs, PyObject *outputs,
                      size_t output_count) {
  const Py_ssize_t count = PySequence_Size(inputs);
  if (count < 0)
    return -1;
  held->input_count = (size_t)count;
  held->output_count = output_count;
  held->inputs = PyMem_Calloc((size_t)count + 1, sizeof(array));
  held->input_tensors = PyMem_Calloc((size_t)count + 1, sizeof(sinter_tensor));
  held->outputs = PyMem_Calloc(output_count + 1, sizeof(array));
  held->output_tensors = PyMem_Calloc(output_count + 1, sizeof(sinter_tensor));
  held->values = PyMem_Calloc(output_count + 1, sizeof(sinter_value *));
  if (!held->inputs || !held->outputs || !held->input_tensors ||
      !held->output_tensors || !held->values) {
    PyErr_NoMemory();
    return -1;
  }
  for (size_t i = 0; i < held->input_count; ++i) {
    PyObject *each = PySequence_GetItem(inputs, (Py_ssize_t)i);
    const int done =
        each ? array_take(&held->inputs[i], each, 0, "an input") : -1;
    Py_XDECREF(each);
    if (done < 0)
      return -1;
    ++held->inputs_taken;
    held->input_tensors[i] = held->inputs[i].tensor;
  }
  for (size_t i = 0; i < output_count; ++i) {
    PyObject *each = outputs == Py_None
                         ? Py_NewRef(Py_None)
                         : PySequence_GetItem(outputs, (Py_ssize_t)i);
    int done = each ? 0 : -1;
    held->output_tensors[i].struct_size = sizeof(sinter_tensor);
    if (each && each != Py_None) {
      done = array_take(&held->outputs[i], each, 1, "an output");
      if (done == 0)
        held->output_tensors[i] = held->outputs[i].tensor;
    }
    Py_XDECREF(each);
    if (done < 0)
      return -1;
    ++held->outputs_taken;
  }
  return 0;
}

static PyObject *session_run(session_object *self, PyObject *arguments) {
  PyObject *inputs, *outputs = Py_None, *results = NULL;
  if (!PyArg_ParseTuple(arguments, "O|O:run", &inputs, &outputs))
    return NULL;
  call held = {0};
  const size_t count = sinter_session_output_count(self->session);
  if (call_begin(&held, inputs, outputs, count) < 0) {
    call_end(&held);
    return NULL;
  }
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_session_run(self->session, held.input_tensors, held.input_count,
                         held.output_tensors, count, held.values, NULL, &error);
  Py_END_ALLOW_THREADS if (status != SINTER_OK) raise_error(error);
  else results = PyList_New(0);
  for (size_t i = 0; status == SINTER_OK && i < count; ++i) {
    PyObject *each =
        !held.values[i]
            ? (outputs == Py_None ? Py_NewRef(Py_None)
                                  : PySequence_GetItem(outputs, (Py_ssize_t)i))
            : tensor_new(held.values[i]);
    if (!each || (results && PyList_Append(results, each) < 0))
      Py_CLEAR(results);
    Py_XDECREF(each);
  }
  call_end(&held);
  return results;
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
  binding_object *made = PyObject_New(binding_object, binding_type);
  if (!made)
    return NULL;
  made->binding = NULL;
  made->session = Py_NewRef((PyObject *)self);
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
  return (PyObject *)made;
}

static void binding_dealloc(binding_object *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  sinter_binding_free(self->binding, NULL);
  for (size_t i = 0;
       self->arrays && self->is_bound && i < self->inputs + self->outputs; ++i)
    if (self->is_bound[i])
      array_release(&self->arrays[i]);
  PyMem_Free(self->arrays);
  PyMem_Free(self->is_bound);
  Py_DECREF(self->session);
  PyObject_Free(self);
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

static PyObject *binding_run(binding_object *self, PyObject *ignored) {
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_binding_run(self->binding, NULL, &error);
  Py_END_ALLOW_THREADS return status == SINTER_OK ? Py_NewRef(Py_None)
                                                  : raise_error(error);
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
    {"run", (PyCFunction)session_run, METH_VARARGS,
     "run(inputs, outputs=None) -> [result]"},
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
    {"copies", (PyCFunction)binding_copies, METH_NOARGS,
     "Whether each input, then each output, has to be copied."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot session_slots[] = {
    {Py_tp_dealloc, session_dealloc},
    {Py_tp_methods, session_methods},
    {Py_tp_doc, "A session of the C interface."},
    {0, NULL}};

static PyType_Slot binding_slots[] = {
    {Py_tp_dealloc, binding_dealloc},
    {Py_tp_methods, binding_methods},
    {Py_tp_doc, "A binding of the C interface."},
    {0, NULL}};

enum {
  type_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
               Py_TPFLAGS_IMMUTABLETYPE
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
