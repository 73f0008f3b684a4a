# cmake -DSOURCE=folder -DLLVM=version -DOUTPUT=file -P BuildFacts.cmake
# Defines what driver/BuildFacts.h declares. The file is touched only if it changes.
# A package may say the commit of sources without a repository: SINTER_COMMIT.
set(commit "$ENV{SINTER_COMMIT}")
if(NOT commit AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^[-0-9A-Za-z.+_]+$")
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#include \"driver/BuildFacts.h\"

const char *const sinter::driver::buildCommit = \"${commit}\";
const char *const sinter::driver::buildLlvm = \"${LLVM}\";
" @ONLY)
