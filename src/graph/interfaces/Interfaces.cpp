#include "graph/interfaces/Interfaces.h"

#include "graph/interfaces/Interfaces.cpp.inc"
