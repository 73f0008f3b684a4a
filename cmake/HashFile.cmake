# cmake -DINPUT=file -DOUTPUT=file -DBESIDE=text -P HashFile.cmake
# Writes the hash of INPUT, and BESIDE, to OUTPUT.
file(SHA256 ${INPUT} hash)
file(WRITE ${OUTPUT} "${hash} ${BESIDE}")
file(REMOVE ${INPUT})
