// The studies that are built in, as `stepcast list studies` shows them.
#ifndef STEPCAST_CLI_LIST_STUDIES_H_
#define STEPCAST_CLI_LIST_STUDIES_H_

#include <string>

#include "base/result.h"

namespace stepcast::cli {

Result<std::string> StudiesText();
Result<std::string> StudiesJson();

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_LIST_STUDIES_H_
