// Questions that files hold: reports, and scenarios of their own.
#ifndef STEPCAST_API_ASK_AGAIN_H_
#define STEPCAST_API_ASK_AGAIN_H_

#include <string>

#include "base/result.h"
#include "scenario/question.h"

namespace stepcast::api {

/// Whether a file is a report that `--json` wrote.
bool IsReport(const std::string& path);

/// If the question is of one file that holds a question: that one, with what is
/// set in this one on top. Of another verb only the scenario is taken.
Status AskAgain(scenario::Question& question);

}  // namespace stepcast::api

#endif  // STEPCAST_API_ASK_AGAIN_H_
