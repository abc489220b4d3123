// The report of a study.
#ifndef STEPCAST_VIEW_REPORTS_EXPLORED_DOC_H_
#define STEPCAST_VIEW_REPORTS_EXPLORED_DOC_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "explore/row.h"
#include "explore/select_rows.h"
#include "view/doc.h"

namespace stepcast::view {

/// What is shown of a study.
struct ExploredView {
  std::vector<int64_t> rows{};
  size_t limit = 0;      // Rows in text; 0: all of them.
  bool sorted = false;   // The first are the ones to show then, else the best.
  bool tornado = false;  // Text has tornados instead of rows.
};

/// `explored` must live as long as the document, which makes its rows as they
/// are written.
Doc ExploredDoc(const explore::Explored& explored, ExploredView shown,
                const std::vector<explore::Tornado>& tornados);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_EXPLORED_DOC_H_
