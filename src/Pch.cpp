// Without a test: headers only

#include "Pch.h"
