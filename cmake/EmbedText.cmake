# cmake -DFOLDER=folder "-DFILES=a.html b.js" -DOUTPUT=file -P EmbedText.cmake
# Writes the texts of the files as strings of C++: pagePart_a_html, ...
separate_arguments(FILES)
set(all)
foreach(name ${FILES})
  file(READ ${FOLDER}/${name} text)
  string(REPLACE "." "_" variable ${name})
  string(APPEND all "static constexpr std::string_view pagePart_${variable} = R\"~~~~(${text})~~~~\";\n")
endforeach()
file(WRITE ${OUTPUT} "${all}")
