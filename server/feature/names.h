// Short names, as every client shows them: core/view/names.h, where names are resolved too.
#pragma once

#include "core/view/names.h"
