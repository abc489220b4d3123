// stepcast list overheads: the built-in sets of the host's times.
#ifndef STEPCAST_CLI_LIST_OVERHEADS_H_
#define STEPCAST_CLI_LIST_OVERHEADS_H_

#include <string>

#include "base/result.h"

namespace stepcast::cli {

/// Each set with what it is of, what one launch of a kernel costs by it and how
/// many rows it has.
Result<std::string> OverheadsText();
Result<std::string> OverheadsJson();

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_LIST_OVERHEADS_H_
