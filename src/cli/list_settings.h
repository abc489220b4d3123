// The table of settings, for `stepcast list`.
#ifndef STEPCAST_CLI_LIST_SETTINGS_H_
#define STEPCAST_CLI_LIST_SETTINGS_H_

#include <string>

#include "base/result.h"

namespace stepcast::cli {

Result<std::string> SettingsText();
Result<std::string> SettingsJson();

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_LIST_SETTINGS_H_
