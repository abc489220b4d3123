# lld where it is installed: test programs link in a fraction of the time.
find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld STEPCAST_LLD_WORKS)
  if(STEPCAST_LLD_WORKS)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
