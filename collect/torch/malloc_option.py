"""The option --malloc, of all that runs operators on a CPU.

glibc returns freed memory to the system, and the next tensor pays a page fault
for every page again: allocating a megabyte takes longer than computing it. How
often that happens depends on what else a process has freed, not on the
operator. Processes that keep their memory, as with jemalloc or tcmalloc, do
not have this cost; by default those are measured.
"""
import ctypes

# Numbers of glibc's malloc.h, and the largest value they take.
_TRIM_THRESHOLD = -1
_MMAP_MAX = -4
_NEVER = 2 ** 31 - 1


def keep_memory(library=None):
    """Freed memory stays with this process. False where that cannot be set:
    with another allocator than glibc's."""
    mallopt = getattr(library or ctypes.CDLL(None), "mallopt", None)
    return (mallopt is not None and mallopt(_MMAP_MAX, 0) == 1
            and mallopt(_TRIM_THRESHOLD, _NEVER) == 1)


def add_malloc(parser):
    parser.add_argument("--malloc", choices=["keep", "system"],
                        default="keep", help="keep: what is freed stays with "
                        "the process, as under jemalloc; on processors")


def apply_malloc(arguments):
    if arguments.device == "cpu" and arguments.malloc == "keep":
        keep_memory()
