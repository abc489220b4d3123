# The warnings every target of ours is built with; nothing compiles with one.
add_library(stepcast_warnings INTERFACE)
target_compile_options(stepcast_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor
  -Woverloaded-virtual -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlapping copies inside std::string's operator+ that are not
  # there (GCC bug 105651).
  target_compile_options(stepcast_warnings INTERFACE -Wno-restrict)
endif()
