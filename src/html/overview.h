// A timeline drawn once, for those without scripts: as fine as a screen shows.
#ifndef STEPCAST_HTML_OVERVIEW_H_
#define STEPCAST_HTML_OVERVIEW_H_

#include <string>

#include "html/timeline.h"

namespace stepcast::html {

/// Of every row the first so many, with an axis on top. A column of the drawing
/// has the style that takes most of it and is as strong as it is busy.
std::string OverviewHtml(const Timeline& timeline);

}  // namespace stepcast::html

#endif  // STEPCAST_HTML_OVERVIEW_H_
