/*===- Infos.c - what inputs, outputs and states are ----------------------===*/

#include "Extension.h"

/** (name, type, shape); a dynamic dimension is its name, or None. */
static PyObject *info_to_python(const sinter_value_info *info) {
  PyObject *shape =
      info->rank < 0 ? Py_NewRef(Py_None) : PyTuple_New(info->rank);
  for (int i = 0; shape && i < info->rank; ++i) {
    const char *symbol = info->symbols[i];
    PyObject *size = info->shape[i] >= 0 ? PyLong_FromLongLong(info->shape[i])
                     : *symbol           ? PyUnicode_FromString(symbol)
                                         : Py_NewRef(Py_None);
    if (!size || PyTuple_SetItem(shape, i, size) < 0)
      Py_CLEAR(shape);
  }
  if (!shape)
    return NULL;
  return Py_BuildValue("(ssN)", info->name, sinter_type_name(info->type),
                       shape);
}

PyObject *infos(const void *object, size_t count, info_call *call) {
  PyObject *all = PyList_New(0);
  for (size_t i = 0; all && i < count; ++i) {
    sinter_value_info info = {0};
    info.struct_size = sizeof(info);
    sinter_error *error = NULL;
    if (call(object, i, &info, &error) != SINTER_OK) {
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
