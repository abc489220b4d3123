// Text made safe inside HTML.
#ifndef STEPCAST_VIEW_HTML_ESCAPE_H_
#define STEPCAST_VIEW_HTML_ESCAPE_H_

#include <string>
#include <string_view>

namespace stepcast::html {

/// For text and for attributes in double quotes; control characters but line
/// breaks become spaces.
std::string Escape(std::string_view text);

/// JSON for a <script> element: no "<" is left that could end it.
std::string EscapeScript(std::string_view json);

}  // namespace stepcast::html

#endif  // STEPCAST_VIEW_HTML_ESCAPE_H_
