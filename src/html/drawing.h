// What the drawings of a page have in common.
#ifndef STEPCAST_HTML_DRAWING_H_
#define STEPCAST_HTML_DRAWING_H_

namespace stepcast::html {

/// In units of the drawing, which scales to the width of the page.
inline constexpr double kDrawingWidth = 1000;

}  // namespace stepcast::html

#endif  // STEPCAST_HTML_DRAWING_H_
